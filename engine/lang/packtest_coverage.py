"""Coverage of a pack by its own tests: which rules fired and were silent, which keys and list lengths were seen.

Counts what an evaluation reports and compares it with what the compiled rules could have done. Runs no test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from engine.lang import ir
from engine.lang.ast import Field, Literal, MultiSelectList, Node, Subexpression

MANY: Final = 2
"""From two items on, one more teaches nothing."""


class RuleShape(Struct, frozen=True):
    """What one leaf rule could do.

    Shape: `over` holds, outermost first, the path each `forEach` above it walks (`""` where it is no plain path). A constant
    list has one length, seen whenever the rule fires, and is not among them.
    """

    section: str
    id: str
    at: str
    is_conditional: bool
    over: tuple[str, ...]
    optional_keys: tuple[str, ...]


class Gap(Struct, frozen=True):
    """Something no test showed. `code` is a diagnostic's."""

    code: str
    section: str
    rule: str
    at: str
    message: str


def rule_shapes(section: ir.CompiledSection) -> Iterator[RuleShape]:
    """The leaves of a section, in the order written."""
    yield from _shapes(section.name, section.rules, is_conditional=False, over=())


def _shapes(
    section: str, rules: tuple[ir.Rule | ir.Group, ...], *, is_conditional: bool, over: tuple[str, ...]
) -> Iterator[RuleShape]:
    for rule in rules:
        conditional = is_conditional or rule.when is not None
        walked = (
            over if rule.for_each is None or _is_constant(rule.for_each.over) else (*over, path_of(rule.for_each.over))
        )
        if isinstance(rule, ir.Group):
            yield from _shapes(section, rule.rules, is_conditional=conditional, over=walked)
        else:
            keys = () if rule.emit is None else tuple(dict.fromkeys(optional_paths(rule.emit)))
            yield RuleShape(section, rule.id, rule.at, conditional, walked, keys)


def _is_constant(node: Node) -> bool:
    """Whether linking has left nothing to evaluate: a list as written, or one of literals."""
    return isinstance(node, Literal) or (isinstance(node, MultiSelectList) and all(map(_is_constant, node.items)))


def path_of(node: Node) -> str:
    """The plain path an expression is (`alloc.cards`), or `""`."""
    match node:
        case Field(name):
            return name
        case Subexpression(left, Field(name)):
            before = path_of(left)
            return f"{before}.{name}" if before else ""
        case _:
            return ""


def optional_paths(emit: ir.Emit, path: str = "") -> Iterator[str]:
    """Paths of the `key?` of an emit, as `Observer.optional_key` names them."""
    match emit:
        case ir.Entries(entries):
            for entry in entries:
                name = entry.key if isinstance(entry.key, str) else entry.written
                here = f"{path}.{name}" if path else name
                if entry.optional:
                    yield here
                yield from optional_paths(entry.value, here)
        case ir.Items(items):
            for item in items:
                yield from optional_paths(item, path)
        case _:
            return


class Recorder:
    """An observer that remembers what was seen, for the rules of one pack."""

    def __init__(self) -> None:
        self._fired: set[tuple[str, str]] = set()
        self._silent: set[tuple[str, str]] = set()
        self._lengths: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._keys: dict[tuple[str, str, str], set[bool]] = defaultdict(set)

    def rule_silent(self, section: str, rule_id: str) -> None:
        """Note a rule that stayed silent."""
        self._silent.add((section, rule_id))

    def rule_fired(self, section: str, rule_id: str) -> None:
        """Note a rule that fired."""
        self._fired.add((section, rule_id))

    def items(self, section: str, rule_id: str, count: int) -> None:
        """Note how many items a rule went over."""
        self._lengths[section, rule_id].add(min(count, MANY))

    def optional_key(self, section: str, rule_id: str, path: str, *, present: bool) -> None:
        """Note that a `key?` was there, or was not."""
        self._keys[section, rule_id, path].add(present)

    def gaps(self, sections: Mapping[str, ir.CompiledSection], *, never_empty: frozenset[str]) -> Iterator[Gap]:
        """What no test showed, in the order of the sections and their rules.

        Shape: `never_empty` are lists (by path) that cannot be empty, so that nobody has to show that case.
        """
        for section in sections.values():
            for shape in rule_shapes(section):
                yield from self._rule_gaps(shape, never_empty)

    def _rule_gaps(self, shape: RuleShape, never_empty: frozenset[str]) -> Iterator[Gap]:
        key = (shape.section, shape.id)
        named = f"rule `{shape.id}`"
        if key not in self._fired:
            yield Gap("RP703", shape.section, shape.id, shape.at, f"{named} never fired in any test")
            return
        if shape.is_conditional and key not in self._silent:
            yield Gap("RP704", shape.section, shape.id, shape.at, f"{named} was never silent in any test")
        if shape.over:
            may_be_empty = not all(path in never_empty for path in shape.over)
            for count in range(0 if may_be_empty else 1, MANY + 1):
                if count not in self._lengths[key]:
                    code = "RP703" if count else "RP704"
                    how = ("no item", "one item", "two items")[count]
                    yield Gap(code, shape.section, shape.id, shape.at, f"{named} was never tried with {how}")
        for path in shape.optional_keys:
            for present, code in ((True, "RP703"), (False, "RP704")):
                if present not in self._keys[*key, path]:
                    state = "there" if present else "absent"
                    yield Gap(code, shape.section, shape.id, shape.at, f"{named}: its key `{path}?` was never {state}")
