"""What an API server makes of a body before it stores it: names, immutable metadata, generation, status, checks.

Pure but for the uid counter; knows no store and no transport.
"""

from __future__ import annotations

import re
import uuid
from functools import lru_cache
from typing import Any

from tests.fakes.kinds import Kind
from tests.fakes.refusals import RefusalError, conflict, invalid

Object = dict[str, Any]

_NAME = re.compile(r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
_LABEL_VALUE = re.compile(r"^(|[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)$")
_LABEL_KEY = re.compile(r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
_KEPT = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)
_EVENT_FIELDS = ("action", "reason", "reportingController", "reportingInstance", "eventTime")


def new_object(body: Object, kind: Kind, namespace: str, now: str) -> Object:
    """The first stored state of an object. Raises: RefusalError."""
    metadata = dict(body.get("metadata") or {})
    if metadata.get("resourceVersion"):
        # A real one gives this as an internal error.
        raise RefusalError(500, "InternalError", "resourceVersion should not be set on objects to be created")
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
    for key in ("deletionTimestamp", "managedFields", "resourceVersion"):
        metadata.pop(key, None)
    if kind.resource.is_namespaced:
        metadata["namespace"] = namespace
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = now
    if kind.has_generation:
        metadata["generation"] = 1
    made = without_empty({**body, "metadata": metadata})
    if kind.has_status and not kind.keeps_status_on_create:
        made.pop("status", None)
    if kind.id == "namespaces":
        made |= {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    if kind.id == "pods":
        made["status"] = {"phase": "Pending"}
    check(made, kind, None)
    return made


def replaced(before: Object, body: Object, kind: Kind, subresource: str) -> Object:
    """The stored state after a write of `body` to the object or to its status. Raises: RefusalError."""
    name, old, given = before["metadata"]["name"], before["metadata"], body.get("metadata") or {}
    if given.get("uid", old["uid"]) != old["uid"]:
        raise conflict(kind.id, name, f"Precondition failed: UID in precondition: {given['uid']}, UID: {old['uid']}")
    version = given.get("resourceVersion")
    if version and version != old["resourceVersion"]:
        raise conflict(kind.id, name)
    metadata = {key: value for key, value in given.items() if key not in {*_KEPT, "managedFields"}}
    metadata |= {key: old[key] for key in _KEPT if key in old}
    metadata["resourceVersion"] = old["resourceVersion"]
    after = {**body, "metadata": metadata}
    if subresource == "status":
        after = {**before, "metadata": metadata if kind.status_may_change_metadata else dict(old)}
        after.pop("status", None)
        if "status" in body:
            after["status"] = body["status"]
    elif kind.has_status:
        after.pop("status", None)
        if "status" in before:
            after["status"] = before["status"]
    after = without_empty(after)
    added = set(after["metadata"].get("finalizers") or ()) - set(old.get("finalizers") or ())
    if added and "deletionTimestamp" in old:
        why = f"no new finalizers can be added if the object is being deleted, found new finalizers {sorted(added)}"
        raise RefusalError(422, "Invalid", f'{kind.id} "{name}" is invalid: metadata.finalizers: Forbidden: {why}')
    if kind.has_generation and _spec(after) != _spec(before):
        after["metadata"]["generation"] = old.get("generation", 0) + 1
    check(after, kind, before)
    return after


def check(body: Object, kind: Kind, before: Object | None) -> None:
    """Raises: RefusalError: the object is refused."""
    metadata = body["metadata"]
    name = metadata.get("name") or ""
    if not _NAME.match(name) or len(name) > 253:
        raise invalid(kind.id, name, "metadata.name", "a lowercase RFC 1123 subdomain is expected")
    for key, value in (metadata.get("labels") or {}).items():
        if not _is_label_key(key):
            raise invalid(
                kind.id, name, "metadata.labels", f"name part must consist of alphanumeric characters: {key!r}"
            )
        if not isinstance(value, str) or not _is_label_value(value):
            raise invalid(kind.id, name, "metadata.labels", f"must be no more than 63 characters: {value!r}")
    if kind.id.startswith("leases."):
        spec = body.get("spec") or {}
        if spec.get("leaseDurationSeconds", 1) <= 0:
            raise invalid(kind.id, name, "spec.leaseDurationSeconds", "must be greater than 0")
        if spec.get("leaseTransitions", 0) < 0:
            raise invalid(kind.id, name, "spec.leaseTransitions", "must be greater than or equal to 0")
    if kind.id.startswith("events."):
        _check_event(body, kind, name, before)


@lru_cache(maxsize=65536)
def _is_label_key(key: str) -> bool:
    return bool(_LABEL_KEY.match(key)) and len(key.rsplit("/", 1)[-1]) <= 63


@lru_cache(maxsize=65536)
def _is_label_value(value: str) -> bool:
    return len(value) <= 63 and bool(_LABEL_VALUE.match(value))


def _check_event(body: Object, kind: Kind, name: str, before: Object | None) -> None:
    for field in _EVENT_FIELDS:
        if not body.get(field):
            raise invalid(kind.id, name, field, "Required value")
    if body.get("type") not in {"Normal", "Warning"}:
        raise invalid(kind.id, name, "type", "has invalid value")
    if len(body.get("note", "")) > 1024:
        raise invalid(kind.id, name, "note", "can have at most 1024 characters")
    wanted = (body.get("regarding") or {}).get("namespace") or "default"
    if body["metadata"]["namespace"] != wanted:
        raise invalid(kind.id, name, "involvedObject.namespace", "does not match event.namespace")
    if before is not None and any(
        before.get(field) != body.get(field) for field in (*_EVENT_FIELDS, "note", "regarding")
    ):
        raise invalid(kind.id, name, "", "field is immutable")


def without_empty(body: Object) -> Object:
    """Metadata as the API gives it back: empty maps and lists are absent."""
    metadata = {key: value for key, value in body["metadata"].items() if value not in ({}, [], None)}
    return {**body, "metadata": metadata}


def _spec(body: Object) -> Object:
    return {key: value for key, value in body.items() if key not in {"metadata", "status", "apiVersion", "kind"}}
