"""The topology profile on a Node, where a real NFD writes everything else: one guarded write of these labels alone.

In built-in mode the features provider writes them along with its own, and this is not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.cluster.actions import Action, MergePatch
from engine.cluster.objects import Node
from engine.cluster.resources import NODES, key_of

MANAGER = "engine-node-profile"


@dataclass(frozen=True, slots=True)
class NodeProfileNeighbourhood:
    """One Node. Shape: `wanted` is empty while its topology is not there, or could not be told."""

    node: Node
    wanted: Mapping[str, str]


def plan(seen: NodeProfileNeighbourhood) -> list[Action]:
    """What one Node needs now; a label that is there is never taken away."""
    now = seen.node.metadata.labels
    labels = {key: value for key, value in sorted(seen.wanted.items()) if now.get(key) != value}
    if not labels:
        return []
    patch = {"metadata": {"labels": labels}}
    return [MergePatch(NODES, key_of(seen.node), patch, MANAGER, seen.node.metadata.resource_version)]
