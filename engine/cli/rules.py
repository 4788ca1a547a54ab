"""`engine rules`: what a worker made of the packs that were delivered to it, and the word that lets a held program in.

Reads RulePacks and the ConfigMap `engine-program`, and writes one annotation. Who judges packs is the worker.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from engine.cli.command import Command
from engine.cli.documents import json_text, yaml_text
from engine.cli.exits import Exit
from engine.cli.layout import table_text
from engine.cluster.client import Client
from engine.cluster.errors import ClusterError, NotFound, SettingsError
from engine.cluster.http import HttpTransport
from engine.cluster.objects import Data, Owned
from engine.cluster.resources import CONFIG_MAPS, RULE_PACKS, ObjectKey
from engine.cluster.session import connection
from engine.delivery.publish import approval_action
from engine.delivery.stored import APPROVED, HEAD
from engine.errors import InputError, UsageError
from engine.lang.diagnostics import nearest
from engine.worker.options import SYSTEM_NAMESPACE
from engine.worker.render.tables import Table

R = TypeVar("R")

FORMS: Final = ("table", "wide", "json", "yaml", "name")
LOADED: Final = "Loaded"
SHOWN_DIGITS: Final = 12
"""Of a digest in a table, as `kubectl get rulepacks` shows it."""
WHY_LENGTH: Final = 100
"""Characters of a reason in a table; `show` and `-o wide` print all of it. Chosen."""
POLL_SECONDS: Final = 1.0

_DIGEST: Final = re.compile(r"[0-9a-f]{12,64}")


class Where(NamedTuple):
    """Which cluster, and the system namespace in it."""

    kubeconfig: Path | None
    context: str | None
    namespace: str


class Group(click.Group):
    """Commands under one name, with examples below them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As each of the commands does."""
        super().format_epilog(ctx, formatter)
        formatter.write("\nExamples:\n  engine rules list --help\n  engine rules approve --help\n")
        formatter.write("\n  # on a running cluster\n")
        formatter.write("  engine rules list\n  engine rules show manufacturer-acme\n  engine rules approve DIGEST\n")


def on_a_cluster(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say which cluster; the command gets them as one `where`."""

    @click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="How to reach the cluster; else $KUBECONFIG, ~/.kube/config, or in a Pod its service account.",
    )
    @click.option("--context", metavar="NAME", help="The context of the kubeconfig, instead of its current one.")
    @click.option("--namespace", "-n", default=SYSTEM_NAMESPACE, show_default=True, help="The system namespace.")
    @wraps(function)
    def with_cluster(kubeconfig: Path | None, context: str | None, namespace: str, **others: Any) -> int:
        try:
            return function(where=Where(kubeconfig, context, namespace), **others)
        except SettingsError as error:
            raise UsageError(error.what, where=error.where, why=error.why, remedy=error.remedy) from error
        except ClusterError as error:
            click.echo(f"engine: error: {error}", err=True)
            return Exit.FINDINGS

    return with_cluster


@click.group("rules", cls=Group)
def command() -> None:
    """See what became of delivered packs, and let a held program into force.

    A worker judges packs as they are delivered to it. What would rename something that is in use is held until its digest is
    approved.

    Exit codes: 0 clean, 1 a pack is held or refused, or the cluster said no, 2 bad usage or no such pack.
    """


@command.command(
    "list", cls=Command, examples=("engine rules list --help",), on_a_cluster=("engine rules list -o wide",)
)
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMS), default="table", show_default=True, help="How to print."
)
@on_a_cluster
def list_packs(form: str, where: Where) -> int:
    """List the packs: which are in force, held or refused, and why.

    Exit codes: 0 all are in force, 1 one is held or refused, or the cluster said no, 2 bad usage.
    """
    packs = asyncio.run(_ask(where, _packs))
    match form:
        case "json" | "yaml":
            items = [_plain(pack) for pack in packs]
            whole = {"apiVersion": "v1", "kind": "List", "items": items}
            click.echo(json_text(whole) if form == "json" else yaml_text(whole), nl=form == "json")
        case "name":
            click.echo("".join(f"rulepack.worker.gpustack.ai/{pack.metadata.name}\n" for pack in packs), nl=False)
        case _ if packs:
            click.echo(table_text(_table(packs, wide=form == "wide")), nl=False)
        case _:
            click.echo("No packs: no worker has judged any yet.", err=True)
    waiting = sorted({_text(pack, "program") for pack in packs if _text(pack, "verdict") == "Held"})
    for digest in waiting:
        click.echo(f"held: engine rules approve {digest}", err=True)
    return Exit.CLEAN if all(_text(pack, "verdict") == LOADED for pack in packs) else Exit.FINDINGS


