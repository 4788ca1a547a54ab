"""Operators on the tree of a section: its rules, conditions, lets and emits, each changed in one place.

Makes trees only. Whether a changed one still loads, and whether a test notices it, is found out elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from engine.lang.mutate_text import TextEdit, expression_edits, literal_edits, template_edits
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, Seq
from engine.lang.tree_edit import Steps, leaf_rules, replaced
from engine.lang.types import Kind, Type

_LONGEST_SHOWN: Final = 60

Choices = Callable[[Steps], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change in one place.

    Shape: `tree` is the changed tree (None when it is gone), of whatever the mutant was made from; `rules` the ids of the
    rules that the change can touch; `lines` where a comment may accept it.
    """

    operator: str
    section: str
    what: str
    place: Place
    lines: tuple[int, ...]
    rules: tuple[str, ...]
    tree: Node | None

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What tells it from all others; one change in a library is the same mutant in every pack that uses it."""
        return (self.place.source.path, self.place.span.start, self.place.span.end, f"{self.operator} {self.what}")


def rule_mutants(section: str, item: Map, choices: Choices) -> Iterator[Mutant]:
    """Every mutant of one item of a section's list of rules, a group with all that is in it."""
    maker = _Maker(section, item, choices)
    yield from maker.rule(item, ())


def let_mutants(section: str, lets: Map) -> Iterator[Mutant]:
    """Every mutant of a map of named expressions; its tree is the changed map."""
    maker = _Maker(section, lets, lambda _steps: ())
    for entry in lets.entries:
        yield from maker.expression(entry.value, (entry.key.text,), entry.key, ())


def choices_of(alternatives: tuple[Type, ...], steps: Steps) -> tuple[str, ...]:
    """The texts that may stand at a path of an emit shape; empty when any may."""
    for one in alternatives:
        here: Type | None = one
        for step in steps:
            here = None if here is None else _inside(here, step)
        if here is not None and here.choices:
            return here.choices
    return ()


def _inside(kind: Type, step: str | int) -> Type | None:
    if kind.kind is Kind.OBJECT and isinstance(step, str):
        member = kind.member(step.removesuffix("?"))
        return None if member is None else member.type
    return kind.element


