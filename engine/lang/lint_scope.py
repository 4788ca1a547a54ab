"""The leaves of a compiled section with everything that has to hold where they stand: conditions, names, loops.

Prepares what the checks of `lint_rules` compare; finds nothing wrong itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from engine.lang import ast, ir
from engine.lang.ast import Node
from engine.lang.lint_logic import Condition, Names, term_of
from engine.lang.types import Kind, Type


class Leaf(Struct, frozen=True):
    """One rule where it stands.

    Shape: `outer` are the conditions of the groups around it, `own` its own; `loops` the forEach items it sees, outermost
    first; `names` what its emit sees.
    """

    rule: ir.Rule
    outer: tuple[Condition, ...]
    own: tuple[Condition, ...]
    names: Names
    loops: tuple[str, ...]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Everything that has to hold for the rule to fire."""
        return (*self.outer, *self.own)


def section_leaves(section: ir.CompiledSection, inputs: Mapping[str, Type]) -> tuple[Leaf, ...]:
    """The leaves of a section in the order written."""
    walker = _Walker(section.name)
    names = walker.with_lets(Names(type_of=_typing(inputs)), section.lets, "")
    return tuple(walker.leaves(section.rules, names, dict(inputs), (), (), "r"))


class _Walker(Struct):
    section: str

    def leaves(
        self,
        rules: tuple[ir.Rule | ir.Group, ...],
        names: Names,
        types: dict[str, Type],
        outer: tuple[Condition, ...],
        loops: tuple[str, ...],
        at: str,
    ) -> Iterator[Leaf]:
        for number, rule in enumerate(rules):
            here = f"{at}.{number}"
            inner, seen, walked = names, types, loops
            if rule.for_each is not None:
                inner, seen = self._loop(rule.for_each, names, types)
                walked = (*loops, rule.for_each.item)
            own = () if rule.when is None else (Condition(rule.when, inner),)
            inner = self.with_lets(inner, rule.lets, here)
            if isinstance(rule, ir.Rule):
                yield Leaf(rule, outer, own, inner, walked)
            else:
                yield from self.leaves(rule.rules, inner, seen, (*outer, *own), walked, here)

    def with_lets(self, names: Names, lets: tuple[ir.Let, ...], at: str) -> Names:
        """Names with some lets more, each seeing those before it."""
        for let in lets:
            tags = {**names.tags, let.name: f"{let.name}@{at}"} if at else names.tags
            names = Names({**names.lets, let.name: (let.node, names)}, tags, names.type_of)
        return names

    def _loop(self, each: ir.ForEach, names: Names, types: dict[str, Type]) -> tuple[Names, dict[str, Type]]:
        over = names.type_of(each.over)
        made = {name: kind for name, kind in types.items() if name != each.item}
        if over is not None and over.kind is Kind.LIST and over.element is not None:
            made[each.item] = over.element
        # Two rules that go over one list side by side see the same items one after the other.
        where = term_of(each.over, names)
        tags = {**names.tags, each.item: where}
        if each.index is not None:
            tags[each.index] = f"number in {where}"
        lets = {name: let for name, let in names.lets.items() if name not in (each.item, each.index)}
        return Names(lets, tags, _typing(made)), made


def _typing(names: Mapping[str, Type]) -> Callable[[Node], Type | None]:
    def type_of(node: Node) -> Type | None:
        match node:
            case ast.Field(name):
                return names.get(name)
            case ast.Subexpression(left, ast.Field(name)):
                before = type_of(left)
                if before is None:
                    return None
                member = before.member(name)
                if member is None:
                    return None
                return member.type.or_null() if before.nullable else member.type
            case ast.IndexExpression(left, ast.Index()):
                before = type_of(left)
                return None if before is None or before.element is None else before.element.or_null()
            case _:
                return None

    return type_of
