"""A catalogue small enough for a test: one section for each way to combine, about nothing in particular."""

from __future__ import annotations

from typing import Any

from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.section import Catalogue, Combine, Owner, Section
from engine.lang.source import Source
from engine.lang.types import object_of

INPUT = "item: {name: str, count: int, size?: int, ready: bool, kind?: 'big'|'small', tags: str[], parts: {id: str, n?: int}[]}"

SECTIONS = (
    Section(
        "pick", Owner.DERIVATION, Combine.FIRST, INPUT, "{label: str, size?: int, grade: 'a'|'b' = 'a'}", "picks one"
    ),
    Section("must-pick", Owner.DERIVATION, Combine.FIRST, INPUT, "{label: str}", "picks one, always", must=True),
    Section("labels", Owner.DERIVATION, Combine.MERGE, INPUT, "map<str>", "labels"),
    Section(
        "marks",
        Owner.DERIVATION,
        Combine.MERGE,
        INPUT,
        "{labels: map<str>, notes: map<str> = {}}",
        "marks",
        owns=True,
        unowned=("notes",),
    ),
    Section(
        "object",
        Owner.DERIVATION,
        Combine.MERGE,
        INPUT,
        "{name: str, more: {a?: str, b?: int}, list: str[] = []}",
        "object",
        must=True,
    ),
    Section("rows", Owner.DERIVATION, Combine.LIST, INPUT, "{id: str, permissions: str = 'rw'}", "a row each"),
    Section("total", Owner.DERIVATION, Combine.SUM, INPUT, "map<int>", "adds up"),
    Section(
        "either",
        Owner.DERIVATION,
        Combine.FIRST,
        INPUT,
        "{product: str, family?: str} or {exclude: str}",
        "one or the other",
        optional=True,
    ),
    Section("refusals", Owner.DERIVATION, Combine.FIRST, INPUT, "{refuse: str}", "refuses", message=""),
    Section(
        "late",
        Owner.DERIVATION,
        Combine.LIST,
        INPUT,
        "{name: str}",
        "refuses later",
        message="{state: str, free?: int}",
    ),
    Section("free", Owner.DERIVATION, Combine.FIRST, INPUT, "{value: any}", "anything"),
    Section("switched", Owner.DERIVATION, Combine.FIRST, INPUT, "{label: str}", "sees settings", settings=True),
)

CATALOGUE = Catalogue(
    sections={section.name: section for section in SECTIONS},
    named_types=lambda _blocks: {},
    vocabulary="1.0",
    constants={"unit": 100},
)

ITEM: dict[str, Any] = {"name": "x", "count": 2, "ready": True, "tags": ["t"], "parts": []}


def pack(body: str, *, name: str = "p", kind: str = "Derivation", extra: str = "") -> PackFiles:
    """A one-file pack with a `sections` body (indented by four) and further spec keys (indented by two)."""
    text = (
        f'apiVersion: rules.gpustack.ai/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, version: "1.0.0"}}\nspec:\n'
        + extra
        + ("  sections:\n" + body if body else "")
    )
    return PackFiles(f"{name}.yaml", (Source(f"{name}.yaml", text.encode()),))


CONST = pack("", name="constants", extra="  constants: {prefix: example.com/}\n")


def linked(*bodies: str | PackFiles, extra: str = "") -> Linked:
    """Packs linked with the small catalogue."""
    files = [b if isinstance(b, PackFiles) else pack(b, name=f"p{n}", extra=extra) for n, b in enumerate(bodies)]
    return link([CONST, *files], CATALOGUE)


def program(*bodies: str | PackFiles, extra: str = "") -> Program:
    """The program of packs that have to be right."""
    made = linked(*bodies, extra=extra)
    assert made.program is not None, [f"{d.place}: {d.code} {d.message}" for d in made.diagnostics]
    return made.program


def codes(*bodies: str | PackFiles, extra: str = "") -> list[str]:
    """The codes of what linking finds, sorted by place."""
    return [found.code for found in linked(*bodies, extra=extra).diagnostics.sorted()]


def item(**changes: Any) -> dict[str, Any]:
    """The input of a section, changed."""
    return {"item": {**ITEM, **changes}}


EMPTY = object_of({})
