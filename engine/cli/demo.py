"""`engine demo`: a recorded four-node cluster, planned step by step.

Prints the commands it stands for, so that each step can be tried by hand. Needs no cluster and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from engine.chain.chain import Chain
from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.kinds import parse_kinds
from engine.cli.layout import table_text
from engine.cli.packs import Rules, rules_options, shipped_program
from engine.cli.planning import Options, planned
from engine.cli.snapshot import read_snapshot
from engine.errors import InputError


@dataclass(frozen=True, slots=True)
class _Step:
    """One step. Shape: `flags` are what is typed after the path; `options` the same for the planner."""

    title: str
    told: str
    shows: tuple[str, ...]
    flags: str = ""
    options: Options = field(default_factory=Options)


STEPS: Final = (
    _Step(
        "1. Four nodes join",
        "16, 4, 4 and 48 cores; one A10G, one and four T4. Rules name what the cluster gets.",
        ("nodes", "resourceflavors", "clusterqueues", "instancetypes", "instancetypeflavors", "devices"),
    ),
    _Step(
        "2. node-a10g is taken out of management",
        "Its flavors go, its four cores too; its type stays, holding, until the node comes back.",
        ("instancetypes",),
        " --unmanaged node-a10g",
        Options(unmanaged=("node-a10g",)),
    ),
    _Step(
        "5. Types tell CPUs apart",
        "Five new types stand beside the three old ones; the catalogue shows the new ones only. No flavor is renamed.",
        ("instancetypes", "instancetypeflavors"),
        " --set instance-type-aware-cpu-manufacturer=true",
        Options(settings=("instance-type-aware-cpu-manufacturer=true",)),
    ),
)


@click.command(
    "demo",
    cls=Command,
    examples=("engine demo",),
)
@rules_options
def command(rules: Rules) -> int:
    """Plan a recorded four-node cluster, step by step.

    Steps are numbered as in the walkthrough they were recorded from; those between need Pods.
    """
    machines = _machines()
    program = shipped_program(rules)
    chains = [planned(read_snapshot([machines]), program, step.options) for step in STEPS]
    for step, chain in zip(STEPS, chains, strict=True):
        click.echo("\n".join(_shown(step, machines, chain)))
    accelerated = next(each.name for each in chains[0].types() if each.spec["acceleratable"])
    click.echo("Why has that type 8 cores a card?")
    click.echo(f"$ engine explain instancetype/{accelerated}:spec.unitResources.cpu {machines}")
    return Exit.CLEAN


def _shown(step: _Step, machines: str, chain: Chain) -> Iterator[str]:
    yield f"== {step.title}"
    yield f"   {step.told}"
    yield ""
    for kind in parse_kinds(step.shows):
        yield f"$ engine plan {machines}{step.flags} --show {kind.plural}"
        yield table_text(kind.table(chain, False))


def _machines() -> str:
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "_data" / "walkthrough", here.parent / "tests" / "machines" / "walkthrough"):
        if folder.is_dir():
            return str(folder.relative_to(Path.cwd())) if folder.is_relative_to(Path.cwd()) else str(folder)
    raise InputError("the recorded machines are not there", where=str(here), remedy="install Engine again")
