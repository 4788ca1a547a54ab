"""NodeFeatures: what the worker, the device manager and the host agent ask a node's labels to be.

Which labels those are is the rules'; how they get onto the Node is the provider's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.chain.node import NodePlan
from engine.features.hostfacts import host_feature
from engine.features.keys import NODE_NAME
from engine.values.names import LABEL_VALUE_LIMIT
from engine.worker.render.skeleton import NFD, SYSTEM_NAMESPACE, Object, in_order, manifest

PART_OF: Final = "app.kubernetes.io/part-of"
"""Source: specification 20 §2.4."""


def worker_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object:
    """The worker's NodeFeature of a planned node."""
    return worker_feature(plan.facts.name, plan.worker_feature_labels, namespace=namespace)


def worker_feature(node: str, labels: Mapping[str, str], *, namespace: str, node_uid: str = "") -> Object:
    """The worker's NodeFeature of a node.

    Shape: controlled by the Node when its UID is given; a name that fits no label value leaves the label out, and the
    owner says whose it is.
    """
    made = _node_feature(node, "gpustack-worker", namespace, {PART_OF: "gpustack-operator-worker"}, {"labels": labels})
    if node_uid:
        owner = {"apiVersion": "v1", "controller": True, "kind": "Node", "name": node, "uid": node_uid}
        made["metadata"]["ownerReferences"] = [owner]
    return made


def device_manager_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object | None:
    """The device manager's NodeFeature of a node; None while it has no card to speak of."""
    if not plan.device_feature_labels:
        return None
    labels = dict(plan.device_feature_labels)
    return _node_feature(plan.facts.name, "gpustack-device-manager", namespace, {}, {"labels": labels})


def host_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object | None:
    """The host agent's NodeFeature of a node; None while no host facts have arrived."""
    made = host_feature(plan.facts.name, plan.facts.cpu, plan.facts.pci, namespace=namespace)
    return None if made is None else in_order(made)


def _node_feature(node: str, writer: str, namespace: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> Object:
    name = {NODE_NAME: node} if len(node) <= LABEL_VALUE_LIMIT else {}
    return manifest(
        NFD,
        "NodeFeature",
        f"{node}-{writer}",
        namespace=namespace,
        labels={**name, **labels},
        spec=dict(spec),
    )
