"""ResourceFlavor: one kind of node.

Names, labels and notes are the `flavor` section's.
"""

from __future__ import annotations

from engine.chain.fields import FlavorFields
from engine.worker.render.skeleton import KUEUE, Object, manifest


def resource_flavor(flavor: FlavorFields, note_prefix: str) -> Object:
    """The ResourceFlavor of a flavor. `note_prefix` is `const.note` of the derivation packs."""
    return manifest(
        KUEUE,
        "ResourceFlavor",
        flavor.name,
        labels=flavor.labels,
        annotations={note_prefix + name: text for name, text in flavor.notes.items()},
        spec={
            "nodeLabels": flavor.node_labels,
            "tolerations": [dict(each) for each in flavor.tolerations],
            "topologyName": flavor.topology_name,
        },
    )
