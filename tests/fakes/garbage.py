"""What the controller-manager does to objects whose owner or namespace is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes import verbs
from tests.fakes.kinds import Kind
from tests.fakes.store import Change, Key, Object

if TYPE_CHECKING:
    from tests.fakes.apiserver import ApiServer


def collect(server: ApiServer, changes: list[Change]) -> None:
    """Runs until nothing more is to be deleted. Cost: looks at everything, but only after a deletion."""
    if any(change.after is None or "deletionTimestamp" in change.after["metadata"] for change in changes):
        while any(_one_pass(server, kind) for kind in server.kinds()):
            pass
        return
    for change in changes:
        assert change.after is not None
        metadata = change.after["metadata"]
        if metadata.get("ownerReferences"):
            _dependent(
                server, server.kind(change.kind), (metadata.get("namespace", ""), metadata["name"]), change.after
            )


def _one_pass(server: ApiServer, kind: Kind) -> bool:
    is_changed = False
    for body in server.store.all(kind.id):
        key = (body["metadata"].get("namespace", ""), body["metadata"]["name"])
        if kind.id == "namespaces" and "deletionTimestamp" in body["metadata"]:
            is_changed |= _empty_namespace(server, key)
        else:
            is_changed |= _dependent(server, kind, key, body) or _policy(server, kind, key, body)
    return is_changed


def _dependent(server: ApiServer, kind: Kind, key: Key, body: Object) -> bool:
    references = body["metadata"].get("ownerReferences") or []
    if not references or "deletionTimestamp" in body["metadata"]:
        return False
    owners = [_owner(server, reference, key[0]) for reference in references]
    is_kept = any(owner is not None and not _goes_foreground(owner) for owner in owners)
    if is_kept:
        return False
    verbs.delete(server, kind, key, {})
    return True


def _policy(server: ApiServer, kind: Kind, key: Key, body: Object) -> bool:
    """Foreground: goes when its dependents are gone. Orphan: lets its dependents go first."""
    metadata = body["metadata"]
    finalizers = metadata.get("finalizers") or []
    if "deletionTimestamp" not in metadata:
        return False
    waits = {"foregroundDeletion", "orphan"} & set(finalizers)
    if not waits:
        return False
    dependents = _dependents(server, metadata["uid"])
    if "orphan" in waits:
        for other, other_key, dependent in dependents:
            left = [each for each in dependent["metadata"]["ownerReferences"] if each["uid"] != metadata["uid"]]
            patch: Object = {"metadata": {"ownerReferences": left or None}}
            verbs.merge_patch(server, other, other_key, patch, "garbage-collector", "")
    elif dependents:
        return False
    left_finalizers = [each for each in finalizers if each not in waits]
    verbs.merge_patch(server, kind, key, {"metadata": {"finalizers": left_finalizers}}, "garbage-collector", "")
    return True


def _dependents(server: ApiServer, uid: str) -> list[tuple[Kind, Key, Object]]:
    return [
        (kind, (body["metadata"].get("namespace", ""), body["metadata"]["name"]), body)
        for kind in server.kinds()
        for body in server.store.all(kind.id)
        if any(each["uid"] == uid for each in body["metadata"].get("ownerReferences") or ())
    ]


def _owner(server: ApiServer, reference: Object, namespace: str) -> Object | None:
    group = reference["apiVersion"].rpartition("/")[0]
    for kind in server.kinds():
        if (kind.resource.group, kind.resource.kind) == (group, reference["kind"]):
            at = namespace if kind.resource.is_namespaced else ""
            found = server.store.get(kind.id, (at, reference["name"]))
            return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None
    return None


def _goes_foreground(owner: Object) -> bool:
    return "foregroundDeletion" in (owner["metadata"].get("finalizers") or ()) and (
        "deletionTimestamp" in owner["metadata"]
    )


def _empty_namespace(server: ApiServer, key: Key) -> bool:
    is_empty, is_changed = True, False
    for kind in server.kinds():
        if not kind.resource.is_namespaced:
            continue
        for body in server.store.all(kind.id, key[1]):
            is_empty = False
            if "deletionTimestamp" not in body["metadata"]:
                verbs.delete(server, kind, (key[1], body["metadata"]["name"]), {})
                is_changed = True
    if is_empty:
        server.store.remove("namespaces", key)
        return True
    return is_changed
