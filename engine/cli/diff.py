"""`engine diff`: what changed packs, overlays or settings would rename, relabel, re-quota and inject over given machines.

Reads packs and machines and prints; the comparison is `engine.diff`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from engine.cli.command import Command
from engine.cli.documents import json_text
from engine.cli.exits import Exit
from engine.cli.findings import counted
from engine.cli.packs import Rules, choose, identity_overrides
from engine.cli.planning import Options, planned
from engine.cli.snapshot import Snapshot, read_snapshot
from engine.diff.compare import compare
from engine.diff.difference import Difference, Field, Injected, Named, OnNodes, Renamed, Told
from engine.diff.injections import injected
from engine.diff.pairing import Pairing
from engine.errors import InputError, UsageError
from engine.lang.program import Program
from engine.lang.render import render_text

NODES_SHOWN: Final = 3
"""Nodes named on a line before the rest are counted. Ours."""

_TITLES: Final = {
    "renamed": "Renamed",
    "gone": "Gone",
    "new": "New",
    "labels": "Node labels",
    "capacity": "Node capacity",
    "quotas": "Quotas",
    "types": "Types and flavors",
    "injections": "Injections",
    "conditions": "Conditions",
}


@click.command(
    "diff",
    cls=Command,
    examples=(
        "engine diff rules rules --machines tests/machines/walkthrough",
        "engine diff --overlay rules/overlays/examples/slices-per-card.yaml --machines tests/machines/walkthrough",
        "engine diff --overlay rules/overlays/examples/memory-reserve.yaml --machines tests/machines/mig -o json",
    ),
)
@click.argument("paths", nargs=-1, metavar="[[OLD] NEW]")
@click.option("--overlay", "overlays", multiple=True, metavar="FILE", help="An Overlay over the new packs.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the new side.")
@click.option("--machines", multiple=True, metavar="PATH", help="A machine file or folder; as for engine plan.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print.",
)
def command(
    paths: tuple[str, ...], overlays: tuple[str, ...], settings: tuple[str, ...], machines: tuple[str, ...], form: str
) -> int:
    """Say what a change of packs, overlays or settings would do to machines.

    OLD and NEW are pack files or folders; packs that are not in them are the shipped ones. With one path it is NEW, and
    OLD are the shipped packs; with none both sides are the shipped packs, and --overlay or --set say what is changed.
    Without --machines the recorded machines that come with Engine are looked at.

    Both sides are planned from nothing. The exit code is 1 when anything is called otherwise (a flavor, type, queue,
    topology, resource or accelerator key), and 0 for every other difference.
    """
    old, new = _sides(paths, changed=bool(overlays or settings))
    snapshot = read_snapshot(machines or _shipped_machines())
    if not snapshot.machines:
        click.echo("engine: nothing to compare: there is no machine there; machines are .yaml files", err=True)
        return Exit.NOTHING
    before, after = _program(old, ()), _program(new, overlays)
    made = difference(before, after, snapshot, settings)
    if form == "json":
        click.echo(json_text({"machines": len(snapshot.machines), **made.as_dict()}))
    else:
        click.echo("\n".join(_lines(made, len(snapshot.machines))))
    return Exit.FINDINGS if made.renamed else Exit.CLEAN


def difference(before: Program, after: Program, snapshot: Snapshot, settings: Sequence[str] = ()) -> Difference:
    """What differs between two programs over machines; `settings` are those of the second side."""
    first = planned(snapshot, before, Options(from_empty=True))
    second = planned(snapshot, after, Options(settings=settings, from_empty=True))
    pairing = Pairing.of(first, second)
    return compare(pairing, injected(pairing, before, after))


def _sides(paths: Sequence[str], *, changed: bool) -> tuple[str | None, str | None]:
    match list(paths):
        case []:
            if not changed:
                raise UsageError("nothing is changed", remedy="name the new packs, or give --overlay or --set")
            return None, None
        case [new]:
            return None, new
        case [old, new]:
            return old, new
        case _:
            raise UsageError(f"{len(paths)} paths are too many", remedy="give OLD and NEW")


def _program(path: str | None, overlays: tuple[str, ...]) -> Program:
    chosen = choose([path] if path else [], Rules(overlays=overlays), overrides=identity_overrides())
    linked = chosen.linked
    if linked.program is None or linked.diagnostics.has_errors:
        click.echo(render_text(linked.diagnostics.sorted()), err=True, nl=False)
        raise InputError(
            f"the packs of {path or 'the shipped rules'} do not link", remedy="mend what is reported above"
        )
    if path and not chosen.packs:
        raise InputError(f"there is no pack in {path}", remedy="give a folder that holds packs")
    return linked.program


def _shipped_machines() -> list[str]:
    """The recorded machines: the walkthrough's, and beside them in a checkout every maker's."""
    here = Path(__file__).resolve().parents[1]
    recorded = here.parent / "tests" / "machines"
    if recorded.is_dir():
        return [str(folder) for folder in sorted(recorded.iterdir()) if folder.is_dir() and folder.name != "broken"]
    folder = here / "_data" / "walkthrough"
    if folder.is_dir():
        return [str(folder)]
    raise UsageError("no machines are recorded here", remedy="name some with --machines")


def _lines(made: Difference, machines: int) -> Iterator[str]:
    for name, title in _TITLES.items():
        found = getattr(made, name)
        if found:
            yield f"{title}:"
            yield from (f"  {_line(one)}" for one in found)
            yield ""
    over = f"over {counted(machines, 'machine')}"
    if not made:
        yield f"no difference {over}"
        return
    counts = [f"{len(getattr(made, name))} {title.lower()}" for name, title in _TITLES.items() if getattr(made, name)]
    yield f"{', '.join(counts)} {over}"


def _line(one: Any) -> str:
    match one:
        case Renamed(kind, old, new, nodes):
            return f"{kind} {old} -> {', '.join(new)}{_on(nodes)}"
        case Named(kind, name):
            return f"{kind} {name}"
        case OnNodes(key, old, new, nodes):
            return f"{key}: {_value(old)} -> {_value(new)}{_on(nodes)}"
        case Field(kind, name, path, old, new):
            return f"{kind} {name}: {path}: {_value(old)} -> {_value(new)}"
        case Injected(maker, products, mode, path, old, new):
            about = f"{maker} {mode} ({', '.join(products)})"
            return f"{about}: {path}: {_value(old)} -> {_value(new)}" if path else f"{about}: {old} -> {new}"
        case Told(kind, name, reason, message, is_new):
            return f"{'new' if is_new else 'no more'}: {kind} {name}: {reason}: {message}"
    raise AssertionError(one)


def _on(nodes: Sequence[str]) -> str:
    if not nodes:
        return ""
    more = f" and {len(nodes) - NODES_SHOWN} more" if len(nodes) > NODES_SHOWN else ""
    return f" (on {', '.join(nodes[:NODES_SHOWN])}{more})"


def _value(value: Any) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, str):
        return value or '""'
    return " ".join(json_text(value).split())
