"""Lint: what is no error in a linked pack and still cannot have been meant, and what only the whole pack can show.

Runs the checks of the language and those it is handed (the sections' side knows what a section is about). Changes nothing,
and says nothing of packs that did not link.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.lang import ir
from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.library import Used
from engine.lang.linking import Linked
from engine.lang.lint_lengths import check_lengths
from engine.lang.lint_names import shadowed_rows, unused_blocks, unused_lets
from engine.lang.lint_rules import check_conditions, check_keys
from engine.lang.lint_scope import Leaf, section_leaves
from engine.lang.lint_texts import Texts
from engine.lang.packs import Pack
from engine.lang.packtest_inputs import pack_types
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue, Section
from engine.lang.source import Place
from engine.lang.tree import Map, Scalar
from engine.lang.tree import Node as TreeNode
from engine.lang.tree_edit import leaf_rules
from engine.lang.types import Type

__all__ = ["Check", "LintedPack", "lint"]


@dataclass
class LintedPack:
    """One linked pack as checks see it: compiled, as written, and where its rules stand."""

    program: Program
    compiled: LinkedPack
    pack: Pack
    used: tuple[Used, ...]
    catalogue: Catalogue
    texts: Texts

    @cached_property
    def nodes(self) -> Mapping[str, Map]:
        """The tree of every rule by its id, libraries' included."""
        made: dict[str, Map] = {}
        block = self.pack.spec.get("sections")
        for entry in block.value.entries if block is not None and isinstance(block.value, Map) else ():
            value = entry.value
            rules: TreeNode | None = value.get("rules") if isinstance(value, Map) else value
            made.update({rule_id.text: node for _, node, rule_id in leaf_rules(rules)})
        for one in self.used:
            for entry in one.rules.values():
                made.update({rule_id.text: node for _, node, rule_id in leaf_rules(entry.value)})
        return made

    @cached_property
    def named(self) -> Mapping[str, Type]:
        """What `@names` of the catalogue stand for."""
        return pack_types(self.compiled, self.catalogue)

    def sections(self) -> Iterator[tuple[Section, ir.CompiledSection, tuple[Leaf, ...]]]:
        """Every section the pack has, with its rules where they stand."""
        yield from self._sections

    @cached_property
    def _sections(self) -> list[tuple[Section, ir.CompiledSection, tuple[Leaf, ...]]]:
        made = []
        for name, compiled in self.compiled.sections.items():
            declared = self.catalogue.section(name)
            if declared is not None:
                inputs = {name: member.type for name, member in declared.input_type(self.named).members}
                made.append((declared, compiled, section_leaves(compiled, inputs)))
        return made

    def place(self, rule_id: str, *steps: str) -> Place | None:
        """Where a rule, or a part of it by its keys, stands; its id for no key or one that it does not have."""
        node = self.nodes.get(rule_id)
        if node is None:
            return None
        here: TreeNode | None = node
        for step in steps:
            if not isinstance(here, Map):
                break
            entry = here.entry(step) or here.entry(f"{step}?")
            if entry is None:
                break
            here = entry.value
            if step == steps[-1]:
                return here.place if isinstance(here, Scalar) else entry.key.place
        named = node.get("id")
        return named.place if named is not None else node.place


Check = Callable[[LintedPack], Iterable[Diagnostic]]


def lint(
    linked: Linked,
    catalogue: Catalogue,
    checks: Iterable[Check] = (),
    *,
    only: Collection[tuple[str, str]] | None = None,
) -> Diagnostics:
    """Findings about packs that linked; empty when they did not.

    Shape: `checks` are run on every pack beside the language's own; `only` are the kinds and names to report, all without.
    """
    found = Diagnostics()
    if linked.program is None:
        return found
    texts = Texts.of(linked.expressions)
    trees = {(pack.kind, pack.name): pack for pack in linked.packs}
    every = [*_OWN, *checks]
    seen: set[tuple[str, str, Place | None]] = set()
    for compiled in linked.program.packs:
        key = (compiled.kind, compiled.name)
        if only is not None and key not in only:
            continue
        one = LintedPack(linked.program, compiled, trees[key], linked.used.get(key, ()), catalogue, texts)
        for finding in (finding for check in every for finding in check(one)):
            what = (finding.code, finding.message, finding.place)
            if what not in seen:
                seen.add(what)
                found.append(finding)
    return found


def _lets(one: LintedPack) -> Iterator[Diagnostic]:
    yield from unused_lets(one.pack, one.texts)


def _blocks(one: LintedPack) -> Iterator[Diagnostic]:
    files = {one.pack.place.source.path, *(entry.key.source.path for entry in one.pack.spec.values())}
    files |= set(one.pack.origins)
    mine = one.texts.only(files)
    libraries = one.texts.only({entry.key.source.path for used in one.used for entry in used.rules.values()})
    yield from unused_blocks(one.pack, mine, libraries)
    yield from shadowed_rows(one.pack, mine)


def _rules(one: LintedPack) -> Iterator[Diagnostic]:
    for _, section, leaves in one.sections():
        yield from check_conditions(section, leaves, one.place)
        yield from check_keys(section, leaves, one.place)


_OWN: tuple[Check, ...] = (_lets, _blocks, _rules, check_lengths)
