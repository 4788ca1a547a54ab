"""The changes an overlay asks for, read from its tree, and the place in the pack that each of them touches.

Applies nothing and looks at no pack.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct, field

from engine.errors import InputError
from engine.lang.diagnostics import Diagnostics
from engine.lang.packs import Pack
from engine.lang.tree import Entry, Map, Node, Scalar, Seq
from engine.lang.tree_edit import leaf_rules, parse_path, path_text


class Verb(StrEnum):
    """What a change does."""

    PARAM = "param"
    SET = "set"
    REPLACE = "replace"
    ADD = "add"
    REMOVE = "remove"


class Change(Struct, frozen=True):
    """One change.

    Shape: `key` is what the overlay wrote to say where; `path` the keys inside what is addressed: of a block from its name
    on, of a parameter its name, of a rule inside the rule (empty: the whole rule); `section` and `rule` the address of a
    rule, `rule` empty for an added group; `value` what is put there, None for a removal; `before` and `after` the
    neighbour of an added rule; `owns` the keys it adds to its section's.
    """

    verb: Verb
    key: Scalar
    path: tuple[str, ...] = ()
    section: str = ""
    rule: str = ""
    value: Node | None = None
    before: Scalar | None = None
    after: Scalar | None = None
    owns: tuple[Node, ...] = ()
    adds: tuple[str, ...] = field(default=())

    @property
    def shown(self) -> str:
        """What it touches, in the words of the pack."""
        if self.verb is Verb.PARAM:
            return f"the parameter `{self.path[0]}`"
        if self.verb is Verb.SET:
            return f"`{path_text(self.path)}`"
        rule = f"rule {self.section}/{self.rule or ', '.join(self.adds)}"
        return f"`{path_text(self.path)}` of {rule}" if self.path else rule

    @property
    def touches(self) -> list[tuple[str, ...]]:
        """The places it touches; one that begins with another lies inside it."""
        if self.verb is Verb.PARAM:
            return [("params", *self.path)]
        inside = tuple(step.removesuffix("?") for step in self.path)
        if self.verb is Verb.SET:
            return [inside]
        return [("rule", self.section, name, *inside) for name in self.adds or (self.rule,)]

    def meets(self, other: Change) -> bool:
        """Whether both touch one place, or one touches a place inside the other's."""
        return any(one[: len(two)] == two or two[: len(one)] == one for one in self.touches for two in other.touches)


def changes_of(overlay: Pack, diagnostics: Diagnostics) -> tuple[Change, ...]:
    """The changes in the order they are made: values, added rules, removed ones.

    An added rule may so stand beside one that goes.
    """
    return (
        *_values(overlay, "params", Verb.PARAM, diagnostics),
        *_values(overlay, "set", Verb.SET, diagnostics),
        *_replacements(overlay, diagnostics),
        *_additions(overlay),
        *_removals(overlay),
    )


def _values(overlay: Pack, block: str, verb: Verb, diagnostics: Diagnostics) -> Iterator[Change]:
    entry = overlay.spec.get(block)
    for one in entry.value.entries if entry is not None and isinstance(entry.value, Map) else ():
        path = (one.key.text,) if verb is Verb.PARAM else _path(one, diagnostics)
        if path is not None:
            yield Change(verb, one.key, path, value=one.value)


def _replacements(overlay: Pack, diagnostics: Diagnostics) -> Iterator[Change]:
    for item in _items(overlay, "replace"):
        address, values = item.get("rule"), item.get("set")
        assert isinstance(address, Scalar)  # the model requires both
        assert isinstance(values, Map)
        section, _, rule = address.text.partition("/")
        for one in values.entries:
            path = _path(one, diagnostics)
            if path is not None:
                yield Change(Verb.REPLACE, one.key, path, section, rule, one.value)


def _additions(overlay: Pack) -> Iterator[Change]:
    for item in _items(overlay, "add"):
        section, rule = item.get("section"), item.get("rule")
        assert isinstance(section, Scalar)  # the model requires both
        assert isinstance(rule, Map)
        before, after, owns = item.get("before"), item.get("after"), item.get("owns")
        ids = tuple(rule_id.text for _, _, rule_id in leaf_rules(Seq((rule,), rule.span, rule.source)))
        yield Change(
            Verb.ADD,
            section,
            section=section.text,
            value=rule,
            before=before if isinstance(before, Scalar) else None,
            after=after if isinstance(after, Scalar) else None,
            owns=owns.items if isinstance(owns, Seq) else (),
            adds=ids,
        )


def _removals(overlay: Pack) -> Iterator[Change]:
    entry = overlay.spec.get("remove")
    for item in entry.value.items if entry is not None and isinstance(entry.value, Seq) else ():
        if isinstance(item, Scalar):
            section, _, rule = item.text.partition("/")
            yield Change(Verb.REMOVE, item, (), section, rule)


def _items(overlay: Pack, block: str) -> Iterator[Map]:
    entry = overlay.spec.get(block)
    for item in entry.value.items if entry is not None and isinstance(entry.value, Seq) else ():
        if isinstance(item, Map):
            yield item


def _path(entry: Entry, diagnostics: Diagnostics) -> tuple[str, ...] | None:
    try:
        return parse_path(entry.key.text)
    except InputError as error:
        diagnostics.error("RP204", error.what, entry.key.place, help=error.remedy)
        return None
