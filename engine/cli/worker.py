"""`engine worker`: the control plane's worker, until it is told to stop.

Options in, exit code out; what the worker does is `engine.worker`. Logs go to standard error, one line an event.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
from pathlib import Path
from typing import Final

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.packs import Rules, rules_options, shipped_program
from engine.cluster.client import Client
from engine.cluster.errors import ClusterError, SettingsError
from engine.cluster.http import HttpTransport
from engine.cluster.session import connection
from engine.errors import UsageError
from engine.features.foreign import Provider
from engine.lang.program import Program
from engine.worker.app import Worker
from engine.worker.controllers.crd import documents
from engine.worker.log import Form, Log
from engine.worker.options import SYSTEM_NAMESPACE, Options
from engine.worker.settings import SettingsReader

FAILED: Final = Exit.FINDINGS
"""The cluster refused what is needed, or the lease was lost: whoever runs it starts it again."""
NAMESPACE_VARIABLE: Final = "KUBERNETES_POD_NAMESPACE"
"""Source: specification 20 §8.3."""
PROVIDER_VARIABLE: Final = "ENGINE_FEATURES_PROVIDER"


@click.command("worker", cls=Command, examples=("engine worker --check",))
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="How to reach the cluster; in a Pod, without this, as its service account.",
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig, instead of its current one.")
@click.option(
    "--namespace",
    "-n",
    default=SYSTEM_NAMESPACE,
    envvar=NAMESPACE_VARIABLE,
    show_default=True,
    show_envvar=True,
    help="The system namespace.",
)
@click.option(
    "--leader-elect/--no-leader-elect", default=True, show_default=True, help="Write only while holding the Lease."
)
@click.option(
    "--trust-namespace", "trusted", multiple=True, metavar="NS", help="Where gpustack.ai keys are taken from."
)
@click.option(
    "--features-provider",
    "provider",
    type=click.Choice([each.value for each in Provider]),
    default=Provider.BUILTIN.value,
    show_default=True,
    envvar=PROVIDER_VARIABLE,
    show_envvar=True,
    help="Who puts node features onto nodes: this worker, or a real Node Feature Discovery.",
)
@click.option("--log-format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--check", is_flag=True, help="Check rules and environment, print what would be run, and stop.")
@rules_options
def command(
    kubeconfig: Path | None,
    context: str | None,
    namespace: str,
    leader_elect: bool,
    trusted: tuple[str, ...],
    provider: str,
    form: Form,
    check: bool,
    rules: Rules,
) -> int:
    r"""Turn nodes into a scheduling chain, and keep it so, until SIGTERM.

    Brings its CustomResourceDefinitions, seeds the Secret gpustack-settings (GPUSTACK_<SETTING> of the environment, or
    defaults), labels nodes from NodeFeatures, and keeps ResourceFlavors and Topologies. A changed setting acts at once.

    \b
    Against a cluster:
      engine worker --kubeconfig ~/.kube/config
      engine worker --kubeconfig ~/.kube/config --no-leader-elect --log-format json
      engine worker --kubeconfig ~/.kube/config --rules my-rules

    Exit codes: 0 stopped by SIGTERM or SIGINT, 1 the cluster refused what is needed or the lease was lost, 2 bad usage,
    rules or kubeconfig.
    """
    program = shipped_program(rules)
    options = Options(
        identity=f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}",
        namespace=namespace,
        is_elected=leader_elect,
        trusted_namespaces=trusted,
        provider=Provider(provider),
        environment=dict(os.environ),
    )
    if check:
        return _check(program, options)
    log = Log(lambda line: click.echo(line, err=True), form)
    try:
        return asyncio.run(_run(program, options, kubeconfig, context, log))
    except SettingsError as error:
        raise UsageError(error.what, where=error.where, why=error.why, remedy=error.remedy) from error
    except ClusterError as error:
        log.failure("stops", error=error, type=type(error).__name__)
        return FAILED


async def _run(program: Program, options: Options, kubeconfig: Path | None, context: str | None, log: Log) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    where = await connection(kubeconfig, context)
    log.info("starts", server=where.server, namespace=options.namespace, rules=program.digest)
    async with HttpTransport(where, user_agent="engine-worker") as transport:
        worker = asyncio.ensure_future(Worker(Client(transport), program, options, log).run())
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({worker, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not worker.done():
            log.info("stops", why="it was told to")
            worker.cancel()
            await asyncio.wait({worker})
        stopping.cancel()
        if not worker.cancelled() and (error := worker.exception()) is not None:
            raise error
    return Exit.CLEAN


def _check(program: Program, options: Options) -> int:
    seeds = SettingsReader(program.block("settings"), options.environment).seeds
    click.echo(f"rules {program.digest}, makers {', '.join(program.makers)}")
    click.echo(f"namespace {options.namespace}, features provider {options.provider}")
    click.echo(f"definitions {', '.join(sorted(documents()))}")
    for name, text in sorted(seeds.items()):
        click.echo(f"seeds {name}={text}")
    return Exit.CLEAN
