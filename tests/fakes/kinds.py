"""What the in-memory API server knows of each kind: where it is served, its subresources, its lists.

The defaults are those of a custom resource with a status subresource and atomic lists; `CORE` names what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.cluster.resources import RESOURCES, Resource

ListType = Literal["atomic", "set"] | tuple[str, ...]
"""How a list merges: replaced as one, by value, or by these keys of its items."""

Path = tuple[str, ...]

_EVERYWHERE: Mapping[Path, ListType] = {
    ("metadata", "finalizers"): "set",
    ("metadata", "ownerReferences"): ("uid",),
    ("status", "conditions"): ("type",),
}


@dataclass(frozen=True)
class Kind:
    """One kind."""

    resource: Resource[Any]
    versions: tuple[str, ...]
    has_status: bool = True
    has_generation: bool = True
    keeps_status_on_create: bool = False
    status_may_change_metadata: bool = False
    allows_unguarded_update: bool = False
    lists: Mapping[Path, ListType] = field(default_factory=dict)
    atomic_maps: frozenset[Path] = frozenset()

    @property
    def id(self) -> str:
        return str(self.resource)

    def list_type(self, path: Path) -> ListType:
        """How the list at a path merges. Shape: path elements are field names, list items are left out."""
        return self.lists.get(path) or _EVERYWHERE.get(path) or "atomic"


_PLAIN: dict[str, Any] = {"has_status": False, "has_generation": False, "allows_unguarded_update": True}
_CORE_STATUS: dict[str, Any] = {
    "has_generation": False,
    "keeps_status_on_create": True,
    "status_may_change_metadata": True,
    "allows_unguarded_update": True,
}

_DIFFERENCES: dict[str, dict[str, Any]] = {
    "nodes": _CORE_STATUS | {"lists": {("status", "addresses"): ("type",)}},
    "namespaces": _CORE_STATUS,
    "pods": _CORE_STATUS
    | {
        "lists": {
            ("spec", "containers"): ("name",),
            ("spec", "containers", "env"): ("name",),
            ("spec", "schedulingGates"): ("name",),
            ("spec", "volumes"): ("name",),
        }
    },
    "secrets": _PLAIN,
    "configmaps": _PLAIN,
    "leases.coordination.k8s.io": _PLAIN | {"allows_unguarded_update": False},
    "events.events.k8s.io": _PLAIN,
    "nodefeatures.nfd.k8s-sigs.io": {"has_status": False},
    "nodefeaturerules.nfd.k8s-sigs.io": {},
    "clusterqueues.kueue.x-k8s.io": {
        "lists": {
            ("spec", "admissionChecksStrategy", "admissionChecks"): ("name",),
            ("status", "flavorsReservation"): ("name",),
            ("status", "flavorsUsage"): ("name",),
        },
        "atomic_maps": frozenset({("spec", "namespaceSelector")}),
    },
    "resourceflavors.kueue.x-k8s.io": {"has_status": False},
    "workloads.kueue.x-k8s.io": {"lists": {("status", "admissionChecks"): ("name",), ("spec", "podSets"): ("name",)}},
    "topologies.kueue.x-k8s.io": {"has_status": False},
}


def default_kinds() -> list[Kind]:
    """Every kind of `engine.cluster.resources`; worker.gpustack.ai in both of its versions."""
    return [
        Kind(
            resource,
            versions=("v1", "v1alpha1") if resource.group == "worker.gpustack.ai" else (resource.version,),
            **_DIFFERENCES.get(str(resource), {}),
        )
        for resource in RESOURCES
    ]
