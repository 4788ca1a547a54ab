"""Names that come out too long (RP520): label keys and values over 63 characters, names of objects over 253.

Counts with what is certain: a length that hangs on an input without a bound is not guessed at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from engine.lang import ast, ir
from engine.lang.ast import Node
from engine.lang.diagnostics import Diagnostic, Severity
from engine.lang.lint_logic import Names
from engine.lang.lint_scope import Leaf
from engine.lang.section import Section

if TYPE_CHECKING:
    from engine.lang.lint import LintedPack

MAX_LABEL_CHARS: Final = 63
"""Source: Kubernetes, "Labels and Selectors": the name of a label key and its value."""
MAX_NAME_CHARS: Final = 253
"""Source: Kubernetes, "Object Names and IDs": DNS subdomain names."""

_LABELS: Final = ("labels", "nodeLabels", "typeLabels")
_MAX_INTEGER_CHARS: Final = 17  # -(2**53)
_FIXED: Final = {"fnv64a": 16, "label_value": MAX_LABEL_CHARS, "dns_label": MAX_LABEL_CHARS}
_GIVEN: Final = {"slug": 2, "cpu_slug": 2, "truncate": 1, "truncate_hash": 1, "sha256_hex": 1}
_AS_LONG_AS_GIVEN: Final = ("lower", "upper", "sanitize")

Bounds = tuple[int, int | None]
"""The least and the greatest number of characters; None where there is no bound."""


def check_lengths(one: LintedPack) -> Iterator[Diagnostic]:
    """Names and labels of every section that can be longer than Kubernetes takes."""
    for declared, _, leaves in one.sections():
        for leaf in leaves:
            if isinstance(leaf.rule.emit, ir.Entries):
                for what, path, bounds, limit in _measured(declared, leaf.rule.emit, leaf):
                    least, most = bounds
                    if max(least, most or 0) > limit:
                        yield Diagnostic(
                            "RP520",
                            f"{what} may be {max(least, most or 0)} characters long, and {limit} are allowed",
                            Severity.WARNING,
                            one.place(leaf.rule.id, "emit", *path),
                            help=f"cut it with truncate_hash(x, `{limit}`), which keeps two names apart",
                        )


def bounds_of(node: Node, names: Names) -> Bounds:
    """How long an expression's text can be."""
    while isinstance(node, ast.Field) and node.name in names.lets:
        node, names = names.lets[node.name]
    match node:
        case ast.Literal(value):
            shown = len(str(value))
            return shown, shown
        case ast.Call("concat", parts):
            return _sum(bounds_of(part, names) for part in parts)
        case ast.Call("if", (_, then, otherwise)):
            return _either(bounds_of(then, names), bounds_of(otherwise, names))
        case ast.Call("default", (value, fallback)):
            return _either(bounds_of(value, names), bounds_of(fallback, names))
        case ast.Call("required", (value, _)):
            return bounds_of(value, names)
        case ast.Call(name, arguments):
            return _call(name, arguments, names)
        case _:
            kind = names.type_of(node)
            if kind is not None and kind.choices:
                lengths = [len(choice) for choice in kind.choices]
                return min(lengths), max(lengths)
            return (1, _MAX_INTEGER_CHARS) if kind is not None and kind.kind == "int" else (0, None)


def _call(name: str, arguments: tuple[Node, ...], names: Names) -> Bounds:
    if name in _FIXED:
        return 0, _FIXED[name]
    if name in _AS_LONG_AS_GIVEN and arguments:
        return 0, bounds_of(arguments[0], names)[1]
    at = _GIVEN.get(name)
    limit = arguments[at] if at is not None and at < len(arguments) else None
    if isinstance(limit, ast.Literal) and isinstance(limit.value, int) and limit.value > 0:
        return 0, limit.value
    return 0, None


def _measured(declared: Section, emit: ir.Entries, leaf: Leaf) -> Iterator[tuple[str, tuple[str, ...], Bounds, int]]:
    is_map = declared.owns and declared.emit.startswith("map<str>")
    for entry in emit.entries:
        if is_map:
            yield from _label(entry, (), leaf)
        elif entry.key in _LABELS and isinstance(entry.value, ir.Entries):
            for label in entry.value.entries:
                yield from _label(label, (str(entry.key),), leaf)
        elif entry.key == "name" and declared.owns:
            yield "the name", ("name",), _value(entry.value, leaf), MAX_NAME_CHARS


def _label(entry: ir.Entry, path: tuple[str, ...], leaf: Leaf) -> Iterator[tuple[str, tuple[str, ...], Bounds, int]]:
    here = (*path, entry.written)
    yield f"the label `{entry.written}`", here, _after_slash(entry.key, leaf), MAX_LABEL_CHARS
    yield f"the value of `{entry.written}`", here, _value(entry.value, leaf), MAX_LABEL_CHARS


def _after_slash(key: str | ir.Text, leaf: Leaf) -> Bounds:
    """The bounds of a key's name, without its prefix; nothing is certain where the prefix is computed."""
    parts: list[str | Node] = [key] if isinstance(key, str) else list(key.parts)
    for number in reversed(range(len(parts))):
        part = parts[number]
        if isinstance(part, str) and "/" in part:
            return _parts([part.rsplit("/", 1)[1], *parts[number + 1 :]], leaf)
    return _parts(parts, leaf) if isinstance(key, str) else (0, None)


def _value(emit: ir.Emit, leaf: Leaf) -> Bounds:
    match emit:
        case ir.Constant(value):
            return len(str(value)), len(str(value))
        case ir.Computed(node):
            return bounds_of(node, leaf.names)
        case ir.Text(parts):
            return _parts(list(parts), leaf)
        case _:
            return 0, None


def _parts(parts: list[str | Node], leaf: Leaf) -> Bounds:
    return _sum((len(part), len(part)) if isinstance(part, str) else bounds_of(part, leaf.names) for part in parts)


def _sum(parts: Iterator[Bounds]) -> Bounds:
    least, most = 0, 0
    bounded = True
    for low, high in parts:
        least += low
        most += high or 0
        bounded = bounded and high is not None
    return least, most if bounded else None


def _either(one: Bounds, other: Bounds) -> Bounds:
    most = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return min(one[0], other[0]), most
