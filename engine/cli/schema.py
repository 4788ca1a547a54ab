"""`engine schema`: the published JSON Schemas, printed or written; with them the CustomResourceDefinitions, written.

What is in them is `schema_documents`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from engine.api.crd import crd_files
from engine.cli.command import Command
from engine.cli.documents import yaml_text
from engine.cli.exits import Exit
from engine.cli.findings import counted
from engine.cli.schema_documents import schema_files, schema_text
from engine.errors import InputError, UsageError
from engine.lang.diagnostics import nearest


@click.command(
    "schema",
    cls=Command,
    examples=(
        "engine schema",
        "engine schema manufacturer",
        "engine schema inject",
    ),
)
@click.argument("name", required=False)
@click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write all schemas there instead, and the CustomResourceDefinitions.",
)
def command(name: str | None, folder: Path | None) -> int:
    """Print a published JSON Schema, or list them.

    NAME is a kind of pack (manufacturer, derivation, library, overlay), machine, diagnostics, or a section. Editors
    complete and check packs with these; engine validate knows more.
    """
    files = schema_files()
    if folder is not None:
        return _write(folder)
    if name is None:
        click.echo("\n".join(f"{_short(file):<28}{file}" for file in files))
        return Exit.CLEAN
    found = [file for file in files if name in (_short(file), file, file.removesuffix(".schema.json"))]
    if not found:
        known = [_short(file) for file in files]
        near = nearest(name, known)
        raise UsageError(
            f"there is no schema {name}", remedy=f"did you mean {near}?" if near else "engine schema lists them"
        )
    click.echo(schema_text(files[found[0]]()), nl=False)
    return Exit.CLEAN


def _short(file: str) -> str:
    """`manufacturer` for `manufacturer.v1alpha1.schema.json`, `inject` for a section."""
    return file.rpartition("/")[2].partition(".")[0]


def _write(folder: Path) -> int:
    files = schema_files()
    crds = {f"crd/{file}": yaml_text(document) for file, document in crd_files().items()}
    try:
        for file, text in ({name: schema_text(make()) for name, make in files.items()} | crds).items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{folder} cannot be written", why=error.strerror or str(error), remedy="check the path and its rights"
        ) from error
    click.echo(f"{counted(len(files), 'schema')} and {counted(len(crds), 'resource definition')} written to {folder}")
    for stray in _strays(folder, files):
        click.echo(f"note: {stray} is no schema of this version; remove it", err=True)
    return Exit.CLEAN


def _strays(folder: Path, files: Iterable[str]) -> list[str]:
    known = {str(folder / file) for file in files}
    return sorted(str(path) for path in folder.rglob("*.schema.json") if str(path) not in known)
