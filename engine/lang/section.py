"""What a section is: the contract between packs and code, as a declaration.

The language knows sections only through these declarations; what they are about is said where they are declared
(`engine/sections`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.lang.notation import parse_shape, parse_type
from engine.lang.types import Type


class Combine(StrEnum):
    """How the outputs of a section's firing rules become one answer."""

    FIRST = "first"
    MERGE = "merge"
    LIST = "list"
    SUM = "sum"


class Owner(StrEnum):
    """Which kind of pack a section lives in."""

    MANUFACTURER = "Manufacturer"
    DERIVATION = "Derivation"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the catalogue.

    Shape: `input` and `emit` in the notation of `engine.lang.types`; `@name` there is decided by the pack. `must`: one rule
    has to fire, and every field without `?` or default has to be there. `optional`: a pack may leave the section out.
    `runs` holds `N` (node), `W` (worker) or both. `refuses`: the rules of this section carry a `message`, which sees the
    type named here as `answer` ("" when it sees none). `owns`: it emits keys of labels, annotations or resources, so that
    packs say which keys are theirs; `unowned` are emit fields whose keys are none.
    """

    name: str
    owner: Owner
    combine: Combine
    input: str
    emit: str
    help: str
    must: bool = False
    optional: bool = False
    runs: str = "W"
    once_per: str = ""
    settings: bool = False
    message: str | None = None
    owns: bool = False
    unowned: tuple[str, ...] = ()
    memo: bool = True

    def input_type(self, named: Mapping[str, Type]) -> Type:
        """The input with the pack's own types put in."""
        return parse_type("{" + self.input + "}", named)

    def emit_types(self, named: Mapping[str, Type]) -> tuple[Type, ...]:
        """The alternatives of the emit shape."""
        return parse_shape(self.emit, named)


NamedTypes = Callable[[Mapping[str, Any]], Mapping[str, Type]]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All sections, by name, with what a pack's blocks decide about their types.

    Shape: `named_types(blocks)` gives the type behind each `@name`; `derived` the scope (notation) in which each list of a
    pack's `derived` block is written; `constants` what code adds to `const`; `constant_names` all names that a `constants`
    block has to hold, empty where any will do; `vocabulary` is `major.minor`: an agent refuses a program of another major.
    """

    sections: Mapping[str, Section]
    named_types: NamedTypes
    vocabulary: str
    derived: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    constant_names: tuple[str, ...] = ()

    def section(self, name: str) -> Section | None:
        """The section of that name, or None."""
        return self.sections.get(name)
