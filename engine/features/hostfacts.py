"""Host facts and the NodeFeature that publishes them, in both directions.

Full schema names, so that a real NFD that reads the object computes the same labels. Finding the facts is the agent's; what
they mean is the rules'. Source: specification 50 §3, B8, B12, B14.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from engine.cluster.resources import NODE_FEATURES, NODES
from engine.domain.facts import CpuFacts, PciFunction
from engine.features.keys import CPU_MODEL, DEFAULT_PREFIX, HOST_SUFFIX, NODE_NAME, PCI_DEVICE
from engine.features.merge import REFERENCE
from engine.features.objects import Features
from engine.sections.host_labels import fact_text
from engine.values.names import LABEL_VALUE_LIMIT, is_label_value

PCI_CLASSES: Final = ("02", "03", "0b", "12")
"""Classes whose functions are published: network, display, processor, accelerator. Source: specification 50 §3.2."""

_CLASS_DIGITS: Final = 4
_CPU_ATTRIBUTES: Final = {
    "vendor_id": "vendor_id",
    "family": "family",
    "id": "model_id",
    "name": "name",
    "stepping": "stepping",
    "physical_cores": "physical_cores",
    "threads_per_core": "threads_per_core",
    "logical_cores": "logical_cores",
    "cache_line": "cache_line",
    "hz": "hz",
    "boost_freq": "boost_freq",
    "cache_l1i": "cache_l1i",
    "cache_l1d": "cache_l1d",
    "cache_l2": "cache_l2",
    "cache_l3": "cache_l3",
}
"""Attributes of `cpu.model` to fields of `CpuFacts`. Source: specification 50 §3.3."""
_CPU_LABELS: Final = ("vendor_id", "family", "id")
_CPU_LABEL: Final = f"{DEFAULT_PREFIX}cpu-model."
_CPU_FACTS: Final = tuple(
    (name, attribute.replace("_", "-"), _CPU_LABEL + attribute if attribute in _CPU_LABELS else "")
    for attribute, name in _CPU_ATTRIBUTES.items()
)
"""Fields of `CpuFacts`, each with the end of its annotation and its label, empty where there is none. Every pass asks."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What is known of a host. Shape: not `is_stated` while nobody has published anything: then nothing may be denied."""

    cpu: CpuFacts | None = None
    pci: tuple[PciFunction, ...] | None = None
    is_stated: bool = False


NOT_STATED: Final = HostFacts()


def in_published_class(function: PciFunction) -> bool:
    """A function of a class that a real NFD looks at too."""
    return function.class_code.startswith(PCI_CLASSES)


def states_host(features: Features) -> bool:
    """Whether features hold host facts, whoever published them."""
    return features.pci is not None or bool(features.attributes.get(CPU_MODEL))


def read_host(features: Features) -> HostFacts:
    """The host that features describe; a CPU without a vendor was not read properly and counts as not told."""
    if not states_host(features):
        return NOT_STATED
    elements = features.attributes.get(CPU_MODEL, {})
    cpu = None
    if elements.get("vendor_id"):
        known = {name: elements[key] for key, name in _CPU_ATTRIBUTES.items() if elements.get(key)}
        cpu = CpuFacts(**known)
    pci = None if features.pci is None else tuple(_function(each) for each in features.pci)
    return HostFacts(cpu, pci, is_stated=True)


def general_key_cpu(
    host: CpuFacts | None, labels: Mapping[str, str], annotations: Mapping[str, str], cpu_fact: str
) -> CpuFacts:
    """The CPU by which flavors are named: what the Node is annotated with, then the host's facts, then the Node's labels.

    The order keeps names as they are when the provider changes. Shape: `cpu_fact` is the prefix of the annotations.
    """
    texts: dict[str, str | None] = {}
    for name, annotation, label in _CPU_FACTS:
        told = annotations.get(cpu_fact + annotation)
        text = None if told is None else fact_text(told)
        if text is None and host is not None:
            text = fact_text(getattr(host, name))
        if text is None and label:
            text = labels.get(label) or None
        texts[name] = text
    return CpuFacts(**texts)


def host_feature(
    node: str,
    cpu: CpuFacts | None,
    pci: tuple[PciFunction, ...] | None,
    *,
    namespace: str,
    node_uid: str = "",
    publishes: Callable[[PciFunction], bool] = in_published_class,
) -> dict[str, Any] | None:
    """The host's NodeFeature; None while there is nothing to say.

    Shape: `publishes` picks the PCI functions (`HostRules.publishes` where there is a program); owned by the Node when its UID is given; a name that fits no label value leaves the label out.
    """
    spec = host_spec(cpu, pci, publishes)
    if spec is None:
        return None
    metadata: dict[str, Any] = {}
    if len(node) <= LABEL_VALUE_LIMIT:
        metadata["labels"] = {NODE_NAME: node}
    if node_uid:
        owner = {"apiVersion": NODES.api_version, "kind": NODES.kind, "name": node, "uid": node_uid}
        metadata["ownerReferences"] = [owner]
    return NODE_FEATURES.body(f"{node}{HOST_SUFFIX}", namespace, metadata=metadata, spec=spec)


def host_spec(
    cpu: CpuFacts | None,
    pci: tuple[PciFunction, ...] | None,
    publishes: Callable[[PciFunction], bool] = in_published_class,
) -> dict[str, Any] | None:
    """What the host publishes: features, and the labels that follow from them."""
    features: dict[str, Any] = {}
    labels: dict[str, str] = {}
    if cpu is not None and fact_text(cpu.vendor_id) is not None:
        elements = {key: text for key, name in _CPU_ATTRIBUTES.items() if (text := fact_text(getattr(cpu, name)))}
        features["attributes"] = {CPU_MODEL: {"elements": elements}}
        labels |= {_CPU_LABEL + key: elements[key] for key in _CPU_LABELS if is_label_value(elements.get(key, "@"))}
    if pci is not None:
        published = [each for each in pci if publishes(each)]
        features["instances"] = {PCI_DEVICE: {"elements": [{"attributes": _attributes(each)} for each in published]}}
        labels |= {f"{DEFAULT_PREFIX}pci-{each.vendor}.present": "true" for each in published}
    if not features:
        return None
    return {"features": features, "labels": dict(sorted(labels.items()))}


def without_pci(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A host's spec less its devices: while a real NFD publishes them too, rules that count must not count twice."""
    features = {name: each for name, each in spec.get("features", {}).items() if name != "instances"}
    return {**spec, "features": features}


def is_literal(text: str) -> bool:
    """A reference that a stock NFD wrote as it stood."""
    return text.startswith(REFERENCE)


def _attributes(function: PciFunction) -> dict[str, str]:
    facts = {
        "class": function.class_code[:_CLASS_DIGITS],
        "vendor": function.vendor,
        "device": function.device,
        "subsystem_vendor": function.subsystem_vendor,
        "subsystem_device": function.subsystem_device,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _function(attributes: Mapping[str, str]) -> PciFunction:
    """A published function; it has no address."""
    get = attributes.get
    return _published(
        get("class", ""), get("vendor", ""), get("device", ""), get("subsystem_vendor"), get("subsystem_device")
    )


@lru_cache(maxsize=4096)
def _published(
    class_code: str, vendor: str, device: str, subsystem_vendor: str | None, subsystem_device: str | None
) -> PciFunction:
    """Cost: kept, because the cards of a fleet are of few kinds."""
    return PciFunction("", class_code, vendor, device, subsystem_vendor, subsystem_device)
