"""`engine status`: what is missing in a cluster's chain, pool by pool, and why.

What is looked at is `engine.worker.recording`'s, what is missing `engine.worker.diagnosis`'.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import click

from engine.cli.command import Command
from engine.cli.documents import json_text
from engine.cli.exits import Exit
from engine.cli.layout import table_text
from engine.cli.packs import Rules, program_options, shipped_program
from engine.cli.record import record_cluster, reported
from engine.cli.snapshot import read_recording_file
from engine.errors import UsageError
from engine.lang.diagnostics import nearest
from engine.lang.program import Program
from engine.worker.diagnosis import Status, diagnose, sentences
from engine.worker.options import SYSTEM_NAMESPACE
from engine.worker.recorded import Recorded
from engine.worker.render.tables import Table

COLUMNS = ("POOL", "NODES", "FLAVORS", "QUEUE", "ENTRANCES", "PHASE", "MISSING")


@click.command(
    "status",
    cls=Command,
    examples=("engine status --help",),
    on_a_cluster=(
        "engine status --kubeconfig ~/.kube/config",
        "engine status cluster.jsonl -o json",
        "engine status --pool gpustack--generic-linux-amd64",
    ),
)
@click.argument("recording", required=False, type=click.Path(path_type=Path), metavar="[FILE.jsonl]")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    envvar="KUBECONFIG",
    help="How to reach the cluster; in a Pod, without this, as its service account.",
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig, instead of its current one.")
@click.option("--namespace", "-n", default=SYSTEM_NAMESPACE, show_default=True, help="The system namespace.")
@click.option("--pool", metavar="NAME", help="One pool alone.")
@click.option("-o", "--output", "form", type=click.Choice(("table", "json")), default="table", show_default=True)
@program_options
def command(
    recording: Path | None,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str,
    pool: str | None,
    form: str,
    rules: Rules,
) -> int:
    """Say for each pool what is missing on the way from its nodes to a running Job, and why.

    Looks at a cluster, or at a recording of one (engine record). The links of a pool are its nodes, ResourceFlavors,
    InstanceType, ClusterQueue with its checks, and the LocalQueues of every namespace.

    Exit codes: 0 every pool is whole, 1 something is missing or the cluster does not answer, 2 bad usage, 4 no pool.
    """
    program = shipped_program(rules)
    if recording is not None:
        status = diagnose(read_recording_file(recording), program)
    else:
        found: list[Status] = []
        code = reported(lambda: found.append(asyncio.run(_look(kubeconfig, context, namespace, program))))
        if code != Exit.CLEAN:
            return code
        status = found[0]
    if pool is not None:
        status = _only(status, pool)
    click.echo(json_text(_as_json(status)) if form == "json" else _text(status))
    if not status.pools:
        click.echo("engine: there is no pool: no managed node has a flavor yet", err=True)
        return Exit.NOTHING
    return Exit.CLEAN if status.is_whole else Exit.FINDINGS


async def _look(kubeconfig: Path | None, context: str | None, namespace: str, program: Program) -> Status:
    seen = Recorded(namespace)
    async for thing in record_cluster(kubeconfig, context, namespace, program):
        if "metadata" in thing:
            seen.put(thing)
    return diagnose(seen, program)


def _only(status: Status, pool: str) -> Status:
    names = [each.name for each in status.pools]
    if pool not in names:
        near = nearest(pool, names)
        remedy = f"did you mean {near}?" if near else f"known pools: {', '.join(names) or 'none'}"
        raise UsageError(f"--pool {pool}: there is no such pool", remedy=remedy)
    return Status(status.worker, tuple(each for each in status.pools if each.name == pool), (), ())


def _text(status: Status) -> str:
    rows = tuple(
        (
            each.name,
            str(each.nodes),
            f"{each.flavors[0]}/{each.flavors[1]}",
            each.stop_policy or "-",
            f"{each.entrances[0]}/{each.entrances[1]}",
            each.phase or "-",
            str(len(each.missing)),
        )
        for each in status.pools
    )
    lines = [f"worker: {status.worker}", "", table_text(Table(COLUMNS, rows)).rstrip("\n")]
    told = list(sentences(status))
    return "\n".join([*lines, *([""] if told else []), *told])


def _as_json(status: Status) -> dict[str, object]:
    return {
        "worker": status.worker,
        "isWhole": status.is_whole,
        "pools": [
            {**asdict(each), "flavors": _pair(each.flavors), "entrances": _pair(each.entrances)}
            for each in status.pools
        ],
        "idleNodes": [{"name": name, "why": why} for name, why in status.idle],
        "notes": list(status.notes),
    }


def _pair(pair: tuple[int, int]) -> dict[str, int]:
    return {"there": pair[0], "wanted": pair[1]}
