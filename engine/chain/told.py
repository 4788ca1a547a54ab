"""From an answer to its value, where the chain cannot go on without one.

Nothing is decided here: who asked keeps what it had and says why.
"""

from __future__ import annotations

from typing import TypeVar

from engine.errors import EvaluationError
from engine.sections.answer import Answer

T = TypeVar("T")


def told(answer: Answer[T]) -> T:
    """The value.

    Raises: EvaluationError: the section could not tell, or no rule fired where one has to.
    """
    if answer.value is None:
        raise EvaluationError(f"section {answer.section} could not tell", why=answer.reason or "no rule fired")
    return answer.value