@dataclass(slots=True)
class _Maker:
    section: str
    root: Map
    choices: Choices

    def rule(self, node: Map, steps: Steps, *, alone: bool = False) -> Iterator[Mutant]:
        """Mutants of one rule or group; one that is `alone` in its group is left out with the group."""
        rules = _ids(node)
        named = node.get("id")
        first = named if isinstance(named, Scalar) else node.entries[0].key
        what = f"rule `{named.text}` left out" if isinstance(named, Scalar) else "the group left out"
        if not alone:
            yield self._made("rule", what, first, first, rules, self._without(steps))
        when = node.entry("when")
        if when is not None and isinstance(when.value, Scalar):
            yield from self._condition(when, (*steps, "when"), rules)
        each = node.get("forEach")
        if isinstance(each, Map) and (over := each.entry("in")) is not None:
            yield from self.expression(over.value, (*steps, "forEach", "in"), over.key, rules)
        lets = node.get("let")
        for entry in lets.entries if isinstance(lets, Map) else ():
            yield from self.expression(entry.value, (*steps, "let", entry.key.text), entry.key, rules)
        emit = node.entry("emit")
        if emit is not None:
            yield from self._emit(emit.value, (*steps, "emit"), (), emit.key, rules)
        message = node.entry("message")
        if message is not None:
            yield from self._message(message, (*steps, "message"), rules)
        inner = node.get("rules")
        items = inner.items if isinstance(inner, Seq) else ()
        for number, item in enumerate(items):
            if isinstance(item, Map):
                yield from self.rule(item, (*steps, "rules", number), alone=len(items) == 1)

    def expression(self, node: Node, steps: Steps, key: Scalar, rules: tuple[str, ...]) -> Iterator[Mutant]:
        """Mutants of a bare expression."""
        if isinstance(node, Scalar) and isinstance(node.value, str):
            for edit in expression_edits(node.text):
                yield self._edited(edit, node, steps, key, rules)

    def _condition(self, entry: Entry, steps: Steps, rules: tuple[str, ...]) -> Iterator[Mutant]:
        node = entry.value
        assert isinstance(node, Scalar)
        yield self._made("condition", "the `when` left out", node, entry.key, rules, self._without(steps))
        turned = _rewritten(node, f"not({node.text})")
        yield self._made("condition", "the `when` turned round", node, entry.key, rules, self._with(steps, turned))
        yield from self.expression(node, steps, entry.key, rules)

    def _message(self, entry: Entry, steps: Steps, rules: tuple[str, ...]) -> Iterator[Mutant]:
        if not isinstance(entry.value, Map):
            yield from self._scalar(entry.value, steps, (), entry.key, rules)
            return
        for one in entry.value.entries:
            yield from self._scalar(one.value, (*steps, one.key.text), (), one.key, rules)

    def _emit(self, node: Node, steps: Steps, path: Steps, key: Scalar, rules: tuple[str, ...]) -> Iterator[Mutant]:
        if isinstance(node, Map):
            for entry in node.entries:
                name = entry.key.text
                gone = self._without((*steps, name))
                yield self._made("key", f"`{name}` left out", entry.key, entry.key, rules, gone)
                yield from self._emit(entry.value, (*steps, name), (*path, name), entry.key, rules)
        elif isinstance(node, Seq):
            for number, item in enumerate(node.items):
                gone = self._without((*steps, number))
                yield self._made("item", f"item {number + 1} left out", item, key, rules, gone)
                yield from self._emit(item, (*steps, number), (*path, number), key, rules)
        else:
            yield from self._scalar(node, steps, path, key, rules)

    def _scalar(self, node: Node, steps: Steps, path: Steps, key: Scalar, rules: tuple[str, ...]) -> Iterator[Mutant]:
        if not isinstance(node, Scalar):
            return
        choices = self.choices(path) if path else ()
        edits = list(literal_edits(node.value, node.text, choices))
        if isinstance(node.value, str):
            edits += template_edits(node.text)
        for edit in edits:
            yield self._edited(edit, node, steps, key, rules)

    # making

    def _edited(self, edit: TextEdit, node: Scalar, steps: Steps, key: Scalar, rules: tuple[str, ...]) -> Mutant:
        changed = self._with(steps, _rewritten(node, edit.applied(node.text)))
        old, new = node.text[edit.start : edit.end], edit.new
        what = (
            f"`{_short(old)}` becomes `{_short(new)}`"
            if old
            else f"`{_short(node.text)}` with `{_short(new)}` behind it"
        )
        place = Place(node.source, node.locate(edit.start, edit.end)) if old else node.place
        lines = (_line(place), _line(node.place), _line(key.place))
        return Mutant(edit.operator, self.section, what, place, lines, rules, changed)

    def _made(
        self, operator: str, what: str, at: Node, key: Scalar, rules: tuple[str, ...], tree: Node | None
    ) -> Mutant:
        return Mutant(operator, self.section, what, at.place, (_line(at.place), _line(key.place)), rules, tree)

    def _with(self, steps: Steps, new: Node) -> Node:
        return replaced(self.root, steps, new)

    def _without(self, steps: Steps) -> Node | None:
        return replaced(self.root, steps, None) if steps else None


def _rewritten(node: Scalar, text: str) -> Scalar:
    value: str | int | bool = text
    if isinstance(node.value, bool):
        value = text == "true"
    elif isinstance(node.value, int):
        value = int(text)
    return replace(node, text=text, value=value)


def _ids(node: Map) -> tuple[str, ...]:
    own = node.get("id")
    if isinstance(own, Scalar):
        return (own.text,)
    return tuple(rule_id.text for _, _, rule_id in leaf_rules(node.get("rules")))


def _line(place: Place) -> int:
    return place.source.position(place.span.start).line


def _short(text: str) -> str:
    one_line = " ".join(text.split()) or text
    return one_line if len(one_line) <= _LONGEST_SHOWN else f"{one_line[: _LONGEST_SHOWN - 1]}…"
