"""`make demo-live`: machines played as nodes on a real control plane, a worker beside it, and one switch turned twice.

Prints each command and what it printed. Ends everything it started; says how long it took.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.cluster.__main__ import SKIPPED
from tests.cluster.binaries import build
from tests.cluster.cluster import Cluster
from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.layout import REPOSITORY, SYSTEM_NAMESPACE
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.needs import in_ci
from tests.cluster.player import NodePlayer

WALKTHROUGH: Final = REPOSITORY / "tests" / "machines" / "walkthrough"
SWITCHED: Final = "node-a10g"
ALL: Final = 7
WITHOUT: Final = 5
WAIT_SECONDS: Final = 60.0


def main() -> int:
    options = _parser().parse_args()
    begun = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - begun:5.1f} s] {line}", flush=True)

    try:
        build(say)
        say("starts etcd, API server, controller-manager, scheduler and Kueue")
        with Cluster.start(say=say) as cluster:
            _show(cluster, say, options.machines)
    except MissingError as error:
        for need in error.needs:
            print(f"demo-live: {need}", file=sys.stderr)
        return 1 if in_ci() else SKIPPED
    except ClusterError as error:
        print(f"demo-live: {error}", file=sys.stderr)
        return 1
    say("done; nothing is left behind")
    return 0


def _show(cluster: Cluster, say: Callable[[str], None], machines: list[Path]) -> None:
    say("starts `engine worker`, and plays the machines of " + ", ".join(map(str, machines)))
    argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", cluster.kubeconfig]
    worker = cluster.spawn("engine-worker", argv)
    machinery = Machinery()
    with NodePlayer(cluster.api) as player:
        player.add([machinery.objects(each) for each in machine_facts(machines)])
        _until(cluster, ALL)
        say("every node has its labels")
        _run(cluster, "get", "nodes", "-L", "gpustack.ai/managed")
        _run(cluster, "get", "resourceflavors")
        for value, count in (("false", WITHOUT), ("true", ALL)):
            word = "out of" if value == "false" else "back into"
            say(f"{SWITCHED} is taken {word} management")
            patch = f'{{"spec":{{"labels":{{"gpustack.ai/managed":"{value}"}}}}}}'
            feature = f"{SWITCHED}-gpustack-worker"
            _run(cluster, "-n", SYSTEM_NAMESPACE, "patch", "nodefeature", feature, "--type=merge", "-p", patch)
            turned = time.monotonic()
            _until(cluster, count)
            say(f"the flavors have followed within {time.monotonic() - turned:.1f} s")
            _run(cluster, "get", "resourceflavors")
    say("stops the worker")
    worker.stop()
    if worker.wait(10) != 0:
        raise ClusterError(f"the worker did not stop cleanly; its log ends:\n{cluster.log('engine-worker')}")


def _until(cluster: Cluster, count: int) -> None:
    """Until so many flavors are there."""
    deadline = time.monotonic() + WAIT_SECONDS
    while len(cluster.api.get("/apis/kueue.x-k8s.io/v1beta2/resourceflavors")["items"]) != count:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"no {count} flavors after {WAIT_SECONDS:.0f} s; the worker says:\n{cluster.log('engine-worker')}"
            )
        time.sleep(0.05)


def _run(cluster: Cluster, *arguments: str) -> None:
    shown = " ".join(f"'{each}'" if "{" in each else each for each in arguments)
    print(f"\n$ kubectl {shown}\n{cluster.kubectl(*arguments)}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.demo_live", description=__doc__)
    parser.add_argument("machines", nargs="*", type=Path, default=[WALKTHROUGH.relative_to(REPOSITORY)])
    return parser


if __name__ == "__main__":
    sys.exit(main())
