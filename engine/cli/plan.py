"""`engine plan`: machines in, the whole scheduling chain out, with no cluster.

Calls the worker's own functions; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from engine.chain.chain import Chain
from engine.cli.command import Command
from engine.cli.documents import json_text, yaml_stream
from engine.cli.exits import Exit
from engine.cli.kinds import DEFAULT, Kind, parse_kinds
from engine.cli.layout import several, table_text
from engine.cli.packs import Rules, program_options, shipped_program
from engine.cli.planning import Options, planned, planning_options, print_notes
from engine.cli.snapshot import read_snapshot

FORMS = ("table", "wide", "yaml", "json", "name")


@click.command(
    "plan",
    cls=Command,
    examples=(
        "engine plan tests/machines/walkthrough",
        "engine plan tests/machines/walkthrough --show instancetypes --unmanaged node-a10g",
        "engine plan tests/machines/walkthrough --show cq,lq -o yaml --namespace team-a",
        "engine plan tests/machines/mig --show nodes,devices -o wide -v",
        "engine plan tests/machines/walkthrough --show kueue-configuration -o yaml",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--show", multiple=True, metavar="KINDS", help="The kinds to print, comma-separated.")
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMS), default="table", show_default=True, help="How to print."
)
@planning_options
@program_options
@click.option("-v", "--verbose", is_flag=True, help="Also print what is assumed.")
def command(
    paths: tuple[str, ...],
    show: tuple[str, ...],
    form: str,
    settings: tuple[str, ...],
    unmanaged: tuple[str, ...],
    namespaces: tuple[str, ...],
    from_empty: bool,
    rules: Rules,
    verbose: bool,
) -> int:
    """Plan what machines would become in a cluster.

    A PATH is a machine file, an InstanceType manifest, a folder that holds some, - for standard input, or a recording
    of a cluster (FILE.jsonl, from engine record), which is the plan's first step with its types and queues. KINDS are
    nodes, nodefeatures, devices, topologies, resourceflavors, clusterqueues, localqueues, instancetypes,
    instancetypeflavors and configurations; singular and short names do. Without --show it is resourceflavors,
    clusterqueues, instancetypes and instancetypeflavors. The configuration is a file for Kueue's manager and no object
    of a cluster.

    --unmanaged and --set are second steps: the plan comes to rest without them first, then again from there.
    """
    kinds = parse_kinds(show or DEFAULT)
    snapshot = read_snapshot(paths)
    options = Options(settings, unmanaged, namespaces, from_empty)
    if snapshot.is_empty:
        for note in snapshot.notes:
            click.echo(f"note: {note}", err=True)
        click.echo("engine: nothing to plan: there is no machine there; machines are .yaml files", err=True)
        return Exit.NOTHING
    chain = planned(snapshot, shipped_program(rules), options)
    print_notes(snapshot, chain.conditions(), options, verbose=verbose)
    click.echo(shown(chain, kinds, form), nl=False)
    return Exit.CLEAN


def shown(chain: Chain, kinds: Sequence[Kind], form: str) -> str:
    """Kinds of a chain as text in one of the forms."""
    match form:
        case "yaml":
            return yaml_stream(each for kind in kinds for each in kind.objects(chain))
        case "json":
            items = [each for kind in kinds for each in kind.objects(chain)]
            return json_text({"apiVersion": "v1", "kind": "List", "items": items}) + "\n"
        case "name":
            return "".join(
                f"{kind.prefix}/{each['metadata']['name']}\n"
                for kind in kinds
                for each in kind.objects(chain)
                if "metadata" in each
            )
        case _:
            return several(_tables(chain, kinds, wide=form == "wide"))


def _tables(chain: Chain, kinds: Sequence[Kind], *, wide: bool) -> Iterator[str]:
    for kind in kinds:
        table = kind.table(chain, wide)
        if table.rows:
            yield table_text(table, kind.prefix if len(kinds) > 1 and "NAME" in table.columns else "")
