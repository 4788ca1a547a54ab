"""The verbs of the in-memory API server on its store: create, update, merge patch, apply, delete.

A write that changes nothing gives no new version, as in a real one. Reads are in `apiserver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.fakes import managers
from tests.fakes.fieldsets import fields_of
from tests.fakes.kinds import Kind
from tests.fakes.refusals import RefusalError, already_exists, bad_request, conflict, invalid, not_found
from tests.fakes.rules import new_object, replaced, without_empty
from tests.fakes.store import Key, Object

if TYPE_CHECKING:
    from tests.fakes.apiserver import ApiServer


def create(server: ApiServer, kind: Kind, namespace: str, body: Object, manager: str) -> Object:
    """POST. Raises: RefusalError."""
    _check_namespace(server, kind, namespace)
    body = new_object(_admitted(server, kind, body, None), kind, namespace, now(server))
    key = (namespace, body["metadata"]["name"])
    if server.store.get(kind.id, key) is not None:
        raise already_exists(kind.id, key[1])
    fields = fields_of(body, kind)
    owned = managers.after_update(managers.NOTHING, fields, (manager, "Update", ""))
    return _put(server, kind, key, body, managers.Known(fields, owned), None)


def update(server: ApiServer, kind: Kind, key: Key, body: Object, manager: str, subresource: str) -> Object:
    """PUT. Raises: RefusalError."""
    before = _stored(server, kind, key)
    if not (body.get("metadata") or {}).get("resourceVersion") and not kind.allows_unguarded_update:
        raise invalid(kind.id, key[1], "metadata.resourceVersion", "must be specified for an update")
    return _write(server, kind, key, before, body, manager, subresource)


def merge_patch(server: ApiServer, kind: Kind, key: Key, patch: Object, manager: str, subresource: str) -> Object:
    """RFC 7386. Raises: RefusalError."""
    before = _stored(server, kind, key)
    body = _merged(before, patch)
    return _write(server, kind, key, before, body, manager, subresource)


def apply(
    server: ApiServer, kind: Kind, key: Key, body: Object, manager: str, subresource: str, *, is_forced: bool
) -> Object:
    """Server-side apply. Raises: RefusalError."""
    metadata = body.get("metadata") or {}
    if metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    if metadata.get("name", key[1]) != key[1]:
        raise bad_request("the name of the object does not match the name on the URL")
    owner = (manager, "Apply", subresource)
    before = server.store.get(kind.id, key)
    if before is None:
        if subresource:
            raise not_found(kind.id, key[1])
        _check_namespace(server, kind, key[0])
        if metadata.get("uid"):
            raise conflict(kind.id, key[1], "uid mismatch")
        wanted = _admitted(server, kind, {**body, "metadata": {**metadata, "name": key[1]}}, None)
        made = new_object(wanted, kind, key[0], now(server))
        owned = {owner: set(fields_of(_as_written(body, kind, subresource), kind))}
        return _put(server, kind, key, made, managers.Known(fields_of(made, kind), owned), None)
    version = metadata.get("resourceVersion")
    if version and version != before["metadata"]["resourceVersion"]:
        raise conflict(kind.id, key[1])
    try:
        wanted = _as_written(body, kind, subresource)
        merged, owned = managers.apply(before, _known(server, kind, before), wanted, owner, kind, is_forced=is_forced)
    except managers.FieldConflictError as error:
        raise _apply_conflict(kind, key[1], error) from error
    after = replaced(before, _admitted(server, kind, merged, before), kind, subresource)
    return _put(server, kind, key, after, managers.Known(fields_of(after, kind), owned), before)


def delete(server: ApiServer, kind: Kind, key: Key, options: Mapping[str, Any]) -> Object:
    """DELETE. Raises: RefusalError."""
    before = _stored(server, kind, key)
    metadata = before["metadata"]
    for field, wanted in (options.get("preconditions") or {}).items():
        if metadata[field] != wanted:
            name = {"uid": "UID", "resourceVersion": "ResourceVersion"}[field]
            why = f"{name} in precondition: {wanted}, {name} in object meta: {metadata[field]}"
            raise conflict(kind.id, key[1], f"Precondition failed: {why}")
    finalizers = list(metadata.get("finalizers") or ())
    wanted_by_policy = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(
        options.get("propagationPolicy", "")
    )
    if wanted_by_policy and wanted_by_policy not in finalizers and "deletionTimestamp" not in metadata:
        finalizers.append(wanted_by_policy)
    if kind.id == "namespaces" and "deletionTimestamp" not in metadata:
        after = _marked(server, before, finalizers) | {"status": {"phase": "Terminating"}}
        return server.store.put(kind.id, key, after)
    if not finalizers:
        server.store.remove(kind.id, key)
        details = {"name": key[1], "kind": kind.resource.plural, "uid": metadata["uid"]}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    if "deletionTimestamp" in metadata:
        return before
    return server.store.put(kind.id, key, _marked(server, before, finalizers))


def now(server: ApiServer) -> str:
    """The time of day as metadata has it."""
    return server.clock.wall().strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(
    server: ApiServer, kind: Kind, key: Key, before: Object, body: Object, manager: str, subresource: str
) -> Object:
    after = replaced(before, _admitted(server, kind, body, before), kind, subresource)
    fields = fields_of(after, kind)
    owned = managers.after_update(_known(server, kind, before), fields, (manager, "Update", subresource))
    return _put(server, kind, key, after, managers.Known(fields, owned), before)


def _put(server: ApiServer, kind: Kind, key: Key, body: Object, known: managers.Known, before: Object | None) -> Object:
    old = managers.NOTHING if before is None else _known(server, kind, before)
    after = managers.with_owners(body, known.owned, kind.resource.api_version, now(server), before, old)
    if before is not None and _same(before, after):
        return before
    metadata = after["metadata"]
    stored = server.store.put(kind.id, key, after)
    if "deletionTimestamp" in metadata and not metadata.get("finalizers") and kind.id != "namespaces":
        server.known.pop(metadata["uid"], None)
        return server.store.remove(kind.id, key)
    server.known[metadata["uid"]] = (stored["metadata"]["resourceVersion"], known)
    return stored


def _known(server: ApiServer, kind: Kind, body: Object) -> managers.Known:
    """What the last write of this very version knew, else what the object says."""
    version, known = server.known.get(body["metadata"].get("uid", ""), ("", managers.NOTHING))
    return known if version == body["metadata"]["resourceVersion"] else managers.known(body, kind)


def _same(before: Object, after: Object) -> bool:
    names = {"apiVersion", "kind"}
    return {key: value for key, value in before.items() if key not in names} == {
        key: value for key, value in after.items() if key not in names
    }


def _stored(server: ApiServer, kind: Kind, key: Key) -> Object:
    found = server.store.get(kind.id, key)
    if found is None:
        raise not_found(kind.id, key[1])
    return found


def _admitted(server: ApiServer, kind: Kind, body: Object, before: Object | None) -> Object:
    for admission in server.admissions:
        body = admission(kind, body, before)
    return body


def _marked(server: ApiServer, before: Object, finalizers: list[str]) -> Object:
    metadata = before["metadata"] | {
        "deletionTimestamp": now(server),
        "deletionGracePeriodSeconds": 0,
        "finalizers": finalizers,
    }
    if "generation" in metadata:
        metadata["generation"] += 1
    return without_empty({**before, "metadata": metadata})


def _as_written(body: Object, kind: Kind, subresource: str) -> Object:
    """The part of a body that this endpoint writes: the rest is neither stored nor owned."""
    if subresource == "status":
        return {key: value for key, value in body.items() if key in {"metadata", "status"}}
    return {key: value for key, value in body.items() if key != "status" or not kind.has_status}


def _merged(live: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(live) if isinstance(live, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _check_namespace(server: ApiServer, kind: Kind, namespace: str) -> None:
    if not kind.resource.is_namespaced:
        return
    found = server.store.get("namespaces", ("", namespace))
    if found is None:
        raise not_found("namespaces", namespace)
    if "deletionTimestamp" in found["metadata"]:
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise RefusalError(403, "Forbidden", why, causes=[{"reason": "NamespaceTerminating", "message": why}])


def _apply_conflict(kind: Kind, name: str, error: managers.FieldConflictError) -> RefusalError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f'conflict with "{manager}"',
            "field": "".join(
                "." + element[2:] if element.startswith("f:") else f"[{element[2:]}]" for element in field
            ),
        }
        for manager, field in error.causes
    ]
    message = f"Apply failed with {len(causes)} conflicts: " + "; ".join(
        f"{cause['message']}: {cause['field']}" for cause in causes
    )
    return RefusalError(409, "Conflict", message, name=name, kind=kind.id, causes=causes)
