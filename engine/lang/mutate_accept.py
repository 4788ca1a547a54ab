"""Comments that accept a mutant: `# mutant: reason`, at the end of its line or on a line of their own above it.

A survivor is accepted where no input of the section can tell it from the rule as it is; the reason says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engine.lang.diagnostics import Diagnostic, Severity
from engine.lang.mutate_rules import Mutant
from engine.lang.source import Place, Source, Span

_COMMENT: Final = re.compile(rb"(?:^|[ \t])#[ \t]*mutant:?[ \t]*(.*?)[ \t\r]*$")


@dataclass(frozen=True, slots=True)
class _Comment:
    place: Place
    reason: str


class Acceptances:
    """The comments of some files that accept mutants."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._by_line: dict[tuple[str, int], _Comment] = {}
        self._used: set[int] = set()
        for source in sources:
            for line, comment in _comments(source):
                self._by_line[source.path, line] = comment

    def accepts(self, mutant: Mutant) -> bool:
        """Whether a comment with a reason accepts a mutant; noted, so that one which accepts nothing is found."""
        comment = self._of(mutant)
        if comment is None:
            return False
        self._used.add(id(comment))
        return bool(comment.reason)

    def reason(self, mutant: Mutant) -> str:
        """Why it is accepted."""
        comment = self._of(mutant)
        return "" if comment is None else comment.reason

    def faults(self) -> Iterator[Diagnostic]:
        """Comments without a reason, and comments that accept nothing."""
        for comment in self._by_line.values():
            if not comment.reason:
                message, remedy = (
                    "the acceptance of a mutant has no reason",
                    "write `# mutant: why no input can show it`",
                )
            elif id(comment) not in self._used:
                message, remedy = "the comment accepts no surviving mutant", "remove it"
            else:
                continue
            yield Diagnostic("RP711", message, Severity.ERROR, comment.place, help=remedy)

    def _of(self, mutant: Mutant) -> _Comment | None:
        path = mutant.place.source.path
        return next((self._by_line[path, line] for line in mutant.lines if (path, line) in self._by_line), None)


def _comments(source: Source) -> Iterator[tuple[int, _Comment]]:
    """Each comment with the number of the line it is about."""
    waiting: _Comment | None = None
    start = 0
    for number, line in enumerate(source.data.split(b"\n"), start=1):
        found = _COMMENT.search(line)
        stripped = line.strip()
        if found is not None:
            place = Place(source, Span(start + found.start(), start + len(line.rstrip())))
            comment = _Comment(place, found.group(1).decode("utf-8", "replace"))
            if stripped.startswith(b"#"):
                waiting = comment
            else:
                yield number, comment
        elif waiting is not None and stripped and not stripped.startswith(b"#"):
            yield number, waiting
            waiting = None
        start += len(line) + 1
