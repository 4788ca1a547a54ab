"""Lint of resource names: they stand in `identity` and nowhere else, so that an override of it reaches everything (RP531)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.lang.diagnostics import Diagnostic, Severity
from engine.lang.lint import LintedPack
from engine.lang.tree import Map, Node, Scalar, Seq

_BLOCKS: Final = ("sections", "derived")


def check_resource_names(one: LintedPack) -> Iterator[Diagnostic]:
    """Texts of rules that spell out a maker's resource name."""
    names = {
        str(identity["resource"])
        for pack in one.program.packs
        if isinstance(identity := pack.blocks.get("identity"), dict) and identity.get("resource")
    }
    for block in _BLOCKS:
        entry = one.pack.spec.get(block)
        if entry is None:
            continue
        for scalar in _scalars(entry.value):
            for name in sorted(names):
                if _spells(scalar.text, name):
                    yield Diagnostic(
                        "RP531",
                        f"`{name}` is spelled out",
                        Severity.WARNING,
                        scalar.place,
                        help="write identity.resource (or take it from the section's input), so that an override reaches it",
                    )


def _spells(text: str, name: str) -> bool:
    """Whether a text holds a resource name as a whole, or one derived from it."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("-", ".", "/")) and not (after.isalnum() or after in ("-", "/")):
            return True
        at = text.find(name, at + 1)
    return False


def _scalars(node: Node) -> Iterator[Scalar]:
    match node:
        case Scalar():
            yield node
        case Seq(items):
            for item in items:
                yield from _scalars(item)
        case Map(entries):
            for entry in entries:
                yield entry.key
                yield from _scalars(entry.value)
