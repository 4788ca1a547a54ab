"""NodeFeatures: what the worker, the device manager and the host agent ask a node's labels to be.

Which labels those are is the rules'; how they get onto the Node is the provider's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.chain.node import NodePlan
from engine.domain.facts import CpuFacts, PciFunction
from engine.worker.render.skeleton import NFD, SYSTEM_NAMESPACE, Object, manifest

NODE_NAME: Final = "nfd.node.kubernetes.io/node-name"
PART_OF: Final = "app.kubernetes.io/part-of"
"""Source: specification 20 §2.4."""

PCI_CLASSES: Final = ("02", "03", "0b", "12")
"""Classes whose functions are published: network, display, processor, accelerator. Source: specification 50 §3.2."""

_CLASS_DIGITS: Final = 4
_FEATURE: Final = "feature.node.kubernetes.io/"


def worker_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object:
    """The worker's NodeFeature of a node."""
    return _node_feature(
        plan.facts.name,
        "gpustack-worker",
        namespace,
        {PART_OF: "gpustack-operator-worker"},
        {"labels": dict(plan.worker_feature_labels)},
    )


def device_manager_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object | None:
    """The device manager's NodeFeature of a node; None while it has no card to speak of."""
    if not plan.device_feature_labels:
        return None
    labels = dict(plan.device_feature_labels)
    return _node_feature(plan.facts.name, "gpustack-device-manager", namespace, {}, {"labels": labels})


def host_node_feature(plan: NodePlan, namespace: str = SYSTEM_NAMESPACE) -> Object | None:
    """The host agent's NodeFeature of a node; None while no host facts have arrived.

    Shape: full schema names, so that a stock reader computes the same labels; addresses are left out, as there.
    """
    cpu, functions = plan.facts.cpu, plan.facts.pci
    if cpu is None and functions is None:
        return None
    features: dict[str, Any] = {}
    labels: dict[str, str] = {}
    if cpu is not None:
        attributes = cpu_attributes(cpu)
        features["attributes"] = {"cpu.model": {"elements": attributes}}
        labels |= {
            f"{_FEATURE}cpu-model.{name}": attributes[name]
            for name in ("family", "id", "vendor_id")
            if name in attributes
        }
    if functions is not None:
        published = [each for each in functions if each.class_code.startswith(PCI_CLASSES)]
        elements = [{"attributes": pci_attributes(each)} for each in published]
        features["instances"] = {"pci.device": {"elements": elements}}
        labels |= {f"{_FEATURE}pci-{each.vendor}.present": "true" for each in published}
    return _node_feature(plan.facts.name, "gpustack-host", namespace, {}, {"features": features, "labels": labels})


def cpu_attributes(cpu: CpuFacts) -> dict[str, str]:
    """The attributes of `cpu.model` that are known."""
    facts = {
        "vendor_id": cpu.vendor_id,
        "family": cpu.family,
        "id": cpu.model_id,
        "name": cpu.name,
        "stepping": cpu.stepping,
        "physical_cores": cpu.physical_cores,
        "threads_per_core": cpu.threads_per_core,
        "logical_cores": cpu.logical_cores,
        "cache_line": cpu.cache_line,
        "hz": cpu.hz,
        "boost_freq": cpu.boost_freq,
        "cache_l1i": cpu.cache_l1i,
        "cache_l1d": cpu.cache_l1d,
        "cache_l2": cpu.cache_l2,
        "cache_l3": cpu.cache_l3,
    }
    return {name: str(value) for name, value in facts.items() if value is not None}


def pci_attributes(function: PciFunction) -> dict[str, str]:
    """The attributes of one `pci.device`."""
    facts = {
        "class": function.class_code[:_CLASS_DIGITS],
        "vendor": function.vendor,
        "device": function.device,
        "subsystem_vendor": function.subsystem_vendor,
        "subsystem_device": function.subsystem_device,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _node_feature(node: str, writer: str, namespace: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> Object:
    return manifest(
        NFD,
        "NodeFeature",
        f"{node}-{writer}",
        namespace=namespace,
        labels={NODE_NAME: node, **labels},
        spec=dict(spec),
    )
