"""Checks of a section's rules against each other: never reached, always or never true, two that give one key.

Sees compiled sections, with constants folded in. Where a rule stands in its file is asked of the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from engine.lang import ast, ir
from engine.lang.diagnostics import Diagnostic, Related, Severity
from engine.lang.lint_logic import Condition, can_hold, term_of
from engine.lang.lint_scope import Leaf
from engine.lang.section import Combine
from engine.lang.source import Place
from engine.lang.walk import walk

PlaceOf = Callable[[str, str], Place | None]
"""Place of a part of a rule: its id, and a key of it (`""` for the rule itself)."""

_Parts = tuple[str, ...]
_HOLE: Final = "\0"


class EmittedKey(Struct, frozen=True):
    """A scalar that a rule gives: the path of its keys, each cut into text and what is computed."""

    path: tuple[_Parts, ...]
    shown: str
    items: frozenset[str]


def check_conditions(section: ir.CompiledSection, leaves: tuple[Leaf, ...], place: PlaceOf) -> Iterator[Diagnostic]:
    """Rules that never fire (RP516), whose `when` is always true (RP517), or that a rule before them shuts out (RP512)."""
    before: list[Leaf] = []
    for leaf in leaves:
        rule = leaf.rule
        where = place(rule.id, "when") or place(rule.id, "")
        if leaf.conditions and not can_hold(leaf.conditions):
            yield _error(
                "RP516",
                f"rule `{rule.id}` can never fire: its conditions cannot hold together",
                where,
                "remove the rule",
            )
            continue
        if leaf.own and not can_hold([*leaf.outer, leaf.own[0].negated()]):
            yield Diagnostic(
                "RP517",
                f"the `when` of rule `{rule.id}` is always true",
                Severity.WARNING,
                where,
                help="leave it out, or say what was meant",
            )
        if section.combine is not Combine.FIRST:
            continue
        if before and not _reachable(leaf, before):
            names = ", ".join(f"`{one.rule.id}`" for one in before)
            yield _error(
                "RP512",
                f"rule `{rule.id}` can never fire: whenever its condition holds, one of {names} fires first",
                where,
                "move it before them, or remove it",
            )
        if not leaf.loops:
            before.append(leaf)


def check_keys(section: ir.CompiledSection, leaves: tuple[Leaf, ...], place: PlaceOf) -> Iterator[Diagnostic]:
    """Scalars that two rules of a merged section can both give (RP513)."""
    if section.combine is not Combine.MERGE:
        return
    emitted = [(leaf, list(_keys(leaf))) for leaf in leaves]
    for number, (leaf, keys) in enumerate(emitted):
        for other, others in emitted[:number]:
            clash = _clash(leaf, keys, other, others)
            if clash is not None:
                first = place(other.rule.id, "")
                yield _error(
                    "RP513",
                    f"rules `{other.rule.id}` and `{leaf.rule.id}` can both give `{clash}`",
                    place(leaf.rule.id, "emit"),
                    "let their conditions exclude each other, or give it in one rule",
                    related=() if first is None else (Related("the other rule", first),),
                )


def _reachable(leaf: Leaf, before: list[Leaf]) -> bool:
    conditions = list(leaf.conditions)
    splits: list[Condition] = []
    for one in before:
        if not one.conditions:
            return False
        whole = one.conditions[0]
        node = whole.node
        for condition in one.conditions[1:]:
            node = ast.And(node, condition.node)
        splits.append(Condition(node, one.conditions[-1].names, wanted=False))
    return can_hold([*conditions, *splits])


def _mentions(node: ast.Node, leaf: Leaf, wanted: set[str]) -> bool:
    index = {leaf.rule.for_each.index} if leaf.rule.for_each is not None and leaf.rule.for_each.index else set()
    waiting, seen = [node], set()
    while waiting:
        for part in walk(waiting.pop()):
            if isinstance(part, ast.Field) and part.name not in seen:
                if part.name in wanted | index:
                    return True
                seen.add(part.name)
                if part.name in leaf.names.lets:
                    waiting.append(leaf.names.lets[part.name][0])
    return False


def _clash(leaf: Leaf, keys: list[EmittedKey], other: Leaf, others: list[EmittedKey]) -> str | None:
    for one in keys:
        if not any(_may_be_one(one, two) for two in others):
            continue
        # A key that tells items apart meets its double for one and the same item only; else any two items will do.
        conditions = [*leaf.conditions, *other.conditions] if one.items else [*_constant(leaf), *_constant(other)]
        if can_hold(conditions):
            return one.shown
    return None


def _constant(leaf: Leaf) -> list[Condition]:
    """The conditions that do not look at an item."""
    loops = set(leaf.loops)
    return [one for one in leaf.conditions if not loops or not _mentions(one.node, leaf, loops)]


def _may_be_one(one: EmittedKey, other: EmittedKey) -> bool:
    return len(one.path) == len(other.path) and all(map(_overlap, one.path, other.path))


def _overlap(one: _Parts, other: _Parts) -> bool:
    """Whether two keys can come out equal: by what is written, or because the same is computed in both."""
    if one == other:
        return True
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    texts = [part for part in (*one, *other) if not part.startswith(_HOLE)]
    if not any(part.startswith(_HOLE) for part in (*one, *other)):
        return "".join(one) == "".join(other)
    # Two computed keys without a word in common are not known to be the same.
    if not texts or not (one and other):
        return False
    first, second = _ends(one), _ends(other)
    starts = first[0].startswith(second[0]) or second[0].startswith(first[0])
    ends = first[1].endswith(second[1]) or second[1].endswith(first[1])
    return starts and ends and any(first) and any(second)


def _ends(parts: _Parts) -> tuple[str, str]:
    """What a key certainly starts and ends with."""
    first = "" if parts[0].startswith(_HOLE) else parts[0]
    last = "" if parts[-1].startswith(_HOLE) else parts[-1]
    return first, last


def _keys(leaf: Leaf) -> Iterator[EmittedKey]:
    if leaf.rule.emit is not None:
        yield from _scalars(leaf.rule.emit, (), (), frozenset(), leaf)


def _scalars(
    emit: ir.Emit, path: tuple[_Parts, ...], shown: tuple[str, ...], items: frozenset[str], leaf: Leaf
) -> Iterator[EmittedKey]:
    match emit:
        case ir.Entries(entries):
            for entry in entries:
                parts, seen = _key_parts(entry.key, leaf)
                name = entry.key if isinstance(entry.key, str) else entry.written
                yield from _scalars(entry.value, (*path, parts), (*shown, name), items | seen, leaf)
        case ir.Items():
            return
        case _:
            yield EmittedKey(path, ".".join(shown), items)


def _key_parts(key: str | ir.Text, leaf: Leaf) -> tuple[_Parts, frozenset[str]]:
    if isinstance(key, str):
        return (key,), frozenset()
    parts: list[str] = []
    seen: set[str] = set()
    loops = set(leaf.loops)
    for part in key.parts:
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append(_HOLE + term_of(part, leaf.names))
            if _mentions(part, leaf, loops):
                seen |= loops
    return tuple(parts), frozenset(seen)


def _error(code: str, message: str, place: Place | None, remedy: str, related: tuple[Related, ...] = ()) -> Diagnostic:
    return Diagnostic(code, message, Severity.ERROR, place, help=remedy, related=related)
