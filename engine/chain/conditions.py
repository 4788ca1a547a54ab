"""What could not be told, left out or found to disagree while a node was planned, and how label sets become one.

Decides nothing about the node: a condition is for people, and names the section, the reason and the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from engine.sections.answer import Answer

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One thing to tell about a node. Shape: `reason` is one CamelCase word, `message` names object, seen and wanted."""

    section: str
    reason: str
    message: str


@dataclass(slots=True)
class Findings:
    """The conditions of one node, in the order they were found, each once."""

    _found: dict[Condition, None] = field(default_factory=dict)

    def add(self, section: str, reason: str, message: str) -> None:
        """Note one."""
        self._found[Condition(section, reason, message)] = None

    def extend(self, conditions: Iterable[Condition]) -> None:
        """Note some that were found before."""
        self._found |= dict.fromkeys(conditions)

    def value(self, answer: Answer[T], about: str) -> T | None:
        """The answer's value; notes that it could not be told."""
        if not answer.told:
            self.add(answer.section, "CouldNotTell", f"{about}: {answer.reason}")
        return answer.value

    def unify(self, section: str, maps: Iterable[Mapping[str, str]]) -> dict[str, str]:
        """One map of all pairs: equal ones unify; of unequal ones neither is kept, and it is noted."""
        united: dict[str, str] = {}
        refused: set[str] = set()
        for each in maps:
            for key, value in each.items():
                if united.setdefault(key, value) != value:
                    self.add(
                        section, "Disagreement", f"{key} would be both {united[key]} and {value}; neither is written"
                    )
                    refused.add(key)
        return {key: value for key, value in united.items() if key not in refused}

    def listed(self) -> tuple[Condition, ...]:
        """All of them."""
        return tuple(self._found)
