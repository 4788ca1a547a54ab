"""Whether conditions can be true together: a small decision procedure over the expressions that `when`s are made of.

Says "cannot" only when it is sure, and "can" whenever it does not know. Knows no rules; names and types are handed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.astjson import to_json
from engine.lang.types import Type
from engine.lang.walk import walk

MOST_CASES: Final = 512
"""Ours: conditions that split into more cases than this count as possible."""

# An order as `<`: whether the sides are swapped, and whether it is the opposite.
_AS_LESS: Final = {">": (True, False), "<=": (True, True), ">=": (False, True)}
_LENGTHS: Final = ("length", "count")


class Names(Struct, frozen=True):
    """What names mean where a condition stands.

    Shape: `lets` the expressions of named ones; `tags` tells apart equal names of different rules (a forEach item, a rule's
    let); `type_of` the type of an expression where it is known.
    """

    lets: Mapping[str, tuple[Node, Names]] = {}
    tags: Mapping[str, str] = {}
    type_of: Callable[[Node], Type | None] = lambda _node: None


class Condition(Struct, frozen=True):
    """An expression that is wanted to be true, or not to be."""

    node: Node
    names: Names
    wanted: bool = True

    def negated(self) -> Condition:
        """The opposite."""
        return Condition(self.node, self.names, not self.wanted)


class _Fact(Struct, frozen=True):
    term: str
    op: str  # eq lt has true
    value: Any
    wanted: bool
    kind: Type | None = None
    is_count: bool = False


class _TooManyError(Exception):
    pass


def can_hold(conditions: Iterable[Condition]) -> bool:
    """Whether some input makes all conditions what they are wanted to be; True when that is not known."""
    try:
        cases: list[tuple[_Fact, ...]] = [()]
        for condition in conditions:
            ways = _cases(condition.node, condition.names, wanted=condition.wanted)
            cases = [(*one, *other) for one in cases for other in ways]
            if len(cases) > MOST_CASES:
                cases = [case for case in cases if _consistent(case)]
                if len(cases) > MOST_CASES:
                    return True
        return any(_consistent(case) for case in cases)
    except _TooManyError:
        return True


def term_of(node: Node, names: Names) -> str:
    """What an expression is called: equal where it is certainly the same value."""
    while isinstance(node, ast.Field) and node.name in names.lets:
        node, names = names.lets[node.name]
    mentioned = sorted({part.name for part in walk(node) if isinstance(part, ast.Field)} & set(names.tags))
    return json.dumps([to_json(node), [names.tags[name] for name in mentioned]], sort_keys=True)


def _cases(node: Node, names: Names, *, wanted: bool) -> list[tuple[_Fact, ...]]:
    """The ways in which an expression is true (or false), each a list of facts."""
    while isinstance(node, ast.Field) and node.name in names.lets:
        node, names = names.lets[node.name]
    match node:
        case ast.Literal(value):
            return [()] if (value is True) is wanted else []
        case ast.Not(operand) | ast.Call("not", (operand,)):
            return _cases(operand, names, wanted=not wanted)
        case ast.And(left, right):
            return _both(left, right, names, wanted=True) if wanted else _either(left, right, names, wanted=False)
        case ast.Or(left, right):
            return _either(left, right, names, wanted=True) if wanted else _both(left, right, names, wanted=False)
        case ast.Call("if", (condition, then, otherwise)):
            yes = _product(_cases(condition, names, wanted=True), _cases(then, names, wanted=wanted))
            no = _product(_cases(condition, names, wanted=False), _cases(otherwise, names, wanted=wanted))
            return yes + no
        case _:
            return [(_fact(node, names, wanted=wanted),)]


def _both(left: Node, right: Node, names: Names, *, wanted: bool) -> list[tuple[_Fact, ...]]:
    return _product(_cases(left, names, wanted=wanted), _cases(right, names, wanted=wanted))


def _either(left: Node, right: Node, names: Names, *, wanted: bool) -> list[tuple[_Fact, ...]]:
    return _cases(left, names, wanted=wanted) + _cases(right, names, wanted=wanted)


def _product(one: list[tuple[_Fact, ...]], other: list[tuple[_Fact, ...]]) -> list[tuple[_Fact, ...]]:
    if len(one) * len(other) > MOST_CASES:
        raise _TooManyError
    return [(*first, *second) for first in one for second in other]


def _fact(node: Node, names: Names, *, wanted: bool) -> _Fact:
    match node:
        case ast.Call("has", (argument,)):
            return _Fact(term_of(argument, names), "has", None, wanted)
        case ast.Comparator(op, left, right):
            return _comparison(op, left, right, names, wanted=wanted)
        case _:
            return _Fact(term_of(node, names), "true", None, wanted)


def _comparison(op: str, left: Node, right: Node, names: Names, *, wanted: bool) -> _Fact:
    if isinstance(left, ast.Literal) and not isinstance(right, ast.Literal):
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
        op, left, right = mirrored.get(op, op), right, left
    if op == "!=":
        op, wanted = "==", not wanted
    if not isinstance(right, ast.Literal) and op in _AS_LESS:
        swap, wanted = _AS_LESS[op][0], wanted is not _AS_LESS[op][1]
        op, left, right = "<", *((right, left) if swap else (left, right))
    whole = ast.Comparator(op, left, right)
    if not isinstance(right, ast.Literal) or isinstance(right.value, list | dict):
        return _Fact(term_of(whole, names), "true", None, wanted)
    term, value = term_of(left, names), right.value
    is_count = isinstance(left, ast.Call) and left.name in _LENGTHS
    if op == "==":
        if value is None:
            return _Fact(term, "has", None, not wanted)
        return _Fact(term, "eq", value, wanted, names.type_of(_meant(left, names)), is_count)
    if not isinstance(value, int) or isinstance(value, bool):
        return _Fact(term_of(whole, names), "true", None, wanted)
    if op in (">", ">="):
        # x > n is not x < n + 1; x >= n is not x < n.
        return _Fact(term, "lt", value + (op == ">"), not wanted, None, is_count)
    return _Fact(term, "lt", value + (op == "<="), wanted, None, is_count)


def _meant(node: Node, names: Names) -> Node:
    while isinstance(node, ast.Field) and node.name in names.lets:
        node, names = names.lets[node.name]
    return node


def _consistent(facts: tuple[_Fact, ...]) -> bool:
    known: dict[str, _Known] = {}
    for fact in facts:
        known.setdefault(fact.term, _Known()).learn(fact)
    return all(one.is_possible for one in known.values())


class _Known(Struct):
    """What is known of one value."""

    equal: list[Any] = []
    different: list[Any] = []
    low: int | None = None
    high: int | None = None
    present: set[bool] = set()
    truth: set[bool] = set()
    kind: Type | None = None

    def learn(self, fact: _Fact) -> None:
        self.kind = self.kind or fact.kind
        if fact.is_count:
            self.low = max(self.low or 0, 0)
        if fact.op == "has":
            self.present.add(fact.wanted)
        elif fact.op == "true":
            self.truth.add(fact.wanted)
        elif fact.op == "eq":
            (self.equal if fact.wanted else self.different).append(fact.value)
        elif fact.wanted:
            self.high = fact.value - 1 if self.high is None else min(self.high, fact.value - 1)
        else:
            self.low = fact.value if self.low is None else max(self.low, fact.value)

    @property
    def is_possible(self) -> bool:
        """Whether some value has all these properties."""
        if len(self.present) > 1 or len(self.truth) > 1:
            return False
        if self.equal:
            return self._fits(self.equal[0]) and all(_same(value, self.equal[0]) for value in self.equal)
        if self.low is not None and self.high is not None and self._no_number(self.low, self.high):
            return False
        return not self._no_choice()

    def _fits(self, value: Any) -> bool:
        if False in self.present or any(_same(value, other) for other in self.different):
            return False
        if isinstance(value, bool) and self.truth and value not in self.truth:
            return False
        if isinstance(value, int) and not isinstance(value, bool):
            return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        return True

    def _no_number(self, low: int, high: int) -> bool:
        excluded = {value for value in self.different if isinstance(value, int)}
        return low > high or (high - low < len(excluded) and all(n in excluded for n in range(low, high + 1)))

    def _no_choice(self) -> bool:
        """Whether every text that may stand there is excluded, and null cannot."""
        kind = self.kind
        if kind is None or not kind.choices or (kind.nullable and True not in self.present):
            return False
        return False not in self.present and all(choice in self.different for choice in kind.choices)


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)
