"""How commands print findings: for a person, as JSON, SARIF or GitHub's workflow commands, and the line that sums them up.

Decides no severity; which findings fail a command is said by `fails`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from engine.lang.codes import Severity
from engine.lang.diagnostics import Diagnostic
from engine.lang.render import render_json, render_text

FORMS: Final = ("text", "json", "sarif", "github")
COUNTED: Final = (Severity.ERROR, Severity.WARNING)


def print_findings(found: Sequence[Diagnostic], form: str, head: Sequence[str], **summary: Any) -> None:
    """Print findings and a summary.

    Shape: `head` are the parts of the summary line before the counts of errors and warnings; `summary` what the JSON has
    beside them. SARIF has no room for a summary.
    """
    match form:
        case "json":
            document = render_json(found)
            document["summary"] = {**summary, **{f"{level}s": _count(found, level) for level in COUNTED}}
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        case "sarif":
            from engine.cli.version import number
            from engine.lang.render_sarif import render_sarif

            click.echo(json.dumps(render_sarif(found, version=number()), indent=2, ensure_ascii=False))
        case "github":
            from engine.lang.render_github import render_github

            click.echo(render_github(found), nl=False)
            click.echo(_summary(found, head))
        case _:
            click.echo(render_text(found, colour=wants_colour()), nl=False)
            click.echo(_summary(found, head))


def fails(found: Sequence[Diagnostic], fail_on: str) -> bool:
    """Whether findings reach the severity that makes a command fail."""
    return bool(_count(found, Severity.ERROR) or (fail_on == "warning" and _count(found, Severity.WARNING)))


def counted(number: int, word: str) -> str:
    """`1 pack`, `2 packs`, `2 fixes`."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}{'es' if word.endswith('x') else 's'}"


def wants_colour() -> bool:
    """Whether standard output is a terminal whose owner has not asked for plain text (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _summary(found: Sequence[Diagnostic], head: Sequence[str]) -> str:
    return ", ".join([*head, *(counted(_count(found, level), str(level)) for level in COUNTED)])


def _count(found: Sequence[Diagnostic], level: Severity) -> int:
    return sum(one.severity is level for one in found)
