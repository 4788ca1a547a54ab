"""LocalQueue: the entrance of a queue in one namespace.

It is writable by users, so nothing is ever read back from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain.fields import LocalQueueFields
from engine.worker.render.skeleton import KUEUE, Object, manifest


def local_queue(fields: LocalQueueFields, owner: Mapping[str, Any] | None = None) -> Object:
    """The LocalQueue of a queue in a namespace. Shape: `owner` refers to the live queue, which a plan offline has not."""
    made = manifest(
        KUEUE,
        "LocalQueue",
        fields.name,
        namespace=fields.namespace,
        annotations=fields.annotations,
        spec={"clusterQueue": fields.queue},
    )
    if owner:
        made["metadata"]["ownerReferences"] = [dict(owner)]
    return made
