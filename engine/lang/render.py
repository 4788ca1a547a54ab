"""Findings as text for a terminal and as plain data for machines.

Returns strings and dictionaries; prints nothing, and decides neither order nor exit codes.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from engine.lang.codes import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.lang.diagnostics import Diagnostic
    from engine.lang.source import Place

JSON_VERSION = 1

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_SNIPPET_CHARACTERS = 160  # ours: a line longer than this is shown around its caret only
_LEAD_CHARACTERS = 40


def render_text(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """The findings for a person, in the order given; empty when there are none.

    Shape: `path:line:col-endcol severity[CODE] message`, the line with a caret under the span, `help:`, related places.
    The end column is the one after the last character; a span over several lines is shown on its first.
    """
    return "".join(_text(found, colour=colour) for found in diagnostics)


def render_json(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """The findings as plain data: `{version, diagnostics: [...]}`, absent parts left out."""
    return {"version": JSON_VERSION, "diagnostics": [as_dict(found) for found in diagnostics]}


def as_dict(found: Diagnostic) -> dict[str, Any]:
    """One finding as plain data."""
    entry: dict[str, Any] = {"code": found.code, "severity": str(found.severity), "message": found.message}
    if found.place:
        entry |= _place(found.place)
    elif found.path:
        entry["path"] = found.path
    if found.help:
        entry["help"] = found.help
    if found.related:
        entry["related"] = [{"message": other.message, **_place(other.place)} for other in found.related]
    if found.fix:
        edits = [{"start": e.span.start, "end": e.span.end, "text": e.text} for e in found.fix.edits]
        entry["fix"] = {"edits": edits}
    return entry


def _place(place: Place) -> dict[str, Any]:
    start, end = place.source.position(place.span.start), place.source.position(place.span.end)
    return {
        "path": place.source.path,
        "start": {"line": start.line, "column": start.column, "offset": place.span.start},
        "end": {"line": end.line, "column": end.column, "offset": place.span.end},
    }


def _text(found: Diagnostic, *, colour: bool) -> str:
    where = f"{_where(found.place)} " if found.place else f"{found.path}: " if found.path else ""
    level = f"{found.severity}[{found.code}]"
    if colour:
        level = f"\x1b[1;{_COLOURS[found.severity]}m{level}\x1b[0m"
    lines = [f"{_clean(where)}{level} {_clean(found.message)}"]
    if found.place:
        lines += _snippet(found.place)
    if found.help:
        lines.append(f"  help: {_clean(found.help)}")
    lines += [f"  see {_clean(str(other.place))}: {_clean(other.message)}" for other in found.related]
    return "\n".join(lines) + "\n"


def _where(place: Place) -> str:
    line, start, end = _extent(place)
    return f"{place.source.path}:{line}:{start}-{end}"


def _extent(place: Place) -> tuple[int, int, int]:
    """Line, column, end column of the part of a place on its first line."""
    start, end = place.source.position(place.span.start), place.source.position(place.span.end)
    if end.line == start.line:
        return start.line, start.column, max(end.column, start.column)
    return start.line, start.column, max(len(place.source.line_text(start.line)) + 1, start.column)


def _snippet(place: Place) -> list[str]:
    number, start, end = _extent(place)
    line = place.source.line_text(number)
    if not line.strip():
        return []
    first = 0
    if len(line) > _SNIPPET_CHARACTERS:
        first = max(0, start - 1 - _LEAD_CHARACTERS)
        line = line[first : first + _SNIPPET_CHARACTERS]
    before, marked = line[: start - 1 - first], line[start - 1 - first : end - 1 - first]
    padding = "".join("\t" if character == "\t" else " " * _width(character) for character in before)
    carets = "^" * max(1, sum(_width(character) for character in marked))
    gutter = f"{number:>4} | "
    return [f"{gutter}{_clean(line)}", f"{' ' * (len(gutter) - 2)}| {padding}{carets}"]


def _width(character: str) -> int:
    """Columns a terminal gives to a character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _clean(text: str) -> str:
    """Text without what would move the cursor or change colours: packs are not trusted to write to a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
