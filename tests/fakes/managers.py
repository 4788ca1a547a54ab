"""managedFields as a whole: what an update takes over, what an apply takes, shares, forces and gives up.

Knows no verbs and no store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fakes.fieldsets import Field, Object, fields_of, from_tree, merge, to_tree, without
from tests.fakes.kinds import Kind

Owner = tuple[str, str, str]
"""Manager, operation, subresource."""


@dataclass
class FieldConflictError(Exception):
    """Fields that others own and an apply would change."""

    causes: list[tuple[str, Field]]


@dataclass(frozen=True)
class Known:
    """An object's fields and who owns them. Made from the object, or remembered from its last write."""

    fields: dict[Field, Any]
    owned: dict[Owner, set[Field]]


NOTHING = Known({}, {})


def known(body: Object, kind: Kind) -> Known:
    """From the object itself. Cost: walks all of it."""
    return Known(fields_of(body, kind), {_owner(entry): from_tree(entry["fieldsV1"]) for entry in _entries(body)})


def with_owners(
    body: Object, owned: dict[Owner, set[Field]], api_version: str, now: str, before: Object | None, old: Known
) -> Object:
    """The object with its managedFields; an entry whose fields stay is kept with its time."""
    kept = {_owner(entry): entry for entry in _entries(before)} if before is not None else {}
    entries: list[dict[str, Any]] = []
    for owner in sorted(owned):
        fields = owned[owner]
        if not fields:
            continue
        if owner in kept and old.owned.get(owner) == fields:
            entries.append(kept[owner])
            continue
        manager, operation, subresource = owner
        entry = {
            "manager": manager,
            "operation": operation,
            "apiVersion": api_version,
            "time": now,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_tree(fields),
        }
        if subresource:
            entry["subresource"] = subresource
        entries.append(entry)
    metadata = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    return {**body, "metadata": metadata}


def after_update(old: Known, new: dict[Field, Any], owner: Owner) -> dict[Owner, set[Field]]:
    """Who owns what once `owner` has written `new` over `old`: what changed is the writer's."""
    changed = {field for field, value in new.items() if field not in old.fields or old.fields[field] != value}
    present = set(new)
    left = {each: (fields - changed) & present for each, fields in old.owned.items()}
    left[owner] = (left.get(owner, set()) | changed) & present
    return left


def apply(
    live: Object, old: Known, applied: Object, owner: Owner, kind: Kind, *, is_forced: bool
) -> tuple[Object, dict[Owner, set[Field]]]:
    """The merged object and its owners. Raises: FieldConflictError."""
    wanted = fields_of(applied, kind)
    changed = {field for field, value in wanted.items() if field not in old.fields or old.fields[field] != value}
    causes = [
        (each[0], field)
        for each, fields in sorted(old.owned.items())
        if each != owner
        for field in sorted(fields & changed)
        if field in old.fields
    ]
    if causes and not is_forced:
        raise FieldConflictError(causes)
    owned = {each: fields - changed if each != owner else fields for each, fields in old.owned.items()}
    others: set[Field] = set().union(*(fields for each, fields in owned.items() if each != owner))
    dropped = owned.get(owner, set()) - set(wanted)
    gone = {field for field in dropped - others if not any(other[: len(field)] == field for other in others)}
    body = merge(without(live, gone, kind), applied, (), kind)
    owned[owner] = set(wanted)
    if gone:
        present = set(fields_of(body, kind))
        owned = {each: fields & present for each, fields in owned.items()}
    return body, owned


def _entries(body: Object) -> list[Object]:
    found: list[Object] = body["metadata"].get("managedFields") or []
    return found


def _owner(entry: Object) -> Owner:
    return (entry["manager"], entry["operation"], entry.get("subresource", ""))
