"""What is read of Kubernetes objects, as frozen structs. A field that nobody reads is not here and costs no memory.

Two kinds of metadata: `Meta` for objects that are only looked at, and `OwnedMeta` for those we write by apply, which also
keeps who owns which field. Specs of objects that we write are plain maps, complete, because they are compared with what is
about to be written. Types of worker.gpustack.ai that others read field by field live in engine.api.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Part(msgspec.Struct, frozen=True, rename="camel", kw_only=True, gc=False):
    """Base of everything read: immutable, without cycles, so the garbage collector need not look."""


class OwnerReference(Part, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Meta(Part, frozen=True):
    """metadata without managedFields: for a Node those are half of its size."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class ManagedFields(Part, frozen=True, rename={"fields": "fieldsV1"}):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    fields: dict[str, Any] = {}


class OwnedMeta(Meta, frozen=True):
    """metadata with the fields each manager owns."""

    managed_fields: tuple[ManagedFields, ...] = ()


class Condition(Part, frozen=True):
    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    observed_generation: int = 0
    last_transition_time: str = ""


class Object(Part, frozen=True):
    """Anything with metadata."""

    metadata: Meta


class Owned(Part, frozen=True):
    """An object that we write: everything but its status is compared before a write."""

    metadata: OwnedMeta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Data(Part, frozen=True):
    """A ConfigMap or a Secret (whose values are base64)."""

    metadata: OwnedMeta
    data: dict[str, str] = {}


class NodeInfo(Part, frozen=True):
    architecture: str = ""
    operating_system: str = ""


class NodeStatus(Part, frozen=True):
    """Without conditions, whose heartbeat changes every few minutes and tells nothing."""

    capacity: dict[str, str] = {}
    node_info: NodeInfo = NodeInfo()


class Node(Part, frozen=True):
    metadata: Meta
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Part, frozen=True):
    phase: str = ""


class Namespace(Part, frozen=True):
    metadata: Meta
    status: NamespaceStatus = NamespaceStatus()


class PodSpec(Part, frozen=True):
    node_name: str = ""


class PodStatus(Part, frozen=True):
    phase: str = ""


class Pod(Part, frozen=True):
    metadata: Meta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class LeaseSpec(Part, frozen=True):
    holder_identity: str = ""
    lease_duration_seconds: int = 0
    lease_transitions: int = 0
    acquire_time: str = ""
    renew_time: str = ""


class Lease(Part, frozen=True):
    metadata: Meta
    spec: LeaseSpec = LeaseSpec()


class EventSeries(Part, frozen=True):
    count: int = 0
    last_observed_time: str = ""


class Event(Part, frozen=True):
    metadata: Meta
    reason: str = ""
    note: str = ""
    type: str = ""
    action: str = ""
    reporting_controller: str = ""
    series: EventSeries | None = None


class Broken(Part, frozen=True):
    """An object that its struct cannot hold: who it is, and what is wrong with it."""

    name: str
    namespace: str = ""
    resource_version: str = ""
    why: str = ""
