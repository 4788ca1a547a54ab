"""Inputs of pack tests: whether they fit the section's type, and the settings they leave at their defaults.

Completes nothing that a section knows about its own input; that is handed to the runner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.lang import ir
from engine.lang.linking import setting_name
from engine.lang.notation import parse_type
from engine.lang.program import LinkedPack
from engine.lang.section import Catalogue
from engine.lang.types import Kind, Member, Type, object_of, type_of, violations


def pack_types(pack: LinkedPack, catalogue: Catalogue) -> Mapping[str, Type]:
    """The types behind the catalogue's `@names` for one pack."""
    plain = {name: [_plain(rule) for rule in ir.leaves(section.rules)] for name, section in pack.sections.items()}
    return catalogue.named_types({**pack.blocks, "sections": plain})


def _plain(rule: ir.Rule) -> dict[str, Any]:
    """A rule as far as types are decided by it: the literal scalars of its emit, anything else as a template."""
    made: dict[str, Any] = {}
    if isinstance(rule.emit, ir.Entries):
        for entry in rule.emit.entries:
            name = entry.key if isinstance(entry.key, str) else entry.written
            made[name] = entry.value.value if isinstance(entry.value, ir.Constant) else "$(…)"
    return {"id": rule.id, "emit": made}


def input_faults(given: Mapping[str, Any], notation: str, named: Mapping[str, Type], *, settings: Any) -> list[str]:
    """Where an input breaks its declared type. A field that is left out is no fault: tests state what matters.

    Shape: `settings` is the block of that name, None for a section that sees none.
    """
    return misfits(given, input_type(notation, named, settings=settings))


def misfits(given: Mapping[str, Any], wanted: Type) -> list[str]:
    """Where an input breaks the type `input_type` gives."""
    return [f"{path}: {message}" for path, message in violations(dict(given), wanted)]


def input_type(notation: str, named: Mapping[str, Type], *, settings: Any) -> Type:
    """The declared type of an input. Shape: `settings` as for `input_faults`."""
    members = dict(parse_type("{" + notation + "}", named).members)
    if settings is not None:
        # A setting is of the type of its default.
        members["settings"] = Member(
            object_of({n: type_of(value) for n, value in filled_settings(settings, {}).items()})
        )
    return object_of(members)


def fitted(value: Any, wanted: Type, path: str = "") -> tuple[Any, set[str]]:
    """A plain value without the fields its type does not know, and their paths (`alloc.cards.claims`)."""
    dropped: set[str] = set()
    if wanted.kind is Kind.OBJECT and isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            member, here = wanted.member(key), f"{path}.{key}" if path else key
            if member is None:
                dropped.add(here)
                continue
            made[key], more = fitted(item, member.type, here)
            dropped |= more
        return made, dropped
    if wanted.kind is Kind.LIST and isinstance(value, list) and wanted.element is not None:
        items = [fitted(item, wanted.element, path) for item in value]
        return [item for item, _ in items], set().union(*(more for _, more in items))
    return value, dropped


def filled_settings(block: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting's default under its camelCase name, what the test gives laid over it."""
    made = {setting_name(str(row["name"])): row.get("default") for row in block or ()}
    return {**made, **given}
