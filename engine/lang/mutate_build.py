"""From a mutant's tree to what evaluates it: only the changed rule is checked, folded and compiled.

A mutant that the checker refuses is a mutant that nobody could have loaded: None here, and counted apart by the caller.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from engine.lang import ir
from engine.lang.check import Scope
from engine.lang.diagnostics import Diagnostics
from engine.lang.evaluate import SectionEvaluator
from engine.lang.library import Used
from engine.lang.mutate_rules import Mutant, choices_of, let_mutants, rule_mutants
from engine.lang.packbuild import PackBuilder, _roots
from engine.lang.packs import Pack
from engine.lang.section import Catalogue, Combine, Section
from engine.lang.sectionbuild import SectionBuilder
from engine.lang.tree import Entry, Map, Node, Seq
from engine.lang.tree_edit import Steps

Made = SectionEvaluator | None
Build = Callable[[], Made]


class PatchableEvaluator(SectionEvaluator):
    """A section that can be had again with one of its rules exchanged, without compiling the others anew."""

    def __init__(self, section: ir.CompiledSection) -> None:
        super().__init__(section)
        self._scope_names: dict[str, Any] = {}
        self._compile_lets(section.lets, self._scope_names)

    def with_rule(self, position: int, rule: ir.Rule | ir.Group | None) -> SectionEvaluator:
        """The section with another rule at a position, or without one there."""
        made = copy.copy(self)
        compiled = () if rule is None else (self._compile(rule, self._scope_names),)
        made.put((*self._rules[:position], *compiled, *self._rules[position + 1 :]))
        return made

    def put(self, rules: tuple[Any, ...]) -> None:
        """Take compiled rules as the section's."""
        self._rules = rules
        self._by_id = {rule.id: rule for rule in _leaves(rules)}


def _leaves(rules: tuple[Any, ...]) -> Iterator[Any]:
    for rule in rules:
        if rule.rules:
            yield from _leaves(rule.rules)
        else:
            yield rule


@dataclass(frozen=True, slots=True)
class DerivedMutant:
    """A change of a `derived` value. `build` gives the lets of its scope, or None when they do not load."""

    mutant: Mutant
    scope: str
    build: Callable[[], tuple[ir.Let, ...] | None]


