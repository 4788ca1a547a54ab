"""The compiled form of sections: what a pack is once it has been read, checked and linked.

Frozen values only; `engine.lang.program` turns them into canonical JSON and back, `engine.lang.evaluate` into closures.
Nothing here keeps YAML, positions or comments: `at` is the `file:line` that explanations print.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.lang.ast import Node
from engine.lang.section import Combine


class Constant(Struct, frozen=True):
    """A value a person wrote."""

    value: Any


class Computed(Struct, frozen=True):
    """A template that is one expression: keeps its type, printed as text where `as_text`."""

    node: Node
    as_text: bool = False


class Text(Struct, frozen=True):
    """A template with text around its expressions: every part is text or an integer."""

    parts: tuple[str | Node, ...]


class Items(Struct, frozen=True):
    """A list."""

    items: tuple[Emit, ...]


class Entry(Struct, frozen=True):
    """One key of an object; `optional` (written `key?:`) leaves the key out when its value is null.

    Shape: `written` is the key as the pack has it, templates and all, for messages and coverage.
    """

    key: str | Text
    optional: bool
    value: Emit
    written: str = ""


class Entries(Struct, frozen=True):
    """An object."""

    entries: tuple[Entry, ...]


Emit = Constant | Computed | Text | Items | Entries
TextEmit = Constant | Computed | Text


class Let(Struct, frozen=True):
    """A named expression, evaluated at most once and only when used."""

    name: str
    node: Node


class ForEach(Struct, frozen=True):
    """`forEach: {in, as, index?}`."""

    over: Node
    item: str
    index: str | None = None


class Rule(Struct, frozen=True):
    """A leaf: emits, or says that it could not tell. `messages` is keyed by state, `""` when there is one text."""

    id: str
    at: str
    when: Node | None = None
    lets: tuple[Let, ...] = ()
    for_each: ForEach | None = None
    emit: Emit | None = None
    unknown: TextEmit | None = None
    messages: tuple[tuple[str, TextEmit], ...] = ()


class Group(Struct, frozen=True):
    """Rules that share `when`, `let` and `forEach`."""

    rules: tuple[Rule | Group, ...]
    when: Node | None = None
    lets: tuple[Let, ...] = ()
    for_each: ForEach | None = None


class Filler(Struct, frozen=True):
    """Defaults of an emit shape: `defaults` for fields left out, `members` and `element` for what lies deeper."""

    defaults: tuple[tuple[str, Any], ...] = ()
    members: tuple[tuple[str, Filler], ...] = ()
    element: Filler | None = None


class CompiledSection(Struct, frozen=True):
    """One section of one pack.

    Shape: `required` holds, an alternative of the emit shape each, the fields that must be there; `reads` the input paths
    its rules can look at; `message_late` that messages see an answer and are asked for by `Program.message`.
    """

    name: str
    combine: Combine
    must: bool
    lets: tuple[Let, ...]
    rules: tuple[Rule | Group, ...]
    required: tuple[tuple[str, ...], ...] = ()
    filler: Filler | None = None
    reads: tuple[tuple[str, ...], ...] = ()
    has_message: bool = False
    message_late: bool = False
    owns: tuple[str, ...] = ()


def leaves(rules: tuple[Rule | Group, ...]) -> tuple[Rule, ...]:
    """Every rule under the groups, in the order written."""
    found: list[Rule] = []
    for rule in rules:
        if isinstance(rule, Rule):
            found.append(rule)
        else:
            found.extend(leaves(rule.rules))
    return tuple(found)
