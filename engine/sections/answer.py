"""The three answers a section may give, typed: a value, nothing, or "could not tell" with a reason.

Knows no section and decides nothing; the wrappers beside the declarations build answers from a Program's outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from engine.lang.outcome import Outcome, OutcomeKind

T = TypeVar("T")


class Evaluator(Protocol):
    """The part of a Program that the wrappers use."""

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        """Evaluates one section; `maker` for sections of manufacturer packs."""

    def block(self, name: str, maker: str | None = None) -> Any:
        """A block of the linked packs, as plain JSON."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A section's answer.

    Shape: `told` is False when it could not tell, and `reason` says why; a told answer without a value is "nothing".
    """

    section: str
    value: T | None = None
    told: bool = True
    reason: str = ""

    @property
    def is_nothing(self) -> bool:
        """It was told, and there is none."""
        return self.told and self.value is None


def unknown(section: str, reason: str) -> Answer[Any]:
    """An answer that could not be told."""
    return Answer(section, None, told=False, reason=reason)


def ask(
    program: Evaluator, section: str, inputs: dict[str, Any], decode: Callable[[Any], T], maker: str | None = None
) -> Answer[T]:
    """Evaluates a section and decodes its value."""
    outcome = program.evaluate(section, inputs, maker)
    if outcome.kind is OutcomeKind.VALUE:
        return Answer(section, decode(outcome.value))
    if outcome.kind is OutcomeKind.NOTHING:
        return Answer(section)
    return unknown(section, outcome.reason)


def texts(value: Mapping[str, str]) -> dict[str, str]:
    """Decodes a map of texts."""
    return dict(value)


def given(**fields: Any) -> dict[str, Any]:
    """An input object without its nulls: an absent field reads as null."""
    return {name: value for name, value in fields.items() if value is not None}
