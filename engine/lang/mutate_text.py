"""Operators on one expression or one text: each small change that a test should notice.

Edits text and knows nothing of rules: which scalars hold expressions is `mutate_rules`' business. The operators are described
in `docs/mutation-testing.md`; a test holds that page to the list here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engine.lang import ast
from engine.lang.ast import Node
from engine.lang.parser import ExpressionSyntaxError, parse
from engine.lang.template import Hole, TemplateError, parse_template
from engine.lang.walk import walk

MARK: Final = "~"
"""What a mutant adds to a text: no identifier, path or name of ours holds it."""

OPERATORS: Final = {
    "number": "a number one larger, and one smaller",
    "text": "a text with `~` behind it; where only some texts may stand, another of them",
    "boolean": "`true` for `false` and the other way round",
    "comparison": "a comparison turned round (`==` to `!=`, `<` to `>=`), and its bound moved (`<` to `<=`)",
    "logic": "`&&` for `||` and the other way round",
    "operand": "one side of `&&` or `||` alone",
    "negation": "`not(x)` without the `not`",
    "choice": "`if(c, a, b)` as always `a`, and as always `b`",
    "fallback": "`default(x, y)` as always `y`",
    "position": "`x[n]` one further on",
    "condition": "a `when` that is always true, and one turned round",
    "key": "a key of what a rule emits left out",
    "item": "an item of a list a rule emits left out",
    "rule": "a rule or a group of rules left out",
}
"""Name and meaning of every operator."""

_TURNED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MOVED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# The text of `required` is a reason that only a failing evaluation shows.
_REASONS: Final = ("required",)


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change of a text. `start` and `end` are character offsets into it."""

    operator: str
    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """The text after the change."""
        return text[: self.start] + self.new + text[self.end :]


def expression_edits(text: str, offset: int = 0) -> Iterator[TextEdit]:
    """Every change of an expression; `offset` is where it starts in the text the edits are for."""
    try:
        root = parse(text)
    except ExpressionSyntaxError:
        return
    silent = {id(part) for node in walk(root) for part in _unmutated(node)}
    against = dict(pair for node in walk(root) for pair in _compared_fallbacks(node))
    for node in walk(root):
        if id(node) in silent:
            continue
        for edit in _edits(node, text):
            if id(node) not in against or edit.new == against[id(node)]:
                yield TextEdit(edit.operator, edit.start + offset, edit.end + offset, edit.new)


def template_edits(text: str) -> Iterator[TextEdit]:
    """Every change of the expressions in a text with `$(…)` in it."""
    try:
        parts = parse_template(text).parts
    except TemplateError:
        return
    for part in parts:
        if isinstance(part, Hole):
            yield from expression_edits(part.text, part.start)


def is_one_hole(text: str) -> bool:
    """Whether a text is one `$(…)` and nothing else, so that text added to it would change its type."""
    try:
        return parse_template(text).alone is not None
    except TemplateError:
        return False


def literal_edits(value: object, written: str, choices: Iterable[str]) -> Iterator[TextEdit]:
    """Every change of a value that stands in YAML; `choices` are the only texts allowed there, if only some are."""
    whole = len(written)
    if isinstance(value, bool):
        yield TextEdit("boolean", 0, whole, "false" if value else "true")
    elif isinstance(value, int):
        yield TextEdit("number", 0, whole, str(value + 1))
        yield TextEdit("number", 0, whole, str(value - 1))
    elif isinstance(value, str) and not is_one_hole(value):
        other = next((choice for choice in choices if choice != value), None)
        if other is not None:
            yield TextEdit("text", 0, whole, other)
        else:
            yield TextEdit("text", whole, whole, MARK)


def _unmutated(node: Node) -> Iterable[Node]:
    """Parts that no test can see: a reason."""
    return node.args[1:] if isinstance(node, ast.Call) and node.name in _REASONS else ()


def _compared_fallbacks(node: Node) -> Iterator[tuple[int, str]]:
    """A fallback that is compared with a constant: only becoming that one would make a difference."""
    match node:
        case ast.Comparator("==" | "!=", ast.Call("default", (_, ast.Literal(fallback) as part)), ast.Literal(other)):
            if type(fallback) is type(other) and fallback != other:
                yield id(part), f"`{json.dumps(other)}`"


def _edits(node: Node, text: str) -> Iterator[TextEdit]:
    match node:
        case ast.Literal():
            yield from _literal(node, text)
        case ast.Comparator(op):
            start = text.index(op, node.left.end)
            yield TextEdit("comparison", start, start + len(op), _TURNED[op])
            if op in _MOVED:
                yield TextEdit("comparison", start, start + len(op), _MOVED[op])
        case ast.And() | ast.Or():
            old, new = ("&&", "||") if isinstance(node, ast.And) else ("||", "&&")
            start = text.index(old, node.left.end)
            yield TextEdit("logic", start, start + 2, new)
            yield _alone("operand", node, node.left, text)
            yield _alone("operand", node, node.right, text)
        case ast.Not(operand) | ast.Call("not", (operand,)):
            yield _alone("negation", node, operand, text)
        case ast.Call("if", (_, then, otherwise)):
            yield _alone("choice", node, then, text)
            yield _alone("choice", node, otherwise, text)
        case ast.Call("default", (_, fallback)):
            yield _alone("fallback", node, fallback, text)
        case ast.Index(value):
            yield TextEdit("position", node.start, node.end, f"[{value + 1}]")


def _literal(node: ast.Literal, text: str) -> Iterator[TextEdit]:
    value, written = node.value, text[node.start : node.end]
    if isinstance(value, bool):
        yield TextEdit("boolean", node.start, node.end, f"`{json.dumps(not value)}`")
    elif isinstance(value, int):
        yield TextEdit("number", node.start, node.end, f"`{value + 1}`")
        yield TextEdit("number", node.start, node.end, f"`{value - 1}`")
    elif isinstance(value, str) and written.startswith("'"):
        yield TextEdit("text", node.start, node.end, f"{written[:-1]}{MARK}'")


def _alone(operator: str, node: Node, part: Node, text: str) -> TextEdit:
    return TextEdit(operator, node.start, node.end, f"({text[part.start : part.end]})")
