"""Version ranges as packs write them: `>=1.4 <2`, every comparison has to hold.

Knows semantic versions and nothing of packs. A bare `1.4` is that version exactly; parts that are left out are zero.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from engine.errors import InputError

_VERSION = re.compile(r"([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_COMPARISON = re.compile(r"(>=|<=|>|<|=)?(.+)")

_Identifier = tuple[int, int, str]
Version = tuple[int, int, int, bool, tuple[_Identifier, ...]]
"""Orders as semantic versions do: a pre-release before its release, its numbers before its words."""

_HOLDS: Final[dict[str, Callable[[Version, Version], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class VersionRange(Struct, frozen=True):
    """Comparisons that all have to hold."""

    text: str
    comparisons: tuple[tuple[str, Version], ...]

    def covers(self, version: str) -> bool:
        """Whether a version is in the range. Raises InputError: it is no version."""
        seen = parse_version(version)
        return all(_HOLDS[sign](seen, bound) for sign, bound in self.comparisons)


def parse_version(text: str) -> Version:
    """A version as a value that orders. Raises InputError: it is none."""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise InputError(f"`{text}` is no version", remedy="write it like 1.4.0")
    major, minor, patch, before = found.groups()
    identifiers = tuple(_identifier(part) for part in before.split(".")) if before else ()
    return int(major), int(minor or 0), int(patch or 0), before is None, identifiers


def parse_range(text: str) -> VersionRange:
    """A range. Raises InputError: it is none."""
    made: list[tuple[str, Version]] = []
    for word in text.split():
        found = _COMPARISON.fullmatch(word)
        if found is None or not found.group(2)[0].isdigit():
            raise InputError(f"`{word}` is no comparison of versions", remedy='write it like ">=1.4 <2"')
        made.append((found.group(1) or "=", parse_version(found.group(2))))
    if not made:
        raise InputError("the version range is empty", remedy='write it like ">=1.4 <2", or leave it out')
    return VersionRange(text, tuple(made))


def _identifier(part: str) -> _Identifier:
    return (0, int(part), "") if part.isdecimal() else (1, 0, part)
