"""`engine version`.

Works from an installed package and from a checkout that was never installed.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Final

import click

from engine.cli.command import Command
from engine.cli.commands import PROGRAM

DISTRIBUTION: Final = "engine-accelerators"


def version_text() -> str:
    """`engine 0.1.0`."""
    return f"{PROGRAM} {number()}"


def number() -> str:
    """The version alone; `of unknown version` where nothing says it."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        import tomllib

        found = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
        if found.get("name") == DISTRIBUTION:
            return str(found["version"])
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "of unknown version"


@click.command(
    "version",
    cls=Command,
    examples=("engine version",),
)
def command() -> None:
    """Print the version of Engine."""
    click.echo(version_text())
