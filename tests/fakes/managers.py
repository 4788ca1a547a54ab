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


def owners(body: Object) -> dict[Owner, set[Field]]:
    """Who owns what of an object."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): from_tree(entry["fieldsV1"])
        for entry in body["metadata"].get("managedFields") or ()
    }


def with_owners(
    body: Object, owned: dict[Owner, set[Field]], api_version: str, now: str, before: Object | None
) -> Object:
    """The object with its managedFields; the time of an entry moves only when its fields do."""
    old = owners(before) if before else {}
    times = {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["time"]
        for entry in (before or {"metadata": {}})["metadata"].get("managedFields") or ()
    }
    entries: list[dict[str, Any]] = []
    for owner in sorted(owned):
        fields = owned[owner]
        if not fields:
            continue
        manager, operation, subresource = owner
        entry = {
            "manager": manager,
            "operation": operation,
            "apiVersion": api_version,
            "time": times[owner] if old.get(owner) == fields else now,
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


def after_update(before: Object | None, after: Object, owner: Owner, kind: Kind) -> dict[Owner, set[Field]]:
    """Who owns what once `owner` has written `after` over `before`: what changed is the writer's."""
    old = fields_of(before, kind) if before else {}
    new = fields_of(after, kind)
    changed = {field for field, value in new.items() if field not in old or old[field] != value}
    owned = owners(before) if before else {}
    left = {each: (fields - changed) & set(new) for each, fields in owned.items()}
    left[owner] = (left.get(owner, set()) | changed) & set(new)
    return left


def apply(
    live: Object | None, applied: Object, owner: Owner, kind: Kind, *, is_forced: bool
) -> tuple[Object, dict[Owner, set[Field]]]:
    """The merged object and its owners. Raises: FieldConflictError."""
    wanted = fields_of(applied, kind)
    if live is None:
        return applied, {owner: set(wanted)}
    owned = owners(live)
    now = fields_of(live, kind)
    changed = {field for field, value in wanted.items() if field not in now or now[field] != value}
    causes = [
        (each[0], field)
        for each, fields in sorted(owned.items())
        if each != owner
        for field in sorted(fields & changed)
        if field in now
    ]
    if causes and not is_forced:
        raise FieldConflictError(causes)
    owned = {each: fields - changed if each != owner else fields for each, fields in owned.items()}
    others: set[Field] = set().union(*(fields for each, fields in owned.items() if each != owner))
    dropped = owned.get(owner, set()) - set(wanted)
    gone = {field for field in dropped - others if not any(other[: len(field)] == field for other in others)}
    body = merge(without(live, gone, kind), applied, (), kind)
    present = set(fields_of(body, kind))
    owned[owner] = set(wanted)
    return body, {each: fields & present for each, fields in owned.items()}
