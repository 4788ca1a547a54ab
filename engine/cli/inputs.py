"""One input document of a command: JSON or YAML, from a file or standard input, as plain values.

YAML goes through the strict reader; what the document is about is not known here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from engine.cli.packs import STDIN, standard_input
from engine.errors import InputError
from engine.lang.reader import read
from engine.lang.render import render_text
from engine.lang.source import Source
from engine.lang.tree import plain
from engine.rulefiles import read_source


def read_input(path: str) -> dict[str, Any]:
    """The object that a file holds.

    Raises: InputError: it cannot be read, or holds something else; YAML findings are printed to standard error.
    """
    source = standard_input() if path == STDIN else read_source(Path(path))
    value = _json(source) if source.data.lstrip()[:1] in (b"{", b"[") else None
    if value is None:
        value = _yaml(source)
    if not isinstance(value, dict):
        raise InputError(f"{source.path} holds no object", remedy='write the input as an object, {"node": {...}}')
    return value


def _json(source: Source) -> Any:
    """The value of a JSON text; None when it is none, since a YAML flow map begins the same way."""
    try:
        return json.loads(source.data, parse_float=_no_fraction, parse_constant=_no_fraction)
    except (ValueError, RecursionError):
        return None


def _no_fraction(text: str) -> Any:
    raise InputError(
        f"{text} is no whole number", why="the rule language has no fractions", remedy="write it as a text"
    )


def _yaml(source: Source) -> Any:
    documents, found = read(source)
    click.echo(render_text(found.sorted()), err=True, nl=False)
    if found.has_errors or not documents:
        raise InputError(f"{source.path} cannot be used", remedy="mend what is reported above, or write it as JSON")
    if len(documents) > 1:
        raise InputError(f"{source.path} holds {len(documents)} documents", remedy="give one input")
    return plain(documents[0].root)
