"""A program that remembers what it was asked: every section, its input, its outcome and what each rule gave.

Answers as the program inside it does. For explanations only: nothing is ever forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.lang.observe import Observer
from engine.lang.outcome import Outcome
from engine.lang.program import Program


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its answer. Shape: `parts` holds what each firing rule gave, in firing order."""

    section: str
    maker: str | None
    inputs: Mapping[str, Any]
    outcome: Outcome
    parts: tuple[tuple[str, Any], ...]


class Recording:
    """A program and everything it was asked so far."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._asked: list[Asked] = []

    @property
    def makers(self) -> tuple[str, ...]:
        """Manufacturers with a pack, sorted."""
        return self.program.makers

    def block(self, name: str, maker: str | None = None) -> Any:
        """A block of the linked packs, as plain JSON."""
        return self.program.block(name, maker)

    def evaluate(
        self, section: str, inputs: Mapping[str, Any], maker: str | None = None, *, observer: Observer | None = None
    ) -> Outcome:
        """The program's answer, noted down."""
        parts: list[tuple[str, Any]] = []
        outcome = self.program.evaluate(section, inputs, maker, observer=observer, parts=parts)
        self._asked.append(Asked(section, maker, inputs, outcome, tuple(parts)))
        return outcome

    def message(
        self, section: str, rule_id: str, output: Mapping[str, Any], answer: Mapping[str, Any], maker: str | None = None
    ) -> str | None:
        """The program's late message."""
        return self.program.message(section, rule_id, output, answer, maker)

    def with_derived(self, maker: str, alloc: Mapping[str, Any]) -> dict[str, Any]:
        """The program's copy of an allocation with its lazy values."""
        return self.program.with_derived(maker, alloc)

    def everything(self) -> Iterator[Asked]:
        """Every question in the order asked, whatever came of it."""
        yield from self._asked

    def asked(self, section: str, wanted: Callable[[Asked], bool] | None = None) -> Iterator[Asked]:
        """What a section was asked and gave a value to, the latest first."""
        for each in reversed(self._asked):
            if each.section == section and each.outcome.kind == "value" and (wanted is None or wanted(each)):
                yield each
