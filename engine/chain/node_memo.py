"""Answers kept between nodes: nodes of one kind ask the same questions.

Knows no section. An answer is kept under everything that its section can see, so that it never has to be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

T = TypeVar("T")

MAX_ANSWERS: Final = 65_536
"""Chosen: far above what ten thousand nodes of a hundred kinds ask; bounds a cluster in which every node is unlike."""


class Answers:
    """Answers by question; forgets all of them when it grows too large."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[Hashable, object] = {}

    def get(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The kept answer to a question, or the one that `answer` gives now."""
        kept = self._kept.get(question)
        if kept is None:
            if len(self._kept) >= MAX_ANSWERS:
                self._kept.clear()
            kept = self._kept[question] = answer()
        return kept  # type: ignore[return-value]  # one question is always answered by one function
