"""Node: the labels, annotations and capacity that a node ends up with.

Only what the chain writes or reads; a live Node has more, and none of it is touched.
"""

from __future__ import annotations

from engine.chain.node import NodePlan
from engine.worker.render.skeleton import Object, manifest


def node(plan: NodePlan) -> Object:
    """The Node of a plan."""
    return manifest(
        "v1",
        "Node",
        plan.facts.name,
        labels=plan.labels,
        annotations=plan.annotations,
        status={"capacity": dict(plan.capacity)},
    )
