"""Findings as SARIF 2.1.0, which code scanning services read: one run, one rule a code, one result a finding.

Returns plain data; paths are given as they are in the findings, relative to where the command ran.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from engine.lang.codes import CODES, Code, Severity
from engine.lang.diagnostics import Diagnostic, Related
from engine.lang.source import Place

# Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
VERSION: Final = "2.1.0"
SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
TOOL: Final = "engine"

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(diagnostics: Iterable[Diagnostic], *, version: str) -> dict[str, Any]:
    """The findings in the order given; `version` is the engine's."""
    found = list(diagnostics)
    names = sorted({one.code for one in found})
    driver = {
        "name": TOOL,
        "version": version,
        "rules": [_rule(CODES[name]) for name in names],
    }
    run = {
        "tool": {"driver": driver},
        # Columns are counted in characters, as every other format of ours does.
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, names.index(one.code)) for one in found],
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.name,
        "name": "".join(word.capitalize() for word in code.title.replace("-", " ").split() if word.isalnum())
        or code.name,
        "shortDescription": {"text": code.title},
        "fullDescription": {"text": code.explanation},
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
    }


def _result(found: Diagnostic, index: int) -> dict[str, Any]:
    text = f"{found.message}\n{found.help}" if found.help else found.message
    made: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": text},
    }
    if found.place is not None:
        made["locations"] = [_location(found.place)]
    elif found.path:
        made["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(found.path)}}}]
    if found.related:
        made["relatedLocations"] = [_related(number, other) for number, other in enumerate(found.related)]
    if found.fix is not None and found.place is not None:
        made["fixes"] = [_fix(found)]
    return made


def _related(number: int, other: Related) -> dict[str, Any]:
    return {"id": number, "message": {"text": other.message}, **_location(other.place)}


def _location(place: Place) -> dict[str, Any]:
    start, end = place.source.position(place.span.start), place.source.position(place.span.end)
    region = {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": place.span.start,
        "byteLength": place.span.end - place.span.start,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.source.path)}, "region": region}}


def _fix(found: Diagnostic) -> dict[str, Any]:
    assert found.fix is not None
    replacements = [
        {
            "deletedRegion": {"byteOffset": edit.span.start, "byteLength": edit.span.end - edit.span.start},
            "insertedContent": {"text": edit.text},
        }
        for edit in found.fix.edits
    ]
    change = {"artifactLocation": {"uri": _uri(found.file)}, "replacements": replacements}
    return {"description": {"text": found.help or "apply the fix"}, "artifactChanges": [change]}


def _uri(path: str) -> str:
    """A path as a relative or absolute URI reference."""
    return quote(path.replace("\\", "/"), safe="/:")