@command.command(
    "show",
    cls=Command,
    examples=("engine rules show --help",),
    on_a_cluster=("engine rules show", "engine rules show manufacturer-acme"),
)
@click.argument("pack", required=False)
@on_a_cluster
def show(pack: str | None, where: Where) -> int:
    """Show the program in force, or all that is known of one PACK.

    Exit codes: 0 it is in force, 1 it is held or refused, or the cluster said no, 2 bad usage or no such pack.
    """
    packs = asyncio.run(_ask(where, _packs))
    if pack is None:
        return _show_program(asyncio.run(_ask(where, _head)), packs)
    found = {each.metadata.name: each for each in packs}
    if pack not in found:
        near = nearest(pack, found)
        remedy = f"did you mean {near}?" if near else "engine rules list names them"
        raise InputError(f"there is no pack {pack}", remedy=remedy)
    one = found[pack]
    lines = {key: str(one.spec.get(key, "")) for key in ("kind", "name", "version", "source", "digest")}
    lines |= {
        "verdict": _text(one, "verdict"),
        "since": _text(one, "lastTransitionTime"),
        "program": _text(one, "program"),
        "why": _text(one, "message"),
    }
    _print_lines(lines)
    return Exit.CLEAN if _text(one, "verdict") == LOADED else Exit.FINDINGS


@command.command(
    "approve",
    cls=Command,
    examples=("engine rules approve --help",),
    on_a_cluster=("engine rules approve 4f0c1b7a9d2e", "engine rules approve 4f0c1b7a9d2e --wait 60"),
)
@click.argument("digest")
@click.option(
    "--wait", "wait_seconds", type=click.FloatRange(0), default=0, metavar="SECONDS", help="Until it is in force."
)
@click.option("--ahead", is_flag=True, help="Approve a digest that does not wait yet: it is not held when it comes.")
@on_a_cluster
def approve(digest: str, wait_seconds: float, ahead: bool, where: Where) -> int:
    """Let the program of that DIGEST into force, with all that it renames.

    The digest is that of the whole program and stands in every held RulePack; its first 12 digits are enough. Other bytes
    that link to another program wait again.

    Exit codes: 0 approved, 1 nothing of that digest waits, it is not in force in time, or the cluster said no, 2 bad usage.
    """
    if not _DIGEST.fullmatch(digest):
        raise UsageError(f"{digest} is no digest", remedy="give 12 to 64 hexadecimal digits: engine rules list -o wide")
    return asyncio.run(_ask(where, lambda client, namespace: _approve(client, namespace, digest, wait_seconds, ahead)))


async def _approve(client: Client, namespace: str, digest: str, wait_seconds: float, ahead: bool) -> int:
    head = await _head(client, namespace)
    program, waiting = head.data.get("program", ""), head.data.get("waiting", "")
    if waiting.startswith(digest):
        digest = waiting
    elif program.startswith(digest):
        click.echo(f"{program} is in force already")
        return Exit.CLEAN
    elif not ahead:
        waits = f"{waiting} waits" if waiting else "nothing waits"
        click.echo(f"engine: error: no program {digest} waits: {waits}; engine rules list says why", err=True)
        return Exit.FINDINGS
    elif len(digest) != len(program):
        raise UsageError(
            f"{digest} is not all of a digest", remedy="a program that does not wait yet has to be named in full"
        )
    action = approval_action(digest, namespace)
    await client.merge_patch(
        CONFIG_MAPS, action.key.name, action.patch, manager=action.manager, namespace=action.key.namespace
    )
    click.echo(f"{digest} approved")
    return await _in_force(client, namespace, digest, wait_seconds) if wait_seconds else Exit.CLEAN


