"""The expressions of a pack on their way from text to tree: parsed, held to the budgets, checked, folded.

Keeps what it met, for the oracle and for read sets. What stands around an expression (rules, emits) is the builders'.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from engine.lang.ast import Node
from engine.lang.check import Scope, check_condition, check_expression
from engine.lang.diagnostics import Diagnostics
from engine.lang.fold import fold
from engine.lang.functions import FUNCTIONS
from engine.lang.limits import MAX_EXPRESSION_CHARS, MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_NODES
from engine.lang.parser import ExpressionSyntaxError, parse
from engine.lang.source import Place
from engine.lang.tree import Scalar
from engine.lang.types import Type
from engine.lang.walk import walk_with_depth

_KEPT_TEXTS: Final = 4096
"""Ours: twice what the shipped packs hold. Overlays and libraries bring the same texts again and again."""


@lru_cache(_KEPT_TEXTS)
def _read(text: str) -> tuple[Node, int, int]:
    """The tree of a text, how many nodes it has and how deep it is. Raises: ExpressionSyntaxError."""
    node = parse(text)
    depths = [depth for _, depth in walk_with_depth(node)]
    return node, len(depths), max(depths)


class Expressions(Struct):
    """Parses, checks and folds the expressions of one pack."""

    diagnostics: Diagnostics
    constants: Mapping[str, Any]
    nodes: list[Node] = []
    texts: list[tuple[str, Node, Place]] = []

    def __call__(
        self, scalar: Scalar, scope: Scope, *, text: str, start: int, nullable: bool = False
    ) -> tuple[Node, Type] | None:
        """The folded tree and type of an expression; None when it has an error, which is then reported."""
        node = self.parse(scalar, text, start)
        if node is None:
            return None

        def locate(first: int, last: int) -> Place:
            return Place(scalar.source, scalar.locate(start + first, start + last))

        mine = Diagnostics()
        made = check_expression(node, scope, where=locate, diagnostics=mine, optional_position=nullable)
        self.diagnostics.extend(mine)
        if mine.has_errors:
            return None
        return self._folded(node), made

    def condition(self, scalar: Scalar, scope: Scope) -> Node | None:
        """A `when`: a boolean, folded."""
        text = scalar.text
        node = self.parse(scalar, text, 0)
        if node is None:
            return None

        def locate(first: int, last: int) -> Place:
            return Place(scalar.source, scalar.locate(first, last))

        mine = Diagnostics()
        check_condition(node, scope, where=locate, diagnostics=mine)
        self.diagnostics.extend(mine)
        return None if mine.has_errors else self._folded(node)

    def parse(self, scalar: Scalar, text: str, start: int) -> Node | None:
        """The tree of an expression within the budgets; None when it has none."""
        place = Place(scalar.source, scalar.locate(start, start + len(text)))
        if len(text) > MAX_EXPRESSION_CHARS:
            self._budget(place, f"an expression of {len(text)} characters", MAX_EXPRESSION_CHARS)
            return None
        try:
            node, size, depth = _read(text)
        except ExpressionSyntaxError as error:
            where = Place(scalar.source, scalar.locate(start + error.start, start + max(error.end, error.start + 1)))
            self.diagnostics.error("RP301", error.message, where, help=error.help)
            return None
        self.texts.append((text, node, place))
        if size > MAX_EXPRESSION_NODES:
            self._budget(place, f"an expression of {size} nodes", MAX_EXPRESSION_NODES)
            return None
        if depth > MAX_EXPRESSION_DEPTH:
            self._budget(place, f"an expression {depth} levels deep", MAX_EXPRESSION_DEPTH)
            return None
        return node

    def _folded(self, node: Node) -> Node:
        made = fold(node, self.constants, FUNCTIONS)
        self.nodes.append(made)
        return made

    def _budget(self, place: Place, what: str, limit: int) -> None:
        self.diagnostics.error("RP810", f"{what}; the limit is {limit}", place, help="split it with `let`")
