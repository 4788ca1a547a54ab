"""`--fix`: files mended where findings have a sure fix, written whole or not at all, and a line for every fix.

Which bytes change is the findings'; nothing a person wrote is emitted anew.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from engine.cli.findings import counted
from engine.cli.packs import STDIN_PATH, Chosen, Files, link_files
from engine.errors import InputError
from engine.lang.diagnostics import Diagnostic
from engine.lang.fixes import fix
from engine.lang.render import render_text
from engine.lang.source import Source


def fix_files(files: Files, findings: Callable[[Chosen], list[Diagnostic]]) -> Files:
    """The files with every sure fix in them, the changed ones written, and what was done told on standard error.

    Raises: InputError: a file that cannot be written; it is as it was.
    """
    passes: list[list[Diagnostic]] = []

    def check(sources: Sequence[Source]) -> list[Diagnostic]:
        passes.append(findings(link_files(files.holding(sources))))
        return passes[-1]

    made = fix(files.sources, check)
    by_path = {source.path: source for source in made.sources}
    for path in made.changed:
        if path != STDIN_PATH:
            _write(Path(path), by_path[path].data)
    for before, after in itertools.pairwise(passes):
        left = {(one.code, one.message, one.file) for one in after}
        for one in before:
            if one.fix is not None and one.file in by_path and (one.code, one.message, one.file) not in left:
                click.echo(f"fixed {one.place}: {one.code} {one.message}", err=True)
    click.echo(f"{counted(made.applied, 'fix')} in {counted(len(made.changed), 'file')}", err=True)
    return files.holding(made.sources)


def print_mended(files: Files, found: Sequence[Diagnostic]) -> None:
    """Print the text that came from standard input, and what is still found in it to standard error."""
    sys.stdout.flush()
    sys.stdout.buffer.write(files.sources[0].data)
    sys.stdout.buffer.flush()
    click.echo(render_text(found), err=True, nl=False)


def _write(path: Path, data: bytes) -> None:
    """Write beside the file and put the result in its place: a file is never half written, and keeps its rights."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise InputError(
            f"{path} cannot be written", why=error.strerror or str(error), remedy="check the path and its rights"
        ) from error
