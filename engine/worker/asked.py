"""A program that counts what it is asked: by section, and by what the answer was.

Answers are the program's. Kept answers are not asked for again and not counted again.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.chain.node import NodeProgram
from engine.lang.outcome import Outcome

Answers = Counter[tuple[str, str]]
"""How often, by section and kind of outcome."""


class CountedProgram:
    """Cost: two dictionary look-ups an evaluation, which takes a hundred times as long."""

    def __init__(self, program: NodeProgram, answers: Answers) -> None:
        self.program = program
        self._answers = answers

    @property
    def makers(self) -> tuple[str, ...]:
        return self.program.makers

    @property
    def digest(self) -> str:
        """The program's; empty for one that has none."""
        return str(getattr(self.program, "digest", ""))

    def block(self, name: str, maker: str | None = None) -> Any:
        return self.program.block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        outcome = self.program.evaluate(section, inputs, maker)
        self._answers[section, outcome.kind] += 1
        return outcome


def inner(program: NodeProgram) -> NodeProgram:
    """The program itself, counted or not."""
    return program.program if isinstance(program, CountedProgram) else program
