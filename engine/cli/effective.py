"""`engine effective`: a pack as it counts, after overlays, overrides and libraries, each value with who gave it and where.

What is effective is `engine.lang.effective`'s; this finds the pack and prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.command import Command
from engine.cli.documents import json_text, yaml_text
from engine.cli.exits import Exit
from engine.cli.layout import table_text
from engine.cli.packs import Chosen, Rules, choose, identity_overrides, rules_options
from engine.errors import InputError, UsageError
from engine.lang.diagnostics import nearest
from engine.lang.effective import EffectiveValue, effective, why
from engine.lang.overlay import OVERLAY
from engine.lang.packs import Pack
from engine.lang.render import render_text
from engine.worker.render.tables import Table

SHOWN_CHARACTERS = 60
"""Of a value in a table: long expressions are read in the file, whose place stands beside them. Ours."""


@click.command(
    "effective",
    cls=Command,
    examples=(
        "engine effective docs/examples/acme.yaml",
        "engine effective topology --why sections.topology.rules",
        "engine effective derivation/topology -o json",
    ),
)
@click.argument("pack")
@click.option("--why", "path", metavar="PATH", help="Only the value at a path, and those under it.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["table", "yaml", "json"]),
    default="table",
    show_default=True,
    help="How to print.",
)
@rules_options
def command(pack: str, path: str | None, form: str, rules: Rules) -> int:
    """Show a pack as it counts: each value after overlays and libraries, who gave it, and where.

    PACK is a name, with its kind before it where two kinds share one (derivation/topology), or the path of a pack. A PATH
    is keys joined by dots (sections.inject.rules.inject-slice.when): rules by their ids, other list items as [0]. LAYER
    is pack, library NAME, overlay NAME (LAYER), or override for a GPUSTACK_ variable of the environment.
    """
    values = _values(pack, rules)
    if path is not None:
        values = _below(values, path, pack)
    if form == "table":
        click.echo(table_text(_table(values)), nl=False)
        return Exit.CLEAN
    plain = [_plain(value) for value in values]
    click.echo(json_text(plain) + "\n" if form == "json" else yaml_text(plain), nl=False)
    return Exit.CLEAN


def _values(wanted: str, rules: Rules) -> list[EffectiveValue]:
    is_path = Path(wanted).exists() and ("." in wanted or "/" in wanted)
    chosen = choose([wanted] if is_path else [], rules, overrides=identity_overrides())
    found = chosen.linked.diagnostics
    if found.has_errors:
        click.echo(render_text(found.sorted()), err=True, nl=False)
        raise InputError("the packs do not link", remedy="mend what is reported above")
    pack = _the_one(chosen) if is_path else _named(chosen, wanted)
    return effective(pack, chosen.linked.used.get((pack.kind, pack.name), ()))


def _the_one(chosen: Chosen) -> Pack:
    packs = [pack for pack in chosen.packs if pack.kind != OVERLAY]
    if len(packs) != 1:
        listed = ", ".join(f"{pack.kind.lower()}/{pack.name}" for pack in packs) or "none"
        raise UsageError("one pack at a time can be shown", remedy=f"name one; there are: {listed}")
    return packs[0]


def _named(chosen: Chosen, wanted: str) -> Pack:
    kind, _, name = wanted.rpartition("/")
    packs = [pack for pack in chosen.linked.packs if pack.kind != OVERLAY]
    found = [pack for pack in packs if pack.name == name and kind.lower() in ("", pack.kind.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        listed = " or ".join(f"{pack.kind.lower()}/{name}" for pack in found)
        raise UsageError(f"{name} is the name of {len(found)} packs", remedy=f"write {listed}")
    known = [pack.name for pack in packs]
    near = nearest(name, known)
    remedy = f"did you mean {near}?" if near else f"there are: {', '.join(sorted(known))}"
    raise UsageError(f"there is no pack {wanted}", remedy=remedy)


def _below(values: list[EffectiveValue], path: str, pack: str) -> list[EffectiveValue]:
    found = why(values, path)
    if not found:
        near = nearest(path, [value.path for value in values])
        remedy = f"did you mean {near}?" if near else f"engine effective {pack} lists all values"
        raise UsageError(f"pack {pack} has no value at {path}", remedy=remedy)
    return found


def _table(values: list[EffectiveValue]) -> Table:
    rows = tuple((value.path, _short(value.text), value.layer, str(value.place)) for value in values)
    return Table(("PATH", "VALUE", "LAYER", "AT"), rows)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[: SHOWN_CHARACTERS - 1]}…"


def _plain(value: EffectiveValue) -> dict[str, Any]:
    return {"path": value.path, "value": value.text, "layer": value.layer, "at": str(value.place)}
