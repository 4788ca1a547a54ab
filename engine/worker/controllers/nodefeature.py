"""The worker's NodeFeature of each Node: whether it is managed, the keys of its CPU, its cores.

Made with the mark that the Node carries. From then on the mark is the object's own: a person or the features provider
changes it there, and it is never written over from the Node. How labels reach the Node is the provider's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from engine.cluster.actions import Action, Create, MergePatch
from engine.cluster.resources import key_of
from engine.features.hostfacts import NOT_STATED, HostFacts
from engine.features.objects import READ_NODE_FEATURES, NodeFeature
from engine.worker.asking import NodeAsker, SeenNode
from engine.worker.render.nodefeature import worker_feature

MANAGER: Final = "engine-nodefeature"


class Patience(Enum):
    """How long a Node whose host says nothing is waited for."""

    WAIT = auto()
    """Nothing is written: the host's agent writes within moments."""
    MARK = auto()
    """The mark alone: keys would be of an unknown CPU."""
    OVER = auto()
    """There is no agent; the CPU is unknown."""


@dataclass(frozen=True, slots=True)
class NodeNeighbourhood:
    """One Node, what its NodeFeatures say of its host and its cards, and the worker's own object."""

    node: SeenNode
    namespace: str
    host: HostFacts = NOT_STATED
    is_accelerated: bool = False
    live: NodeFeature | None = None
    patience: Patience = Patience.OVER


def plan(seen: NodeNeighbourhood, asker: NodeAsker) -> list[Action]:
    """What one Node's object needs now."""
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        return []
    managed = _mark(seen, asker)
    if asker.knows_cpu(seen.node, seen.host) or seen.patience is Patience.OVER:
        labels = asker.worker_labels(seen.node, seen.host, managed=managed, accelerated=seen.is_accelerated)
    elif seen.patience is Patience.MARK and live is None:
        labels = {} if managed is None else {asker.keys.managed: managed}
    else:
        labels = None
    if labels is None:
        return []
    body = worker_feature(seen.node.name, labels, namespace=seen.namespace, node_uid=seen.node.uid)
    if live is None:
        return [Create(READ_NODE_FEATURES, body, MANAGER)]
    patch = _difference(live, body)
    if not patch:
        return []
    return [MergePatch(READ_NODE_FEATURES, key_of(live), patch, MANAGER, live.metadata.resource_version)]


def _mark(seen: NodeNeighbourhood, asker: NodeAsker) -> str | None:
    key = asker.keys.managed
    own = seen.node.labels.get(key) if seen.live is None else seen.live.spec.labels.get(key)
    return asker.unmarked() if own is None else own


def _difference(live: NodeFeature, body: dict[str, Any]) -> dict[str, Any]:
    """Labels asked for are replaced as a whole; labels of the object itself are only added."""
    wanted, now = body["spec"]["labels"], live.spec.labels
    asked: dict[str, str | None] = {key: value for key, value in wanted.items() if now.get(key) != value}
    asked |= dict.fromkeys(sorted(now.keys() - wanted.keys()))
    metadata: dict[str, Any] = {}
    own = {key: value for key, value in body["metadata"]["labels"].items() if live.metadata.labels.get(key) != value}
    if own:
        metadata["labels"] = own
    if not live.metadata.owner_references and "ownerReferences" in body["metadata"]:
        metadata["ownerReferences"] = body["metadata"]["ownerReferences"]
    patch: dict[str, Any] = {}
    if asked:
        patch["spec"] = {"labels": asked}
    if metadata:
        patch["metadata"] = metadata
    return patch
