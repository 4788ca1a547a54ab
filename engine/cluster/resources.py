"""The kinds we read and write, in one table: where each is served and which struct holds it.

A kind of worker.gpustack.ai is read here as a whole map; whoever wants it typed makes a descriptor with its own struct
(`dataclasses.replace(DEVICES, struct=...)`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from engine.cluster.objects import (
    Data,
    Event,
    Lease,
    Meta,
    Namespace,
    Node,
    Owned,
    Pod,
)


class HasMeta(Protocol):
    """Anything with metadata."""

    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=HasMeta)
T_co = TypeVar("T_co", bound=HasMeta, covariant=True)


class ObjectKey(NamedTuple):
    """Who an object is within its kind. `namespace` is empty for cluster-wide kinds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def key_of(thing: HasMeta) -> ObjectKey:
    """The key of an object."""
    return ObjectKey(thing.metadata.namespace, thing.metadata.name)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T_co]):
    """One kind as the API serves it."""

    group: str
    version: str
    plural: str
    kind: str
    is_namespaced: bool
    struct: type[T_co]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, name: str = "", namespace: str = "", subresource: str = "") -> str:
        """The URL path of an object, or of the collection. Names are DNS names and need no quoting."""
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.is_namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        parts += [part for part in (name, subresource) if part]
        return "/".join(parts)

    def body(self, name: str, namespace: str = "", **parts: Any) -> dict[str, Any]:
        """A manifest of this kind."""
        metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
        metadata |= parts.pop("metadata", {})
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata, **parts}


_KUEUE = ("kueue.x-k8s.io", "v1beta2")
_WORKER = ("worker.gpustack.ai", "v1")

NODES: Final = Resource("", "v1", "nodes", "Node", is_namespaced=False, struct=Node)
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", is_namespaced=False, struct=Namespace)
PODS: Final = Resource("", "v1", "pods", "Pod", is_namespaced=True, struct=Pod)
SECRETS: Final = Resource("", "v1", "secrets", "Secret", is_namespaced=True, struct=Data)
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap", is_namespaced=True, struct=Data)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", is_namespaced=True, struct=Lease)
EVENTS: Final = Resource("events.k8s.io", "v1", "events", "Event", is_namespaced=True, struct=Event)
CRDS: Final = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    is_namespaced=False,
    struct=Owned,
)
NODE_FEATURES: Final = Resource(
    "nfd.k8s-sigs.io", "v1alpha1", "nodefeatures", "NodeFeature", is_namespaced=True, struct=Owned
)
NODE_FEATURE_RULES: Final = Resource(
    "nfd.k8s-sigs.io", "v1alpha1", "nodefeaturerules", "NodeFeatureRule", is_namespaced=False, struct=Owned
)
RESOURCE_FLAVORS: Final = Resource(*_KUEUE, "resourceflavors", "ResourceFlavor", is_namespaced=False, struct=Owned)
CLUSTER_QUEUES: Final = Resource(*_KUEUE, "clusterqueues", "ClusterQueue", is_namespaced=False, struct=Owned)
LOCAL_QUEUES: Final = Resource(*_KUEUE, "localqueues", "LocalQueue", is_namespaced=True, struct=Owned)
WORKLOADS: Final = Resource(*_KUEUE, "workloads", "Workload", is_namespaced=True, struct=Owned)
ADMISSION_CHECKS: Final = Resource(*_KUEUE, "admissionchecks", "AdmissionCheck", is_namespaced=False, struct=Owned)
TOPOLOGIES: Final = Resource(*_KUEUE, "topologies", "Topology", is_namespaced=False, struct=Owned)
DEVICES: Final = Resource(*_WORKER, "devices", "Devices", is_namespaced=False, struct=Owned)
INSTANCE_TYPES: Final = Resource(*_WORKER, "instancetypes", "InstanceType", is_namespaced=False, struct=Owned)
INSTANCE_TYPE_FLAVORS: Final = Resource(
    *_WORKER, "instancetypeflavors", "InstanceTypeFlavor", is_namespaced=False, struct=Owned
)
INSTANCES: Final = Resource(*_WORKER, "instances", "Instance", is_namespaced=True, struct=Owned)
RULE_PACKS: Final = Resource(*_WORKER, "rulepacks", "RulePack", is_namespaced=False, struct=Owned)

RESOURCES: Final[tuple[Resource[Any], ...]] = (
    NODES,
    NAMESPACES,
    PODS,
    SECRETS,
    CONFIG_MAPS,
    LEASES,
    EVENTS,
    CRDS,
    NODE_FEATURES,
    NODE_FEATURE_RULES,
    RESOURCE_FLAVORS,
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    WORKLOADS,
    ADMISSION_CHECKS,
    TOPOLOGIES,
    DEVICES,
    INSTANCE_TYPES,
    INSTANCE_TYPE_FLAVORS,
    INSTANCES,
    RULE_PACKS,
)