async def _in_force(client: Client, namespace: str, digest: str, wait_seconds: float) -> int:
    ends = client.clock.monotonic() + wait_seconds
    while (await _head(client, namespace)).data.get("program") != digest:
        if client.clock.monotonic() >= ends:
            click.echo(
                f"engine: error: {digest} is not in force after {wait_seconds:g} s; is a worker running?", err=True
            )
            return Exit.FINDINGS
        await client.clock.sleep(POLL_SECONDS)
    click.echo(f"{digest} is in force")
    return Exit.CLEAN


@asynccontextmanager
async def reached(where: Where) -> AsyncIterator[Client]:
    """A client of the cluster, while the block lasts."""
    async with HttpTransport(await connection(where.kubeconfig, where.context), user_agent="engine-rules") as transport:
        yield Client(transport)


async def _ask(where: Where, ask: Callable[[Client, str], Awaitable[R]]) -> R:
    async with reached(where) as client:
        return await ask(client, where.namespace)


async def _packs(client: Client, _namespace: str) -> list[Owned]:
    try:
        return sorted((await client.list(RULE_PACKS)).items, key=lambda pack: pack.metadata.name)
    except NotFound as error:
        raise InputError(
            "the cluster knows no RulePacks", why=error.what, remedy="start a worker, which brings their definition"
        ) from error


async def _head(client: Client, namespace: str) -> Data:
    try:
        return await client.get(CONFIG_MAPS, HEAD, namespace)
    except NotFound as error:
        raise InputError(
            f"there is no ConfigMap {ObjectKey(namespace, HEAD)}",
            why="no worker has published its rules there",
            remedy="name the system namespace with --namespace, or start a worker",
        ) from error


def _show_program(head: Data, packs: Sequence[Owned]) -> int:
    waiting = head.data.get("waiting", "")
    held = [pack for pack in packs if _text(pack, "verdict") == "Held"]
    lines = {
        "program": head.data.get("program", ""),
        "vocabulary": head.data.get("vocabulary", ""),
        "waiting": waiting,
        "why": next((_text(pack, "message") for pack in held), ""),
        "approved": head.metadata.annotations.get(APPROVED, ""),
        "packs": str(len(packs)),
    }
    for verdict in ("Held", "Failed"):
        lines[verdict.lower()] = ", ".join(p.metadata.name for p in packs if _text(p, "verdict") == verdict)
    _print_lines(lines)
    return Exit.CLEAN if not waiting and all(_text(pack, "verdict") == LOADED for pack in packs) else Exit.FINDINGS


def _table(packs: Sequence[Owned], *, wide: bool) -> Table:
    rows = []
    for pack in packs:
        program, why = _text(pack, "program"), _text(pack, "message")
        shown = program if wide else program[:SHOWN_DIGITS]
        cut = why if wide or len(why) <= WHY_LENGTH else f"{why[: WHY_LENGTH - 1]}…"
        more = (str(pack.spec.get("version", "")), str(pack.spec.get("source", ""))) if wide else ()
        rows.append((pack.metadata.name, _text(pack, "verdict"), shown, *more, cut))
    columns = ("NAME", "VERDICT", "PROGRAM", *(("VERSION", "SOURCE") if wide else ()), "WHY")
    return Table(columns, tuple(rows))


def _plain(pack: Owned) -> dict[str, Any]:
    return {**RULE_PACKS.body(pack.metadata.name), "spec": pack.spec, "status": pack.status}


def _print_lines(lines: dict[str, str]) -> None:
    width = max(map(len, lines)) + 1
    for name, text in lines.items():
        if text:
            click.echo(f"{name + ':':<{width + 1}}{text}")


def _text(pack: Owned, key: str) -> str:
    return str(pack.status.get(key, ""))
