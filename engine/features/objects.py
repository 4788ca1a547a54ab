"""What is seen of a NodeFeature and of a Node, as far as the provider reads it.

Feature sets that nobody reads are let go while decoding: a real NFD's object is mostly the kernel's configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from engine.cluster.objects import Meta, Part
from engine.cluster.resources import NODE_FEATURES, Resource
from engine.features.keys import NODE_NAME

UNREAD: Final = "kernel.config"
"""Some 100 kB of attributes a Node that no label refers to. Source: specification 50 §3.1, B16."""


class AttributeSet(Part, frozen=True):
    elements: dict[str, str] = msgspec.field(default_factory=dict)


class Instance(Part, frozen=True):
    attributes: dict[str, str] = msgspec.field(default_factory=dict)


class InstanceSet(Part, frozen=True):
    elements: tuple[Instance, ...] = ()


class Instances(Part, frozen=True):
    pci_device: InstanceSet | None = msgspec.field(name="pci.device", default=None)


class RawFeatures(Part, frozen=True):
    """Flags are not here: nothing reads them."""

    attributes: dict[str, AttributeSet] = msgspec.field(default_factory=dict)
    instances: Instances = Instances()

    def __post_init__(self) -> None:
        self.attributes.pop(UNREAD, None)


class Spec(Part, frozen=True):
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    features: RawFeatures = RawFeatures()


class NodeFeature(Part, frozen=True):
    """A NodeFeature as it is read."""

    metadata: Meta
    spec: Spec = Spec()


READ_NODE_FEATURES: Final[Resource[NodeFeature]] = Resource(
    NODE_FEATURES.group,
    NODE_FEATURES.version,
    NODE_FEATURES.plural,
    NODE_FEATURES.kind,
    is_namespaced=True,
    struct=NodeFeature,
)


@dataclass(frozen=True, slots=True)
class Features:
    """Raw features. Shape: `pci` is None where nobody has looked at the bus, and empty where nothing was found on it."""

    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pci: tuple[Mapping[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class FeatureObject:
    """One NodeFeature.

    Shape: `target` is the Node it is for, empty for none; `owner_uid` is that Node's UID where an owner reference and no
    label says so; `labels` are as asked for, unexpanded.
    """

    namespace: str
    name: str
    target: str
    labels: Mapping[str, str] = field(default_factory=dict)
    features: Features = Features()
    owner_uid: str = ""
    resource_version: str = ""

    @property
    def place(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class NodeView:
    """What the provider sees of a Node."""

    name: str
    uid: str = ""
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


def feature_object(seen: NodeFeature) -> FeatureObject:
    """A NodeFeature as the provider takes it."""
    target, owner_uid = _target(seen.metadata)
    raw = seen.spec.features
    devices = raw.instances.pci_device
    return FeatureObject(
        namespace=seen.metadata.namespace,
        name=seen.metadata.name,
        target=target,
        labels=seen.spec.labels,
        features=Features(
            {name: each.elements for name, each in raw.attributes.items()},
            None if devices is None else tuple(each.attributes for each in devices.elements),
        ),
        owner_uid=owner_uid,
        resource_version=seen.metadata.resource_version,
    )


def node_view(metadata: Meta) -> NodeView:
    """A Node as the provider takes it."""
    return NodeView(metadata.name, metadata.uid, metadata.resource_version, metadata.labels, metadata.annotations)


def read_feature(document: Any) -> FeatureObject:
    """From a plain map. Raises: msgspec.ValidationError: it is no NodeFeature."""
    return feature_object(msgspec.convert(document, NodeFeature))


def _target(metadata: Meta) -> tuple[str, str]:
    """The Node an object is for, and its UID when an owner reference says so.

    A label value has at most 63 characters, a Node's name up to 253: what has no label may have a Node as its owner.
    """
    label = metadata.labels.get(NODE_NAME)
    if label is not None:
        return label, ""
    owners = [each for each in metadata.owner_references if each.kind == "Node" and each.api_version == "v1"]
    return (owners[0].name, owners[0].uid) if owners else ("", "")
