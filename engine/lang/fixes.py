"""Applying the fixes that findings carry: byte ranges replaced, checked again, until nothing more can be fixed.

Touches no byte outside a fix's ranges and never writes YAML anew. Checking is the caller's, and so is writing the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from engine.lang.diagnostics import Diagnostic, Edit
from engine.lang.source import Source

MAX_PASSES: Final = 10
"""Ours: a fix may uncover another, and two that undo each other must end. Ten is ESLint's number too."""

Check = Callable[[Sequence[Source]], Iterable[Diagnostic]]


class Fixed(Struct, frozen=True):
    """What fixing came to.

    Shape: `sources` in the order given, those without a fix as they were; `changed` the paths of the others; `applied` the
    number of fixes; `remaining` what is found in the result.
    """

    sources: tuple[Source, ...]
    changed: tuple[str, ...]
    applied: int
    remaining: tuple[Diagnostic, ...]


def fix(sources: Sequence[Source], check: Check) -> Fixed:
    """Apply every fix of what `check` finds in some files, and check again, at most `MAX_PASSES` times.

    Shape: `check` is given all files each time, so that what one says about another is found; paths are unique.
    """
    now = list(sources)
    applied = 0
    found = list(check(now))
    for _ in range(MAX_PASSES):
        mended = [apply_fixes(source, found) for source in now]
        done = sum(count for _, count in mended)
        if not done:
            break
        applied += done
        now = [source for source, _ in mended]
        found = list(check(now))
    changed = tuple(new.path for old, new in zip(sources, now, strict=True) if old.data != new.data)
    return Fixed(tuple(now), changed, applied, tuple(found))


def apply_fixes(source: Source, found: Iterable[Diagnostic]) -> tuple[Source, int]:
    """A file with the fixes of the findings in it, and how many there were; of two that overlap the first is taken."""
    taken: list[Edit] = []
    count = 0
    for one in found:
        if one.fix is None or one.place is None or one.place.source.path != source.path:
            continue
        edits = one.fix.edits
        if edits and not any(_overlap(edit, other) for edit in edits for other in taken):
            taken.extend(edits)
            count += 1
    data = source.data
    for edit in sorted(taken, key=lambda one: one.span, reverse=True):
        data = data[: edit.span.start] + edit.text.encode() + data[edit.span.end :]
    return (Source(source.path, data), count) if count else (source, 0)


def _overlap(one: Edit, other: Edit) -> bool:
    if one.span == other.span:
        return True
    return one.span.start < other.span.end and other.span.start < one.span.end
