"""Topology: the levels of a profile, from the widest to the host.

How levels become a profile is the `topology` section's.
"""

from __future__ import annotations

from engine.chain.fields import TopologyFields
from engine.worker.render.skeleton import KUEUE, Object, manifest


def topology(fields: TopologyFields) -> Object:
    """The Topology of a profile."""
    return manifest(
        KUEUE,
        "Topology",
        fields.name,
        labels=fields.labels,
        spec={"levels": [{"nodeLabel": level} for level in fields.levels]},
    )
