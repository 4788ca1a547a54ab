"""LocalQueue: the entrance of a queue in one namespace.

It is writable by users, so nothing is ever read back from it.
"""

from __future__ import annotations

from engine.chain.fields import LocalQueueFields
from engine.worker.render.skeleton import KUEUE, Object, manifest


def local_queue(fields: LocalQueueFields) -> Object:
    """The LocalQueue of a queue in a namespace."""
    return manifest(
        KUEUE,
        "LocalQueue",
        fields.name,
        namespace=fields.namespace,
        annotations=fields.annotations,
        spec={"clusterQueue": fields.queue},
    )