class MutantBuilder(PackBuilder):
    """Builds the mutants of one pack, one at a time."""

    def __init__(
        self,
        pack: Pack,
        used: tuple[Used, ...],
        catalogue: Catalogue,
        shared: Mapping[str, Any],
        linked: Mapping[str, ir.CompiledSection],
        params: Mapping[str, Any],
    ) -> None:
        super().__init__(pack, used, catalogue, shared, Diagnostics(), {}, params)
        self._linked = linked
        self._roots = _roots(self.constants)
        self._derived(self._roots)  # the types of what is derived

    def mutants(self) -> Iterator[tuple[Mutant, Build]]:
        """Every mutant of the pack's sections and of its libraries' rules, with the way to build it."""
        for entry in self._sections():
            declared = self.catalogue.section(entry.key.text)
            compiled = self._linked.get(entry.key.text)
            if declared is None or compiled is None:
                continue
            yield from self._of_own_rules(entry, declared, compiled)
            yield from self._of_library_rules(entry, declared, compiled)

    def derived_mutants(self) -> Iterator[DerivedMutant]:
        """Every mutant of the pack's `derived` values."""
        block = self.pack.spec.get("derived")
        for scope in block.value.entries if block is not None and isinstance(block.value, Map) else ():
            if isinstance(scope.value, Map):
                for mutant in let_mutants("derived", scope.value):
                    yield DerivedMutant(mutant, scope.key.text, self._derived_build(scope.key.text, mutant))

    def _derived_build(self, scope: str, mutant: Mutant) -> Callable[[], tuple[ir.Let, ...] | None]:
        def build() -> tuple[ir.Let, ...] | None:
            assert mutant.tree is not None
            block = self.pack.spec["derived"]
            assert isinstance(block.value, Map)
            entries = tuple(
                Entry(entry.key, mutant.tree if entry.key.text == scope else entry.value)
                for entry in block.value.entries
            )
            trial = self.pack.copy()
            trial.spec["derived"] = Entry(block.key, Map(entries, block.value.span, block.value.source))
            return self._fresh(trial).derived_lets(scope)

        return build

    def derived_lets(self, scope: str) -> tuple[ir.Let, ...] | None:
        """The derived values of a scope, or None when they do not load."""
        made = self._derived(self._roots)
        return None if self.diagnostics.has_errors else made.get(scope, ())

    def library_section(self, one: Used, declared: Section, entry: Entry) -> ir.CompiledSection | None:
        """A library's rules of a section, or None when they do not load."""
        return self._of_library(one, declared, entry)

    def _fresh(self, pack: Pack) -> MutantBuilder:
        """This builder with nothing found yet, for one pack's other version."""
        made = copy.copy(self)
        made.pack, made.diagnostics, made.named = pack, Diagnostics(), dict(self.named)
        made.ids, made.expressions = {}, []
        return made

    # own rules

    def _of_own_rules(
        self, entry: Entry, declared: Section, compiled: ir.CompiledSection
    ) -> Iterator[tuple[Mutant, Build]]:
        imported, roots, _ = self._imported(entry, declared, self._roots)
        alternatives = declared.emit_types(self.named)
        evaluator = PatchableEvaluator(compiled)
        items = _items(entry.value)
        for position, item in enumerate(items):
            if not isinstance(item, Map):
                continue
            last = position == len(items) - 1 and len(compiled.rules) == len(items)
            for mutant in rule_mutants(declared.name, item, lambda steps: choices_of(alternatives, steps)):
                yield mutant, self._rule_build(mutant, entry, declared, roots, evaluator, position, last=last)
        lets = entry.value.get("let") if isinstance(entry.value, Map) else None
        for mutant in let_mutants(declared.name, lets) if isinstance(lets, Map) else ():
            yield mutant, self._lets_build(mutant, entry, declared, roots, compiled, imported)

    def _rule_build(
        self,
        mutant: Mutant,
        entry: Entry,
        declared: Section,
        roots: Scope,
        evaluator: PatchableEvaluator,
        position: int,
        *,
        last: bool,
    ) -> Build:
        def build() -> Made:
            if mutant.tree is None:
                return evaluator.with_rule(position, None)
            made = self._section_of(_with(entry.value, "rules", (mutant.tree,)), declared, roots)
            if made is None or not made.rules:
                return None
            rule = made.rules[0]
            if declared.combine is Combine.FIRST and not last and _always_fires(rule):
                return None  # the rules after it could never fire, and that is refused
            return evaluator.with_rule(position, rule)

        return build

    def _lets_build(
        self,
        mutant: Mutant,
        entry: Entry,
        declared: Section,
        roots: Scope,
        compiled: ir.CompiledSection,
        imported: list[ir.Let],
    ) -> Build:
        def build() -> Made:
            node = entry.value
            assert isinstance(node, Map)
            assert mutant.tree is not None
            entries = tuple(Entry(e.key, mutant.tree if e.key.text == "let" else e.value) for e in node.entries)
            made = self._section_of(Map(entries, node.span, node.source), declared, roots)
            if made is None:
                return None
            rules = (*made.rules, *compiled.rules[len(made.rules) :])
            return SectionEvaluator(replace(compiled, lets=(*imported, *made.lets), rules=rules))

        return build

    def _section_of(self, node: Node, declared: Section, roots: Scope) -> ir.CompiledSection | None:
        builder = SectionBuilder(declared, self.named, roots, self.constants, Diagnostics(), {}, self.settings)
        return builder.build(node)

    # rules of libraries

    def _of_library_rules(
        self, entry: Entry, declared: Section, compiled: ir.CompiledSection
    ) -> Iterator[tuple[Mutant, Build]]:
        at = len(_items(entry.value))
        evaluator = PatchableEvaluator(compiled)
        alternatives = declared.emit_types(self.named)
        for one in self.used:
            written = one.rules.get(declared.name)
            whole = None if written is None else self._of_library(one, declared, entry)
            if written is None or whole is None:
                continue
            for number, item in enumerate(_items(written.value)):
                if not isinstance(item, Map):
                    continue
                for mutant in rule_mutants(declared.name, item, lambda steps: choices_of(alternatives, steps)):
                    yield mutant, self._library_build(mutant, one, entry, declared, evaluator, (at, number))
            at += 1 if whole.lets else len(whole.rules)

    def _library_build(
        self,
        mutant: Mutant,
        one: Used,
        entry: Entry,
        declared: Section,
        evaluator: PatchableEvaluator,
        position: Steps,
    ) -> Build:
        def build() -> Made:
            at, number = position
            assert isinstance(at, int)
            assert isinstance(number, int)
            written = one.rules[declared.name]
            items = list(_items(written.value))
            items[number : number + 1] = [] if mutant.tree is None else [mutant.tree]
            rules = Seq(tuple(items), written.value.span, written.value.source)
            trial = replace(one, rules={**one.rules, declared.name: Entry(written.key, rules)})
            made = self._fresh(self.pack).library_section(trial, declared, entry)
            if made is None:
                return None
            if made.lets:
                return evaluator.with_rule(at, ir.Group(made.rules, lets=made.lets))
            return evaluator.with_rule(at + number, None if mutant.tree is None else made.rules[number])

        return build


def _items(node: Node) -> tuple[Node, ...]:
    rules = node.get("rules") if isinstance(node, Map) else node
    return rules.items if isinstance(rules, Seq) else ()


def _with(node: Node, key: str, items: tuple[Node, ...]) -> Node:
    """A section with only these rules."""
    if not isinstance(node, Map):
        return Seq(items, node.span, node.source)
    rules = Seq(items, node.span, node.source)
    return Map(
        tuple(Entry(e.key, rules if e.key.text == key else e.value) for e in node.entries), node.span, node.source
    )


def _always_fires(rule: ir.Rule | ir.Group) -> bool:
    if rule.when is not None or rule.for_each is not None:
        return False
    return isinstance(rule, ir.Rule) or any(_always_fires(child) for child in rule.rules)
