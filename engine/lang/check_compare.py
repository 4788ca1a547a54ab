"""Comparisons: what may be compared, what can never be equal, and conditions no value meets.

Comparing is JMESPath's own; this only refuses what could not have been meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.check_scope import Context, Path, path_of
from engine.lang.diagnostics import nearest
from engine.lang.types import BOOL, Kind, Type

if TYPE_CHECKING:
    from engine.lang.check_infer import Inference

_RECORDS = (Kind.OBJECT, Kind.MAP)


class Clash(Struct, frozen=True):
    """A part of a condition that cannot be true beside another."""

    message: str
    node: Node


def check_comparator(inference: Inference, node: ast.Comparator, context: Context) -> Type:
    """The type of a comparison: a boolean, unless an order of nulls is let through."""
    left, right = inference.infer(node.left, context), inference.infer(node.right, context)
    if isinstance(node.left, ast.Not):
        inference.error(
            "RP313",
            f"`!a {node.op} b` means `(!a) {node.op} b`",
            node,
            f"write not(a {node.op} b), or not(a) {node.op} b",
        )
        return BOOL
    if Kind.ANY in (left.kind, right.kind):
        return BOOL
    if node.op in ("==", "!="):
        _check_equality(inference, node, left, right)
        return BOOL
    return _check_order(inference, node, left, right)


def contradictions(node: ast.And) -> list[Clash]:
    """Parts of a conjunction that want one path to equal two different literals."""
    wanted: dict[Path, Any] = {}
    found: list[Clash] = []
    for part in _conjuncts(node):
        for path, value in _equalities(part):
            if path in wanted and not _same(wanted[path], value):
                found.append(Clash(f"`{'.'.join(path)}` cannot equal {_shown(wanted[path])} and {_shown(value)}", part))
            wanted.setdefault(path, value)
    return found


def _check_equality(inference: Inference, node: ast.Comparator, left: Type, right: Type) -> None:
    if Kind.NULL in (left.kind, right.kind):
        other = right if left.kind is Kind.NULL else left
        if not other.nullable:
            inference.error("RP410", f"a {other} is never null", node, "drop the comparison")
        return
    if left.kind is not right.kind and not (left.kind in _RECORDS and right.kind in _RECORDS):
        hint = "write the number in backticks, the text in single quotes"
        if {left.kind, right.kind} == {Kind.STR, Kind.INT}:
            hint = "to_string() makes a text of an integer; " + hint
        inference.error("RP410", f"{left.required()} and {right.required()} are never equal", node, hint)
        return
    if left.choices and right.choices and not set(left.choices) & set(right.choices):
        known, written = (left, right) if isinstance(node.right, ast.Literal) else (right, left)
        meant = nearest(written.choices[0], known.choices)
        listed = f"known are {', '.join(known.choices)}"
        inference.error(
            "RP410",
            f"{_shown(written.choices[0])} is never equal to this: {listed}",
            node,
            f"did you mean '{meant}'?" if meant else listed,
        )


def _check_order(inference: Inference, node: ast.Comparator, left: Type, right: Type) -> Type:
    for side, given in ((node.left, left), (node.right, right)):
        if given.kind not in (Kind.INT, Kind.STR, Kind.NULL):
            inference.error(
                "RP410", f"`{node.op}` orders integers or texts, and this is {given}", side, "compare with =="
            )
            return BOOL
    if Kind.NULL not in (left.kind, right.kind) and left.kind is not right.kind:
        inference.error(
            "RP410",
            f"`{node.op}` between {left.required()} and {right.required()}",
            node,
            "numbers stand in backticks; parse_quantity() and version_part() make integers of texts",
        )
        return BOOL
    for side, given in ((node.left, left), (node.right, right)):
        if given.nullable and not inference.optional:
            inference.error(
                "RP413",
                f"`{node.op}` takes no null, and this may be null",
                side,
                "use default(x, y) or required(x, 'why')",
            )
    nullable = inference.optional and (left.nullable or right.nullable)
    return BOOL.or_null() if nullable else BOOL


def _conjuncts(node: Node) -> list[Node]:
    if isinstance(node, ast.And):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _equalities(node: Node) -> list[tuple[Path, Any]]:
    if not isinstance(node, ast.Comparator) or node.op != "==":
        return []
    for one, other in ((node.left, node.right), (node.right, node.left)):
        path = path_of(one)
        if path is not None and isinstance(other, ast.Literal):
            return [(path, other.value)]
    return []


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else f"`{str(value).lower()}`"
