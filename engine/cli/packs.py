"""The packs a command is about: the ones its paths name, linked beside the shipped ones.

The only place where commands read packs. What is found wrong in them is the language's to say, and each command's to print.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import click

from engine.errors import InputError, UsageError
from engine.lang.diagnostics import Diagnostics
from engine.lang.limits import MAX_PACK_BYTES
from engine.lang.link import Linked, link
from engine.lang.packs import Pack, PackFiles
from engine.lang.program import Program
from engine.lang.render import render_text
from engine.lang.source import Source
from engine.rulefiles import find_packs, shipped_packs, shipped_rules
from engine.sections.catalog import CATALOGUE

STDIN: Final = "-"

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def rules_option(function: _Decorated) -> _Decorated:
    """The option `--rules` that most commands have."""
    return click.option(
        "--rules",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Packs to use instead of the shipped ones.",
    )(function)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Packs read and linked. Shape: `packs` are those the paths named, without the context they were linked with."""

    linked: Linked
    packs: tuple[Pack, ...]

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """Kind and name of each."""
        return frozenset((pack.kind, pack.name) for pack in self.packs)


def choose(paths: Sequence[str], rules: Path | None) -> Chosen:
    """The packs that paths name (all shipped ones when there is none), linked beside the shipped ones or `--rules`.

    Raises: InputError: a path that is not there or cannot be read.
    """
    reading = Diagnostics()
    files = _files(paths or [str(rules or _near(shipped_rules()))], reading)
    context: Iterable[PackFiles] = ()
    if paths:
        context = shipped_packs() if rules is None else find_packs([rules], Diagnostics())
    linked = link(files, CATALOGUE, context=context)
    linked.diagnostics.extend(reading)
    mine = {id(source) for group in files for source in group.sources}
    return Chosen(linked, tuple(pack for pack in linked.packs if id(pack.place.source) in mine))


def shipped_program(rules: Path | None) -> Program:
    """The program of the shipped packs, or of `--rules`.

    Raises: InputError: they do not link; the findings are printed to standard error.
    """
    chosen = choose([], rules)
    if chosen.linked.program is None or chosen.linked.diagnostics.has_errors:
        click.echo(render_text(chosen.linked.diagnostics.sorted()), err=True, nl=False)
        where = rules or "the shipped rules"
        raise InputError(f"the packs of {where} do not link", remedy=f"see engine validate {rules or ''}".rstrip())
    if not chosen.packs:
        raise InputError(f"there is no pack in {rules}", remedy="give a folder that holds packs")
    return chosen.linked.program


def _near(folder: Path) -> Path:
    """The folder as seen from here when it is below: places are shorter then, and the same on every machine."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _files(paths: Iterable[str], diagnostics: Diagnostics) -> list[PackFiles]:
    found: list[PackFiles] = []
    seen: set[Path] = set()
    for path in dict.fromkeys(paths):
        if path == STDIN:
            found.append(PackFiles(STDIN, (standard_input(),)))
            continue
        for group in find_packs([Path(path)], diagnostics):
            home = Path(group.name).resolve()
            if home not in seen:  # a folder and a pack in it may both be named
                seen.add(home)
                found.append(group)
    return found


def standard_input() -> Source:
    """What standard input holds, as far as the limit of a file goes.

    Raises: UsageError: it is a terminal.
    """
    if sys.stdin.isatty():
        raise UsageError("standard input is a terminal", remedy="pipe a document into the command")
    return Source("<stdin>", sys.stdin.buffer.read(MAX_PACK_BYTES + 1))
