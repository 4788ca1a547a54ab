"""Version texts read as numbers where they are numbers: `580.159.03`, `13.0`, `24.1.rc2`.

This is an order for driver and library versions, not semantic versioning: there are no ranges and no build metadata.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from engine.errors import EvaluationError

_LEADING_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_RUN = re.compile(r"[0-9]+|[A-Za-z]+", re.ASCII)
_MISSING = (1, 0, "")


def version_part(text: str, index: int) -> int:
    """One dot-separated part as a number: part 0 of `580.159.03` is 580, part 2 is 3.

    Units: digits that lead the part count (`2-beta` is 2); a part that a shorter spelling leaves out is 0, because `9`
    and `9.0` are one version.
    Raises: EvaluationError: the text is empty, the part does not begin with a digit, or `index` is negative.
    """
    parts = text.strip().removeprefix("v").split(".")
    if index < 0 or not parts[0]:
        raise EvaluationError(
            f"{text!r} has no version part {index}", remedy="count parts from 0 in a version like 13.0"
        )
    if index >= len(parts):
        return 0
    digits = _LEADING_DIGITS.match(parts[index])
    if digits is None:
        raise EvaluationError(
            f"part {index} of version {text!r} is {parts[index]!r}",
            why="it does not begin with a digit",
            remedy="test the version's form first, or compare with version_cmp()",
        )
    return int(digits.group())


def version_cmp(left: str, right: str) -> int:
    """-1, 0 or 1: numbers compare as numbers, words as words, a word comes before any number.

    Shape: `24.1.rc2` is before `24.1` (a release follows its candidates); `9`, `9.0` and `v9` are equal; case does not
    matter. Separators only separate.
    """
    for one, other in zip_longest(_order(left), _order(right), fillvalue=_MISSING):
        if one != other:
            return -1 if one < other else 1
    return 0


def _order(text: str) -> list[tuple[int, int, str]]:
    runs = _RUN.findall(text.strip().removeprefix("v"))
    return [(1, int(run), "") if run.isdigit() else (0, 0, run.lower()) for run in runs]
