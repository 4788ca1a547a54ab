"""Sections that need not be built again: what a pack's sections came to, and when that still holds for a changed pack.

Overlays are checked, and tests run, against packs that differ from one already built by a value or a rule. Builds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.lang import ir
from engine.lang.expressions import Expressions
from engine.lang.library import Used, words
from engine.lang.packs import Pack
from engine.lang.source import Place
from engine.lang.tree import Entry, plain
from engine.lang.types import Type


class KeptSection(Struct, frozen=True):
    """A section that was built without a finding. Shape: `ids` are those of its rules."""

    entry: Entry
    compiled: ir.CompiledSection
    expressions: tuple[Expressions, ...]
    ids: Mapping[str, Place]


class KeptTests(Struct, frozen=True):
    """The tests and bases of one pack as plain data, beside the pack they were written in."""

    pack: Pack
    tests: tuple[Mapping[str, Any], ...]
    bases: Mapping[str, Any]

    @classmethod
    def of(cls, pack: Pack, before: KeptTests | None) -> KeptTests:
        """Those of a pack; overlays leave them as they are, so that a changed pack has those of the one it was made from."""
        if before is not None and before.pack.tests is pack.tests and before.pack.bases is pack.bases:
            return before
        tests = tuple({"place": node.place, **plain(node)} for node in pack.tests)
        return cls(pack, tests, {name: plain(base.value) for name, base in pack.bases.items()})


class KeptSections(Struct):
    """The sections of one pack, by name, what all of them could see, and its tests."""

    tests: KeptTests
    used: tuple[Used, ...]
    constants: Mapping[str, Any]
    named: Mapping[str, Type]
    settings: Type | None
    sections: dict[str, KeptSection] = {}

    def find(self, entry: Entry, now: KeptSections, ids: Mapping[str, Place]) -> KeptSection | None:
        """The section as it was, if building it in the pack of `now` would come to the same; `ids` are taken there."""
        kept = self.sections.get(entry.key.text)
        if kept is None or kept.entry.value is not entry.value or not kept.ids.keys().isdisjoint(ids):
            return None
        if (
            not _are_alike(self.used, now.used)
            or self.named != now.named
            or self.settings != now.settings
            or self.constants.keys() != now.constants.keys()
        ):
            return None
        differing = {name for name, value in self.constants.items() if value != now.constants[name]}
        return None if differing and differing & _words(entry, now.used) else kept


def _are_alike(before: tuple[Used, ...], now: tuple[Used, ...]) -> bool:
    """Whether the same libraries are used in the same way: `use` is resolved anew for every link."""
    return before is now or (
        len(before) == len(now)
        and all(
            one.library is other.library and one.values == other.values and one.imported == other.imported
            for one, other in zip(before, now, strict=True)
        )
    )


def _words(entry: Entry, used: tuple[Used, ...]) -> set[str]:
    """Everything that may be a name in a section, in the rules that libraries add to it, and in their lets."""
    nodes = [entry.value]
    for one in used:
        nodes += [let.value for let in one.lets]
        rules = one.rules.get(entry.key.text)
        if rules is not None:
            nodes.append(rules.value)
    return set().union(*map(words, nodes))
