"""What one rule looks at when it gives one field: paths into the section's input.

Follows `let`s to the inputs behind them. Errs towards more: a rule's conditions count for every field it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.lang import ir
from engine.lang.ast import Node
from engine.lang.readset import PRESENCE, Path, read_paths


def reads_of(section: ir.CompiledSection, rule_id: str, field: Sequence[Any]) -> frozenset[Path]:
    """The input paths that a rule of a section looks at for one field of its output; empty for an unknown rule."""
    chain = _way_to(section.rules, rule_id)
    if not chain:
        return frozenset()
    lets = {let.name: let.node for let in section.lets}
    items: dict[str, Node] = {}
    nodes: list[Node] = []
    for each in chain:
        lets |= {let.name: let.node for let in each.lets}
        nodes += [node for node in (each.when, each.for_each.over if each.for_each else None) if node is not None]
        if each.for_each is not None:
            items[each.for_each.item] = each.for_each.over
    rule = chain[-1]
    assert isinstance(rule, ir.Rule)
    nodes += _nodes(_at(rule.emit, field)) if rule.emit is not None else []
    return _inputs(nodes, lets, items, {path[0] for path in section.reads})


def read_value(inputs: Any, path: Path) -> Any:
    """What an input holds at a path; whether it is there where only that was looked at."""
    value = inputs
    for step in path:
        if step == PRESENCE:
            return value is not None
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _inputs(nodes: list[Node], lets: Mapping[str, Node], items: Mapping[str, Node], roots: set[str]) -> frozenset[Path]:
    found: set[Path] = set()
    todo, done = list(nodes), set[str]()
    while todo:
        for path in read_paths(todo.pop(), {*lets, *items, *roots}):
            name = path[0]
            if name in lets or name in items:
                if name not in done:
                    done.add(name)
                    todo.append(lets[name] if name in lets else items[name])
            else:
                found.add(path)
    return frozenset(found)


def _way_to(rules: Sequence[ir.Rule | ir.Group], rule_id: str) -> list[ir.Rule | ir.Group]:
    """The groups around a rule and the rule itself; empty when it is not there."""
    for rule in rules:
        if isinstance(rule, ir.Rule):
            if rule.id == rule_id:
                return [rule]
        elif below := _way_to(rule.rules, rule_id):
            return [rule, *below]
    return []


def _at(emit: ir.Emit, field: Sequence[Any]) -> ir.Emit:
    """The part of an emit that gives a field; the whole of what is left where a key is computed."""
    if not field or not isinstance(emit, ir.Entries):
        return emit
    for entry in emit.entries:
        if entry.key == field[0]:
            return _at(entry.value, field[1:])
    computed = tuple(entry for entry in emit.entries if not isinstance(entry.key, str))
    return ir.Entries(computed) if computed else emit


def _nodes(emit: ir.Emit | ir.Text | str) -> list[Node]:
    return list(_walk(emit))


def _walk(emit: Any) -> Iterator[Node]:
    match emit:
        case ir.Computed(node):
            yield node
        case ir.Text(parts):
            yield from (part for part in parts if not isinstance(part, str))
        case ir.Items(items):
            for item in items:
                yield from _walk(item)
        case ir.Entries(entries):
            for entry in entries:
                yield from _walk(entry.key)
                yield from _walk(entry.value)
        case _:
            return
