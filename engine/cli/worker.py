"""`engine worker`: the control plane's worker, until it is told to stop.

Options in, exit code out; what the worker does is `engine.worker`. Logs go to standard error, one line an event.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.packs import Rules, identity_overrides, read_files, rules_options, shipped_program
from engine.cli.version import number
from engine.cluster.client import Client
from engine.cluster.errors import ClusterError, SettingsError
from engine.cluster.http import HttpTransport
from engine.cluster.session import connection
from engine.delivery.candidate import of_image
from engine.delivery.directory import Mount
from engine.delivery.stored import Stored, start
from engine.errors import UsageError
from engine.features.foreign import Provider
from engine.lang.program import Program
from engine.worker.app import Worker
from engine.worker.controllers.crd import documents
from engine.worker.log import Form, Log
from engine.worker.options import LOOPBACK, SECURE_PORT, SYSTEM_NAMESPACE, Options, Serving
from engine.worker.rulebook import Delivery, open_rules
from engine.worker.settings import SettingsReader

FAILED: Final = Exit.FINDINGS
"""The cluster refused what is needed, or the lease was lost: whoever runs it starts it again."""
NAMESPACE_VARIABLE: Final = "KUBERNETES_POD_NAMESPACE"
"""Source: specification 20 §8.3."""
DELIVERY_VARIABLE: Final = "ENGINE_RULES_DIR"
PROVIDER_VARIABLE: Final = "ENGINE_FEATURES_PROVIDER"


@click.command(
    "worker",
    cls=Command,
    examples=("engine worker --check", "engine worker --check --secure-port 0"),
    on_a_cluster=(
        "engine worker --kubeconfig ~/.kube/config",
        "engine worker --kubeconfig ~/.kube/config --no-leader-elect --log-format json",
        "engine worker --kubeconfig ~/.kube/config --rules my-rules",
        "curl http://127.0.0.1:31443/readyz?verbose",
        "curl http://127.0.0.1:31443/metrics",
    ),
)
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
@click.option(
    "--secure-port",
    "port",
    type=click.IntRange(0, 65535),
    default=SECURE_PORT,
    show_default=True,
    metavar="PORT",
    help="Where /livez, /readyz and /metrics are served; 0 serves nothing.",
)
@click.option(
    "--bind-address",
    "address",
    metavar="IP",
    help="The address served on: all of them with a certificate, without one 127.0.0.1 and no others.",
)
@click.option(
    "--tls-cert-file",
    "certificate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Serve with TLS, by this certificate (PEM); read again when it changes.",
)
@click.option(
    "--tls-private-key-file", "key", type=click.Path(path_type=Path), metavar="FILE", help="The certificate's key."
)
@click.option(
    "--rules-dir",
    "delivered",
    type=click.Path(path_type=Path),
    metavar="DIR",
    envvar=DELIVERY_VARIABLE,
    show_envvar=True,
    help="A volume of packs, followed while the worker runs; --rules is what it falls back to.",
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
    port: int,
    address: str | None,
    certificate: Path | None,
    key: Path | None,
    delivered: Path | None,
    form: Form,
    check: bool,
    rules: Rules,
) -> int:
    """Turn nodes into a scheduling chain, and keep it so, until SIGTERM.

    Brings its CustomResourceDefinitions, seeds the Secret gpustack-settings (GPUSTACK_<SETTING> of the environment, or
    defaults), labels nodes from NodeFeatures, and keeps ResourceFlavors and Topologies. A changed setting acts at once.

    Exit codes: 0 stopped by SIGTERM or SIGINT, 1 the cluster refused what is needed or the lease was lost, 2 bad usage,
    rules, kubeconfig or certificate, a port that is taken.
    """
    options = Options(
        identity=f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}",
        namespace=namespace,
        is_elected=leader_elect,
        trusted_namespaces=trusted,
        provider=Provider(provider),
        environment=dict(os.environ),
        serving=serving_of(port, address, certificate, key),
        version=number(),
    )
    delivery = delivery_of(rules, delivered, namespace)
    if check:
        return _check(delivery, rules, options)
    log = Log(lambda line: click.echo(line, err=True), form)
    try:
        return asyncio.run(_run(delivery, options, kubeconfig, context, log))
    except SettingsError as error:
        raise UsageError(error.what, where=error.where, why=error.why, remedy=error.remedy) from error
    except ClusterError as error:
        log.failure("stops", error=error, type=type(error).__name__)
        return FAILED


def serving_of(port: int, address: str | None, certificate: Path | None, key: Path | None) -> Serving | None:
    """What is served, and to whom. Raises: UsageError: options that do not go together."""
    if not port:
        return None
    if address is None:
        address = LOOPBACK if certificate is None and key is None else ""
    return Serving(port, address, certificate, key)


def delivery_of(rules: Rules, delivered: Path | None, namespace: str) -> Delivery:
    """How rules come to the worker. Raises: InputError: a path of `--rules` or `--overlay` that cannot be read."""
    files = read_files((), rules)
    image = replace(of_image(files.packs, files.overlays), faults=tuple(files.found))
    mount = None if delivered is None else Mount(delivered, origin=namespace)
    return Delivery(image, mount, identity_overrides())


async def _run(delivery: Delivery, options: Options, kubeconfig: Path | None, context: str | None, log: Log) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    where = await connection(kubeconfig, context)
    log.info("starts", server=where.server, namespace=options.namespace)
    async with HttpTransport(where, user_agent="engine-worker") as transport:
        worker = asyncio.ensure_future(_work(Client(transport), delivery, options, log))
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


async def _work(client: Client, delivery: Delivery, options: Options, log: Log) -> None:
    book = await open_rules(client, options, delivery, log)
    await Worker(client, book.program, options, log, book).run()


def _check(delivery: Delivery, rules: Rules, options: Options) -> int:
    program = shipped_program(rules) if delivery.mount is None else _delivered_program(delivery)
    seeds = SettingsReader(program.block("settings"), options.environment).seeds
    click.echo(f"rules {program.digest}, makers {', '.join(program.makers)}")
    click.echo(f"namespace {options.namespace}, features provider {options.provider}")
    click.echo(f"serves {_served(options.serving)}")
    click.echo(f"definitions {', '.join(sorted(documents()))}")
    for name, text in sorted(seeds.items()):
        click.echo(f"seeds {name}={text}")
    return Exit.CLEAN


def _delivered_program(delivery: Delivery) -> Program:
    """The program that a worker would begin with where nothing was published. Raises: InputError: none can serve."""
    mounted = delivery.mount.read() if delivery.mount is not None else None
    begun = start(Stored(), mounted, delivery.image, overrides=delivery.overrides)
    for note in begun.notes:
        click.echo(f"passed over: {note}", err=True)
    click.echo(f"rules are those that are {'mounted' if begun.origin == 'mounted' else 'shipped'}")
    serving = begun.standing.serving
    assert serving is not None
    return serving.program


def _served(serving: Serving | None) -> str:
    if serving is None:
        return "nothing"
    scheme = "http" if serving.certificate is None else "https"
    return f"/livez, /readyz, /metrics over {scheme} on {serving.host or 'all addresses'}, port {serving.port}"
