"""A stand-in for a Program that holds every caller to the catalogue's types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.lang.outcome import Outcome, OutcomeKind
from engine.lang.types import violations
from engine.sections.catalog import CATALOGUE

NOTHING = Outcome(OutcomeKind.NOTHING)
Rule = Callable[[dict[str, Any]], Any]


def could_not_tell(reason: str) -> Outcome:
    return Outcome(OutcomeKind.UNKNOWN, reason=reason)


class TypedProgram:
    """Sections as functions from inputs to a value, None (nothing) or an Outcome; asserts inputs and outputs fit."""

    def __init__(self, rules: dict[str, Rule], blocks: dict[tuple[str, str | None], Any] | None = None) -> None:
        self.rules = rules
        self.blocks = blocks or {}
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []

    @property
    def makers(self) -> tuple[str, ...]:
        return tuple(sorted({maker for _, maker in self.blocks if maker is not None}))

    def block(self, name: str, maker: str | None = None) -> Any:
        return self.blocks.get((name, maker))

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        declared = CATALOGUE.sections[section]
        seen = dict(inputs)
        assert ("settings" in seen) is declared.settings, f"{section}: settings are given exactly where they are seen"
        seen.pop("settings", None)
        # Slots and extras are the pack's; `any` here.
        assert list(violations(seen, declared.input_type({}))) == []
        self.asked.append((section, inputs, maker))
        rule = self.rules.get(section)
        answer = None if rule is None else rule(inputs)
        if isinstance(answer, Outcome):
            return answer
        if answer is None:
            return NOTHING
        shapes = declared.emit_types({})
        for each in answer if isinstance(answer, list) else [answer]:
            assert any(not list(violations(each, shape)) for shape in shapes), f"{section} answered {each}"
        return Outcome(OutcomeKind.VALUE, answer)
