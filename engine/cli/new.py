"""`engine new`: a pack to start from, written into a folder of its own.

What stands in it is `scaffold`'s. Nothing that is there is overwritten.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.scaffold import file_names, manufacturer_files
from engine.errors import InputError, UsageError
from engine.lang.outline import API_VERSION
from engine.rulefiles import shipped_rules

NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
MAX_NAME_CHARACTERS: Final = 24
"""Ours. A name stands in front of every accelerator key, and a label's name has 63 characters for both."""


@click.command(
    "new",
    cls=Command,
    examples=("engine new manufacturer acme --dir /tmp/packs --dry-run",),
)
@click.argument("kind", type=click.Choice(["manufacturer"]))
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where the pack's folder is made; here without it.",
)
@click.option("--dry-run", is_flag=True, help="Only say which files would be written.")
def command(kind: str, name: str, folder: Path, dry_run: bool) -> int:  # noqa: ARG001 - one kind so far, typed all the same
    """Write a new manufacturer's pack, clean and tested from the start.

    It is written to DIR/NAME: pack.yaml with comments that lead on, tests and a README for the sources. NAME is lower-case
    words joined by -, as it will stand in labels; nothing that exists is overwritten.
    """
    _check(name)
    home = folder / name
    schema = {path: _schema(home / path) for path in file_names()}
    files = manufacturer_files(name, folder=str(home), schema=schema)
    if home.exists():
        raise UsageError(f"{home} is there already", remedy="choose another NAME or --dir; nothing is overwritten")
    for path, text in files.items():
        if not dry_run:
            _write(home / path, text)
        click.echo(f"{'would write' if dry_run else 'wrote'} {home / path}")
    click.echo(f"next: engine validate {home} && engine test {home} --coverage", err=True)
    return Exit.CLEAN


def _check(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a manufacturer",
            remedy="write lower-case words and digits joined by -, as in acme-ai",
        )
    if len(name) > MAX_NAME_CHARACTERS:
        raise UsageError(
            f"{name!r} has {len(name)} characters",
            remedy=f"use at most {MAX_NAME_CHARACTERS}: the name stands in front of every key in labels",
        )
    if (shipped_rules() / "manufacturers" / name).is_dir():
        raise UsageError(
            f"there is a pack of {name} already",
            remedy="change it with an Overlay, or copy it and name the copy otherwise",
        )


def _schema(file: Path) -> str:
    """The way from a file to the schema of its kind."""
    folders = (shipped_rules().parent / "schemas", shipped_rules().parent / "_data" / "schemas")
    folder = next((each for each in folders if each.is_dir()), folders[0])
    schema = folder / f"manufacturer.{API_VERSION.rpartition('/')[2]}.schema.json"
    return os.path.relpath(schema, file.resolve().parent)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written", why=error.strerror or str(error), remedy="check the path and its rights"
        ) from error
