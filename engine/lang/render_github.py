"""Findings as GitHub workflow commands, which a workflow run shows beside the lines of a pull request.

Returns text; what a line may hold is escaped as GitHub's runner wants it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.lang.codes import CODES, Severity
from engine.lang.diagnostics import Diagnostic

# Source: GitHub Actions, "Workflow commands": error, warning and notice; actions/toolkit, command.ts, for the escapes.
_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_IN_DATA: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_PROPERTY: Final = (*_IN_DATA, (":", "%3A"), (",", "%2C"))


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One command a finding, in the order given; empty when there are none."""
    return "".join(f"{_command(found)}\n" for found in diagnostics)


def _command(found: Diagnostic) -> str:
    properties: dict[str, str] = {}
    if found.file:
        properties["file"] = found.file
    if found.place is not None:
        source, span = found.place.source, found.place.span
        start, end = source.position(span.start), source.position(span.end)
        properties |= {"line": str(start.line), "col": str(start.column)}
        properties["endLine"] = str(end.line)
        if end.line == start.line:
            properties["endColumn"] = str(max(end.column, start.column))
    properties["title"] = f"{found.code} {CODES[found.code].title}"
    text = f"{found.message} (help: {found.help})" if found.help else found.message
    listed = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in properties.items())
    return f"::{_COMMANDS[found.severity]} {listed}::{_escaped(text, _IN_DATA)}"


def _escaped(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for character, escape in pairs:
        text = text.replace(character, escape)
    return text
