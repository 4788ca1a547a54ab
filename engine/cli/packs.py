"""The packs a command is about: the ones its paths name, linked beside the shipped ones.

The only place where commands read packs. What is found wrong in them is the language's to say, and each command's to print.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from engine.errors import InputError, UsageError
from engine.lang.diagnostics import Diagnostics
from engine.lang.limits import MAX_PACK_BYTES
from engine.lang.linking import Linked, link
from engine.lang.packs import Pack, PackFiles
from engine.lang.program import Program
from engine.lang.render import render_text
from engine.lang.source import Source
from engine.rulefiles import find_packs, shipped_packs, shipped_rules
from engine.sections.catalog import CATALOGUE

STDIN: Final = "-"
STDIN_PATH: Final = "<stdin>"

OVERRIDE_PREFIX: Final = "GPUSTACK_"
"""Of the variables that override identities: the same ones that the services take. Source: design, identity overrides."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The packs that stand in the background.

    Shape: `folder` (`--rules`) holds those instead of the shipped ones; `overlays` go over them; `packs` (`--pack`) are
    linked beside them, or in the place of those with their names.
    """

    folder: Path | None = None
    overlays: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()


def rules_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options `--rules` and `--overlay` that most commands have; the command gets them as one `rules`."""

    @click.option(
        "--rules",
        "folder",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Packs to use instead of the shipped ones.",
    )
    @click.option("--overlay", "overlays", multiple=True, metavar="FILE", help="An Overlay to put over the packs.")
    @wraps(function)
    def with_rules(folder: Path | None, overlays: tuple[str, ...], **others: Any) -> int:
        return function(rules=Rules(folder, overlays), **others)

    return with_rules


def program_options(function: Callable[..., int]) -> Callable[..., int]:
    """The options of `rules_options`, and `--pack`, for a command that needs a program and takes no packs as arguments."""

    @click.option("--pack", "packs", multiple=True, metavar="PATH", help="A pack to use beside the shipped ones.")
    @rules_options
    @wraps(function)
    def with_packs(packs: tuple[str, ...], rules: Rules, **others: Any) -> int:
        return function(rules=replace(rules, packs=packs), **others)

    return with_packs


@dataclass(frozen=True, slots=True)
class Chosen:
    """Packs read and linked. Shape: `packs` are those the paths named, without the context they were linked with."""

    linked: Linked
    packs: tuple[Pack, ...]

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """Kind and name of each."""
        return frozenset((pack.kind, pack.name) for pack in self.packs)


def choose(paths: Sequence[str], rules: Rules, *, overrides: Mapping[str, str] | None = None) -> Chosen:
    """The packs that paths name (all shipped ones when there is none), linked beside the shipped ones or `--rules`.

    Raises: InputError: a path that is not there or cannot be read.
    """
    return link_files(read_files(paths, rules), overrides=overrides)


@dataclass(frozen=True, slots=True)
class Files:
    """The bytes of packs that a command is about. Shape: `context` are the packs that `packs` are written against."""

    packs: tuple[PackFiles, ...]
    context: tuple[PackFiles, ...]
    overlays: tuple[PackFiles, ...]
    found: Diagnostics

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every file that was named, packs before overlays."""
        return tuple(source for group in (*self.packs, *self.overlays) for source in group.sources)

    @property
    def is_standard_input(self) -> bool:
        """Whether the packs were piped in, and nothing else was named."""
        return [source.path for group in self.packs for source in group.sources] == [STDIN_PATH]

    def holding(self, sources: Iterable[Source]) -> Files:
        """The same files with other bytes: those of `sources`, by path."""
        by_path = {source.path: source for source in sources}
        packs, overlays = (
            tuple(
                PackFiles(group.name, tuple(by_path.get(one.path, one) for one in group.sources), group.directory)
                for group in groups
            )
            for groups in (self.packs, self.overlays)
        )
        return replace(self, packs=packs, overlays=overlays)


def read_files(paths: Sequence[str], rules: Rules) -> Files:
    """The files that paths name (all shipped ones when there is none), and those in the background.

    Raises: InputError: a path that is not there or cannot be read.
    """
    reading = Diagnostics()
    packs = _files(paths or [str(rules.folder or _near(shipped_rules()))], reading)
    context: Iterable[PackFiles] = ()
    if paths:
        context = shipped_packs() if rules.folder is None else find_packs([rules.folder], Diagnostics())
    return Files(tuple(packs), tuple(context), tuple(_files(rules.overlays, reading)), reading)


def link_files(files: Files, *, overrides: Mapping[str, str] | None = None) -> Chosen:
    """Link files that were read."""
    linked = link(files.packs, CATALOGUE, context=files.context, overlays=files.overlays, overrides=overrides or {})
    linked.diagnostics.extend(files.found)
    mine = {source.path for group in files.packs for source in group.sources}
    return Chosen(linked, tuple(pack for pack in linked.packs if pack.place.source.path in mine))


def shipped_program(rules: Rules) -> Program:
    """The program of the shipped packs, or of `--rules`, with overlays and the environment's identity overrides.

    Raises: InputError: they do not link; the findings are printed to standard error.
    """
    chosen = choose(rules.packs, rules, overrides=identity_overrides())
    if chosen.linked.program is None or chosen.linked.diagnostics.has_errors:
        click.echo(render_text(chosen.linked.diagnostics.sorted()), err=True, nl=False)
        where = rules.folder or ", ".join(rules.packs) or "the shipped rules"
        raise InputError(f"the packs of {where} do not link", remedy="mend what is reported above")
    if not chosen.packs:
        where = rules.folder or ", ".join(rules.packs)
        raise InputError(f"there is no pack in {where}", remedy="give a folder that holds packs")
    return chosen.linked.program


def identity_overrides() -> dict[str, str]:
    """The environment's variables that may override identities."""
    return {name: value for name, value in os.environ.items() if name.startswith(OVERRIDE_PREFIX)}


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
    return Source(STDIN_PATH, sys.stdin.buffer.read(MAX_PACK_BYTES + 1))
