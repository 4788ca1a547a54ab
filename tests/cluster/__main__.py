"""The testbed on the command line: `python -m tests.cluster up`, `down`, `status`, `logs`, `env`, `nodes`, `build`, `restart`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 77 this machine lacks something (1 in continuous integration, where nothing
is skipped).
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.errors import EngineError
from tests.cluster.binaries import build
from tests.cluster.cluster import Cluster
from tests.cluster.components import component
from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.layout import Folder, runs_home
from tests.cluster.needs import in_ci
from tests.cluster.world import World, is_alive, tail

SKIPPED: Final = 77
"""What automake's tests have always said for "skipped"."""


def main() -> int:
    options = _parser().parse_args()
    try:
        return options.act(options)
    except MissingError as error:
        for need in error.needs:
            print(f"tests.cluster: {need}", file=sys.stderr)
        return 1 if in_ci() else SKIPPED
    except (ClusterError, EngineError) as error:
        print(f"tests.cluster: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `logs | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def up(options: argparse.Namespace) -> int:
    folder = Folder.named(options.name)
    if is_alive(folder):
        if not folder.state.exists():
            raise ClusterError(f"{options.name} is half up; run `python -m tests.cluster down --name {options.name}`")
        print(f"{options.name} is up already; `down` first to start it differently")
        return 0
    build(_say)
    cluster = Cluster.start(
        options.name,
        detached=True,
        with_kueue=not options.without_kueue,
        kueue_configuration=options.kueue_config,
        say=_say,
    )
    print(
        f"{options.name} is up after {cluster.timings['ready']:.1f} s; for a shell: {_environment_hint(options.name)}"
    )
    return 0


def down(options: argparse.Namespace) -> int:
    folder = Folder.named(options.name)
    if is_alive(folder):
        World(folder).stop()
    shutil.rmtree(folder.path, ignore_errors=True)
    return 0


def status(_options: argparse.Namespace) -> int:
    """All runs, also those of tests."""
    found = sorted(each for each in runs_home().glob("*") if each.is_dir()) if runs_home().exists() else []
    for path in found:
        folder = Folder(path)
        if not is_alive(folder):
            print(f"{path.name}: ended; logs in {folder.logs}")
            continue
        print(f"{path.name}: up, {path}")
        for each in World(folder).processes():
            code = "" if each["code"] is None else f", code {each['code']}"
            print(f"  {each['name']:<24} {each['state']}{code}, started {each['starts']}x, {each['seconds']:.0f} s")
    if not found:
        print("no cluster runs")
    return 0


def logs(options: argparse.Namespace) -> int:
    folder = Folder.named(options.name)
    if options.component is None:
        for file in sorted(folder.logs.glob("*.log")):
            print(f"{file.stat().st_size:>10} {file}")
        return 0
    exact = folder.log(options.component)
    file = exact if exact.exists() else folder.log(component(options.component))
    print(tail(file, options.lines))
    return 0


def env(options: argparse.Namespace) -> int:
    cluster = Cluster.attach(options.name)
    print(f"export KUBECONFIG={cluster.kubeconfig}")
    print(f'export PATH="{cluster.folder.commands}:$PATH"')
    print("# kubectl goes inside by itself; anything else: python -m tests.cluster exec -- COMMAND")
    return 0


def execute(options: argparse.Namespace) -> int:
    cluster = Cluster.attach(options.name)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise ClusterError("exec needs a command: python -m tests.cluster exec -- kubectl get nodes")
    os.environ["KUBECONFIG"] = str(cluster.kubeconfig)
    os.environ["PATH"] = f"{cluster.binaries.folder}:{os.environ.get('PATH', '')}"
    inside = cluster.world.command(command)
    os.execvp(inside[0], inside)
    return 0


def nodes(options: argparse.Namespace) -> int:
    from tests.cluster.machines import Machinery, copies, machine_facts
    from tests.cluster.player import NodePlayer

    cluster = Cluster.attach(options.name)
    facts = machine_facts(options.paths)
    if options.copies:
        facts = list(copies(facts, options.copies))
    if options.detach:
        return _detach_nodes(cluster, options, [each.name for each in facts])
    machinery = Machinery()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    periods = {"lease_seconds": options.lease_seconds, "status_seconds": options.status_seconds}
    with NodePlayer(cluster.api, on_error=_say, **periods) as player:
        begun = time.monotonic()
        player.add([machinery.objects(each) for each in facts])
        _say(f"playing {len(facts)} nodes, up after {time.monotonic() - begun:.1f} s; Ctrl-C ends it")
        ended.wait()
    return 0


def build_all(_options: argparse.Namespace) -> int:
    print(build(_say).folder)
    return 0


def restart(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    name = component(options.component)
    cluster = Cluster.attach(options.name)
    cluster.restart(name, kill=options.kill, kueue_configuration=options.kueue_config)
    print(f"{name} is ready again after {time.monotonic() - begun:.1f} s")
    return 0


def send(signal_name: str) -> Callable[[argparse.Namespace], int]:
    def act(options: argparse.Namespace) -> int:
        cluster = Cluster.attach(options.name)
        known = {each["name"] for each in cluster.world.processes()}
        name = options.component if options.component in known else component(options.component)
        cluster.process(name).signal(signal_name)
        return 0

    return act


def _detach_nodes(cluster: Cluster, options: argparse.Namespace, names: list[str]) -> int:
    paths = [str(Path(each).resolve()) for each in options.paths]
    argv = [sys.executable, "-m", "tests.cluster", "nodes", "--name", options.name, *paths]
    argv += [f"--copies={options.copies}", f"--lease-seconds={options.lease_seconds}"]
    argv += [f"--status-seconds={options.status_seconds}"]
    process = cluster.spawn(options.process, argv)
    wanted = set(names)
    while wanted:
        code = process.wait(0.2)
        if code is not None:
            raise ClusterError(f"the node player ended with {code}:\n{cluster.log(options.process)}")
        seen = cluster.api.get("/api/v1/nodes")["items"]
        wanted -= {each["metadata"]["name"] for each in seen if _is_ready(each)}
    print(f"{len(names)} nodes are Ready, played by process {options.process} of {options.name}")
    return 0


def _is_ready(node: dict) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", ()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.cluster", description="A real control plane, private to a run."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, act: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.set_defaults(act=act)
        made.add_argument("--name", default="default", help="which cluster; several can run side by side")
        return made

    one = command("up", up, "start a cluster that stays until `down`")
    one.add_argument("--kueue-config", type=Path, metavar="FILE", help="a Kueue Configuration instead of the default")
    one.add_argument("--without-kueue", action="store_true", help="leave Kueue out")
    command("down", down, "end it and remove its files")
    command("status", status, "what runs")
    one = command("logs", logs, "the logs, or the end of one")
    one.add_argument("component", nargs="?")
    one.add_argument("--lines", type=int, default=100)
    command("env", env, 'shell lines: eval "$(python -m tests.cluster env)"')
    one = command("exec", execute, "run a command inside")
    one.add_argument("command", nargs=argparse.REMAINDER)
    one = command("nodes", nodes, "play the machines of files as nodes")
    one.add_argument("paths", nargs="+", metavar="PATH")
    one.add_argument("--copies", type=int, default=0, metavar="N", help="each machine N times")
    one.add_argument("--detach", action="store_true", help="play in the background, inside the cluster")
    one.add_argument("--process", default="nodes", help="the background process's name")
    one.add_argument("--lease-seconds", type=float, default=10.0)
    one.add_argument("--status-seconds", type=float, default=300.0)
    command("build", build_all, "build the binaries, once")
    one = command("restart", restart, "restart a component and wait until it is ready")
    one.add_argument("component")
    one.add_argument("--kill", action="store_true", help="by SIGKILL")
    one.add_argument("--kueue-config", type=Path, metavar="FILE")
    for name, signal_name, text in (
        ("kill", "SIGKILL", "kill a component or a spawned process"),
        ("pause", "SIGSTOP", "stop it in its tracks"),
        ("resume", "SIGCONT", "let it go on"),
    ):
        command(name, send(signal_name), text).add_argument("component")
    return parser


def _environment_hint(name: str) -> str:
    end = "" if name == "default" else f" --name {name}"
    return f'eval "$(python -m tests.cluster env{end})"'


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
