"""The shipped program, some of whose sections answer otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.lang.outcome import Outcome, OutcomeKind
from tests.unit.features.world import program


class Replaced:
    """Sections by name, with `_` for `-`."""

    def __init__(self, **sections: Callable[[], Outcome]) -> None:
        self._sections = {name.replace("_", "-"): answer for name, answer in sections.items()}

    @property
    def makers(self) -> tuple[str, ...]:
        return program().makers

    def block(self, name: str, maker: str | None = None) -> Any:
        return program().block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        answer = self._sections.get(section)
        return answer() if answer else program().evaluate(section, inputs, maker)


def unknown() -> Outcome:
    """Could not tell."""
    return Outcome(OutcomeKind.UNKNOWN, None, (), "a test wanted it so")
