"""`engine record`: a live cluster as JSON lines that `engine plan` reads, redacted.

What is taken and what is left out is `engine.worker.recording`'s.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from engine.chain.settings import parse_settings
from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.packs import Rules, program_options, shipped_program
from engine.cli.version import number
from engine.cluster.client import Client
from engine.cluster.errors import ClusterError, SettingsError
from engine.cluster.http import HttpTransport
from engine.cluster.session import connection
from engine.errors import UsageError
from engine.lang.program import Program
from engine.worker.options import SYSTEM_NAMESPACE
from engine.worker.recording import record


@click.command(
    "record",
    cls=Command,
    examples=("engine record --help",),
    on_a_cluster=(
        "engine record --kubeconfig ~/.kube/config > cluster.jsonl",
        "engine plan cluster.jsonl --show instancetypes",
        "engine plan cluster.jsonl --set instance-type-aware-cpu-manufacturer=true",
    ),
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    envvar="KUBECONFIG",
    help="How to reach the cluster; in a Pod, without this, as its service account.",
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig, instead of its current one.")
@click.option("--namespace", "-n", default=SYSTEM_NAMESPACE, show_default=True, help="The system namespace.")
@program_options
def command(kubeconfig: Path | None, context: str | None, namespace: str, rules: Rules) -> int:
    """Record what the scheduling chain of a cluster is made of, one object a line.

    Nodes, NodeFeatures, Devices, Topologies, flavors, types, queues, checks, Workloads and the settings that rules
    declare. Left out: other Secrets, addresses, images, Pod templates but for their resources, and annotations of other
    domains. Names of nodes, namespaces and workloads stay.
    """
    program = shipped_program(rules)
    return reported(lambda: asyncio.run(_print(kubeconfig, context, namespace, program)))


async def _print(kubeconfig: Path | None, context: str | None, namespace: str, program: Program) -> None:
    async for thing in record_cluster(kubeconfig, context, namespace, program):
        click.echo(json.dumps(thing, ensure_ascii=False, separators=(",", ":")))


async def record_cluster(
    kubeconfig: Path | None, context: str | None, namespace: str, program: Program
) -> AsyncIterator[dict[str, Any]]:
    """The lines of a recording, from a cluster. Raises: ClusterError, SettingsError."""
    declared = frozenset(each.name for each in parse_settings(program.block("settings")).declared)
    header = {
        "engine": number(),
        "program": program.digest,
        "taken": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    where = await connection(kubeconfig, context)
    async with HttpTransport(where, user_agent="engine-record") as transport:
        async for thing in record(Client(transport), namespace, declared, header):
            yield thing


def reported(run: Callable[[], None]) -> int:
    """Runs what asks a cluster; the exit code. Raises: UsageError: a kubeconfig that cannot be used."""
    try:
        run()
    except SettingsError as error:
        raise UsageError(error.what, where=error.where, why=error.why, remedy=error.remedy) from error
    except ClusterError as error:
        click.echo(f"engine: error: {error}", err=True)
        return Exit.FINDINGS
    return Exit.CLEAN
