"""What a controller wants done, as values: `plan(neighbourhood) -> list[Action]` returns these and does nothing.

Importable without any network library. Who carries them out is `writers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.cluster.resources import HasMeta, ObjectKey, Resource, key_of


@dataclass(frozen=True, slots=True)
class Apply:
    """Server-side apply of all that `manager` wants of an object; what it applied before and not now is removed."""

    resource: Resource[Any]
    body: Mapping[str, Any]
    manager: str
    is_forced: bool = True
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Create:
    """A new object that is left alone afterwards; one that is there already is fine."""

    resource: Resource[Any]
    body: Mapping[str, Any]
    manager: str


@dataclass(frozen=True, slots=True)
class MergePatch:
    """RFC 7386. With `resource_version` it fails when somebody wrote since: always so for Nodes and shared fields."""

    resource: Resource[Any]
    key: ObjectKey
    patch: Mapping[str, Any]
    manager: str
    resource_version: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """Replaces a whole object, which carries the resourceVersion it was read at."""

    resource: Resource[Any]
    body: Mapping[str, Any]
    manager: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Begins a deletion; an object that is gone already is fine. With `uid`, never a successor of the same name."""

    resource: Resource[Any]
    key: ObjectKey
    uid: str = ""
    resource_version: str = ""
    propagation: Literal["Background", "Foreground", "Orphan"] = "Background"


@dataclass(frozen=True, slots=True)
class EmitEvent:
    """Tells a user what happened to an object. `reason` is CamelCase, `action` what was being done, `note` a sentence."""

    regarding: ObjectReference
    reason: str
    note: str
    action: str
    kind: Literal["Normal", "Warning"] = "Normal"
    related: ObjectReference | None = None


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """An object an Event is about."""

    api_version: str
    kind: str
    key: ObjectKey
    uid: str = field(default="", compare=False)

    def as_map(self) -> dict[str, str]:
        """As the API wants it."""
        parts = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.key.namespace,
            "name": self.key.name,
            "uid": self.uid,
        }
        return {name: text for name, text in parts.items() if text}


Action = Apply | Create | MergePatch | Update | Delete | EmitEvent


def reference(resource: Resource[Any], thing: HasMeta) -> ObjectReference:
    """The reference to an object."""
    return ObjectReference(resource.api_version, resource.kind, key_of(thing), thing.metadata.uid)


def target(action: Action) -> str:
    """What an action is about, for a log or an error. Shape: `resourceflavors.kueue.x-k8s.io/name`."""
    match action:
        case (
            Apply(resource=resource, body=body)
            | Create(resource=resource, body=body)
            | Update(resource=resource, body=body)
        ):
            metadata = body["metadata"]
            return f"{resource}/{ObjectKey(metadata.get('namespace', ''), metadata.get('name', ''))}"
        case MergePatch(resource=resource, key=key) | Delete(resource=resource, key=key):
            return f"{resource}/{key}"
        case EmitEvent(regarding=regarding):
            return f"event/{regarding.kind}/{regarding.key}"
