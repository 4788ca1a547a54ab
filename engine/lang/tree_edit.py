"""Edits of node trees: the same tree with one value set, taken out or put in; every other node keeps its place.

Knows maps, lists and the ids of rules; whether a change is allowed is its caller's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.errors import InputError
from engine.lang.tree import Entry, Map, Node, Scalar, Seq, Style

Steps = tuple[str | int, ...]

_STEP: Final = re.compile(r'"((?:[^"\\]|\\.)+)"|([^."]+)')


def parse_path(text: str) -> tuple[str, ...]:
    """The keys of a path (`emit.env.X`); one with dots in it stands in double quotes (`emit."site.example/rack"`).

    Raises InputError: a step is empty or a quote is not closed.
    """
    steps: list[str] = []
    at = 0
    while True:
        found = _STEP.match(text, at)
        if found is None:
            raise InputError(
                f"`{text}` is no path", remedy='keys joined by dots; a key with dots in it as `emit."a.b/c"`'
            )
        quoted, bare = found.groups()
        steps.append(bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = found.end()
        if at == len(text):
            return tuple(steps)
        if text[at] != ".":
            raise InputError(f"`{text}` is no path", remedy="a dot stands between two keys")
        at += 1


def path_text(steps: Sequence[str | int]) -> str:
    """A path as it is written; list positions as `[n]`."""
    made = ""
    for step in steps:
        if isinstance(step, int):
            made += f"[{step}]"
            continue
        escaped = step.replace("\\", "\\\\").replace('"', '\\"')
        word = f'"{escaped}"' if "." in step or '"' in step else step
        made += f".{word}" if made else word
    return made


def same_key(one: str, other: str) -> bool:
    """Whether two keys are one place: `family?` writes where `family` does."""
    return one.removesuffix("?") == other.removesuffix("?")


def named(text: str, like: Scalar) -> Scalar:
    """A text in the place of another."""
    return Scalar(text, text, Style.PLAIN, like.span, like.source)


def put(node: Node, steps: Sequence[str], value: Node, key: Scalar) -> Node:
    """The tree with `value` at the end of a path of keys; maps on the way are made where there are none.

    Raises InputError: something that is no map stands on the way.
    """
    if not steps:
        return value
    if not isinstance(node, Map):
        raise InputError(f"`{steps[0]}` cannot be set inside a value that is no map")
    first, rest = steps[0], steps[1:]
    made: list[Entry] = []
    found = False
    for entry in node.entries:
        if same_key(entry.key.text, first):
            found = True
            made.append(Entry(named(first, key if not rest else entry.key), put(entry.value, rest, value, key)))
        else:
            made.append(entry)
    if not found:
        made.append(Entry(named(first, key), put(Map((), key.span, key.source), rest, value, key)))
    return Map(tuple(made), node.span, node.source)


def replaced(node: Node, steps: Steps, new: Node | None) -> Node:
    """The tree with another node at the end of a path that exists; without it where `new` is None."""
    step, rest = steps[0], steps[1:]
    if isinstance(node, Seq):
        items = list(node.items)
        assert isinstance(step, int)
        items[step : step + 1] = _changed(items[step], rest, new)
        return Seq(tuple(items), node.span, node.source)
    assert isinstance(node, Map)
    entries: list[Entry] = []
    for entry in node.entries:
        if entry.key.text == step:
            entries.extend(Entry(entry.key, made) for made in _changed(entry.value, rest, new))
        else:
            entries.append(entry)
    return Map(tuple(entries), node.span, node.source)


def inserted(node: Seq, at: int, new: Node) -> Seq:
    """The list with one more item at a position."""
    return Seq((*node.items[:at], new, *node.items[at:]), node.span, node.source)


def leaf_rules(rules: Node | None, steps: Steps = ()) -> Iterator[tuple[Steps, Map, Scalar]]:
    """Path, node and id of every rule under a list of rules and its groups, in the order written."""
    for number, item in enumerate(rules.items if isinstance(rules, Seq) else ()):
        if not isinstance(item, Map):
            continue
        rule_id = item.get("id")
        if isinstance(rule_id, Scalar):
            yield (*steps, number), item, rule_id
        yield from leaf_rules(item.get("rules"), (*steps, number, "rules"))


def _changed(node: Node, rest: Steps, new: Node | None) -> list[Node]:
    if rest:
        return [replaced(node, rest, new)]
    return [] if new is None else [new]
