"""Regular expressions that cannot run away: a subset of Python's whose matching work is bounded, proved before use.

Refuses rather than rewrites. The subset is what a rule needs to take a product name apart; a pattern outside it is a
fault of the pack, found when the pack is loaded. `pattern_cost` proves the bound.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from engine.errors import EvaluationError
from engine.lang.limits import MAX_PATTERN_BYTES, MAX_PATTERN_SUBJECT_BYTES
from engine.lang.pattern_cost import UnsafePatternError, plain_classes, require_bounded

__all__ = ["SafePattern", "UnsafePatternError", "replacement_parts", "safe_pattern"]

_REPLACEMENT: Final = re.compile(r"\\(.?)", re.DOTALL)


class SafePattern(Struct, frozen=True):
    """A compiled pattern of the subset. `groups` is how many it captures."""

    text: str
    groups: int
    _compiled: re.Pattern[str]

    def matches(self, subject: str) -> bool:
        """Whether the pattern is found anywhere; `^` and `$` anchor it."""
        return self._compiled.search(_short_enough(subject)) is not None

    def capture(self, subject: str, group: int) -> str | None:
        """What a group (0: everything) caught; None where the pattern is not found or the group took no part.

        Raises: EvaluationError: there is no such group, or the subject is too long.
        """
        if not 0 <= group <= self.groups:
            raise EvaluationError(
                f"pattern '{self.text}' has no group {group}", remedy=f"count its groups: 0 to {self.groups}"
            )
        found = self._compiled.search(_short_enough(subject))
        return found.group(group) if found else None

    def replace(self, subject: str, replacement: str) -> str:
        r"""Every match replaced; `\1` to `\9` in the replacement are the groups, `\\` a backslash."""
        parts = replacement_parts(replacement, self)
        return self._compiled.sub(lambda found: _filled(parts, found), _short_enough(subject))


@lru_cache(maxsize=1024)
def safe_pattern(text: str) -> SafePattern:
    """Check and compile a pattern.

    Raises: UnsafePatternError: it is not of the subset, or no regular expression at all.
    """
    if len(text.encode("utf-8", "replace")) > MAX_PATTERN_BYTES:
        raise UnsafePatternError(
            f"the pattern is longer than {MAX_PATTERN_BYTES} bytes", remedy="use a table, or two rules"
        )
    require_bounded(text)
    # ASCII: one alphabet for \d, \w and \s, whatever the subject.
    compiled = re.compile(_exact_end(plain_classes(text)), re.ASCII)
    return SafePattern(text, compiled.groups, compiled)


def replacement_parts(replacement: str, pattern: SafePattern) -> tuple[str | int, ...]:
    """A replacement taken apart into texts and group numbers.

    Raises: EvaluationError: a group that the pattern does not have, or a backslash before anything else.
    """
    parts: list[str | int] = []
    at = 0
    for found in _REPLACEMENT.finditer(replacement):
        parts.append(replacement[at : found.start()])
        letter, at = found.group(1), found.end()
        if letter == "\\":
            parts.append("\\")
        elif letter and letter in "123456789" and int(letter) <= pattern.groups:
            parts.append(int(letter))
        else:
            raise EvaluationError(
                f"`{found.group()}` in the replacement '{replacement}' names no group",
                why=f"pattern '{pattern.text}' has {pattern.groups}",
                remedy=r"write \1 to \9 for a group and \\ for a backslash",
            )
    parts.append(replacement[at:])
    return tuple(parts)


def _filled(parts: tuple[str | int, ...], found: re.Match[str]) -> str:
    return "".join(part if isinstance(part, str) else (found.group(part) or "") for part in parts)


def _short_enough(subject: str) -> str:
    if len(subject) > MAX_PATTERN_SUBJECT_BYTES or len(subject.encode("utf-8", "replace")) > MAX_PATTERN_SUBJECT_BYTES:
        raise EvaluationError(
            f"a text of {len(subject)} characters is too long to match",
            why=f"patterns look at {MAX_PATTERN_SUBJECT_BYTES} bytes at most",
            remedy="cut it with truncate() first",
        )
    return subject


def _exact_end(text: str) -> str:
    r"""`$` as `\Z`, outside classes and escapes: alone it would also match before a final newline."""
    made: list[str] = []
    class_start: int | None = None
    escaped = False
    for at, letter in enumerate(text):
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif class_start is None:
            if letter == "[":
                class_start = at + 1 if text[at + 1 : at + 2] == "^" else at
            elif letter == "$":
                made.append(r"\Z")
                continue
        elif letter == "]" and at > class_start + 1:
            class_start = None
        made.append(letter)
    return "".join(made)
