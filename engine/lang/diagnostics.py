"""Findings about packs and documents: what is wrong, where, how bad, and what to do about it.

Collects and orders findings. How they are printed is `render.py`'s business; what the codes mean is `codes`'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from engine.errors import ContractError
from engine.lang.codes import CODES, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.lang.source import Place, Span

__all__ = ["Diagnostic", "Diagnostics", "Edit", "Fix", "Related", "Severity", "nearest"]


class Edit(Struct, frozen=True):
    """Replace the bytes of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """A change that is safe to make without asking.

    Shape: edits of the file the diagnostic's place is in, ascending and not overlapping.
    """

    edits: tuple[Edit, ...]

    def apply(self, data: bytes) -> bytes:
        """The bytes after the fix; everything outside the edits stays as it was."""
        for edit in reversed(self.edits):
            data = data[: edit.span.start] + edit.text.encode() + data[edit.span.end :]
        return data


class Related(Struct, frozen=True):
    """Another place that belongs to the story, such as the first of two equal keys."""

    message: str
    place: Place


class Diagnostic(Struct, frozen=True):
    """One finding. `path` is the file it is about when no place in it can be named."""

    code: str
    message: str
    severity: Severity
    place: Place | None = None
    path: str = ""
    help: str = ""
    related: tuple[Related, ...] = ()
    fix: Fix | None = None

    def __post_init__(self) -> None:
        if self.code not in CODES:
            what = f"diagnostic code {self.code} is not in the catalogue"
            raise ContractError(what, remedy="add a row to engine/lang/codes.py")

    @property
    def file(self) -> str:
        """The file the finding is in; empty when it is about none."""
        return self.place.source.path if self.place else self.path


class Diagnostics:
    """What was found so far, in the order it was found. Append-only."""

    __slots__ = ("_found",)

    def __init__(self, found: Iterable[Diagnostic] = ()) -> None:
        self._found = list(found)

    def add(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        *,
        path: str = "",
        help: str = "",  # noqa: A002 - the word people see in the output
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Note one finding; its severity is the catalogue's unless given."""
        level = severity or (CODES[code].severity if code in CODES else Severity.ERROR)
        self._found.append(Diagnostic(code, message, level, place, path, help, related, fix))

    def error(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        *,
        path: str = "",
        help: str = "",  # noqa: A002 - the word people see in the output
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Note one finding as an error, whatever the catalogue's severity."""
        self.add(code, message, place, path=path, help=help, related=related, fix=fix, severity=Severity.ERROR)

    def warning(
        self,
        code: str,
        message: str,
        place: Place | None = None,
        *,
        path: str = "",
        help: str = "",  # noqa: A002 - the word people see in the output
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Note one finding as a warning, whatever the catalogue's severity."""
        self.add(code, message, place, path=path, help=help, related=related, fix=fix, severity=Severity.WARNING)

    def append(self, diagnostic: Diagnostic) -> None:
        """Note one finding that exists already."""
        self._found.append(diagnostic)

    def extend(self, found: Iterable[Diagnostic]) -> None:
        """Note several findings that exist already."""
        self._found.extend(found)

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(found.severity is Severity.ERROR for found in self._found)

    def covers(self, place: Place) -> bool:
        """Whether an error is already reported inside this place or around it: a second one would be noise."""
        return any(
            found.severity is Severity.ERROR
            and found.place is not None
            and found.place.source is place.source
            and _touches(found.place.span, place.span)
            for found in self._found
        )

    def sorted(self) -> list[Diagnostic]:
        """By file, then place, then code; findings about no place of a file come before those in it."""
        return sorted(self._found, key=_order)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Diagnostics({self._found!r})"


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate a misspelt word most likely means; None when none is near."""
    known = sorted(candidates)
    plain = _bare(word)
    for candidate in known:
        if _bare(candidate) == plain:
            return candidate
    import difflib  # rarely needed, and half of what this module's users would wait for

    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else None


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def _touches(one: Span, other: Span) -> bool:
    inside = other.start <= one.start and one.end <= other.end
    around = one.start <= other.start and other.end <= one.end
    return inside or around


def _order(found: Diagnostic) -> tuple[str, int, int, str, str]:
    span = found.place.span if found.place else None
    return (found.file, span.start if span else -1, span.end if span else -1, found.code, found.message)
