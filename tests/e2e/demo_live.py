"""`make demo-live`: the walkthrough's machines as nodes of a real control plane, a worker beside it, step by step.

Prints each command and what it printed. Ends everything it started; says how long it took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Final

from tests.cluster.__main__ import SKIPPED
from tests.cluster.binaries import build
from tests.cluster.cluster import Cluster
from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.layout import SYSTEM_NAMESPACE
from tests.cluster.machines import Machinery
from tests.cluster.needs import in_ci
from tests.e2e.live import A10G, CUSTOM, CUSTOM_TYPE, Live, walkthrough
from tests.e2e.waiting import eventually

NODE: Final = "node-a10g"
TYPES: Final = 3
AWARE: Final = 8
WAIT_SECONDS: Final = 90.0

Say = Callable[[str], None]


def main() -> int:
    _parser().parse_args()
    begun = time.monotonic()

    def say(line: str) -> None:
        print(f"\n[{time.monotonic() - begun:5.1f} s] {line}", flush=True)

    try:
        build(say)
        say("starts etcd, API server, controller-manager, scheduler and Kueue")
        with Cluster.start(say=say) as cluster:
            say("starts `engine worker`, and plays the four machines of tests/machines/walkthrough")
            with walkthrough(cluster, Machinery()) as live:
                Demo(live, say).run()
    except MissingError as error:
        for need in error.needs:
            print(f"demo-live: {need}", file=sys.stderr)
        return 1 if in_ci() else SKIPPED
    except (AssertionError, ClusterError) as error:
        print(f"demo-live: {error}", file=sys.stderr)
        return 1
    say("done; nothing is left behind")
    return 0


class Demo:
    """The steps, each left as it was found."""

    def __init__(self, live: Live, say: Say) -> None:
        self._live = live
        self._say = say

    def run(self) -> None:
        self._everything()
        self._out_of_management()
        self._a_type_of_ones_own()
        self._aware_of_the_cpu()

    def _everything(self) -> None:
        self._until(lambda: self._active() == TYPES, "three types are active")
        self._say("step 1: nodes have become flavors, queues, types and a catalogue")
        for kind in ("nodes -L gpustack.ai/managed", "resourceflavors", "clusterqueues", "instancetypes"):
            self._kubectl("get", *kind.split())
        self._kubectl("get", "instancetypeflavors")
        self._kubectl("get", "devices")

    def _out_of_management(self) -> None:
        for value, word in (("false", "out of"), ("true", "back into")):
            self._say(f"step 2: {NODE} is taken {word} management")
            patch = {"spec": {"labels": {"gpustack.ai/managed": value}}}
            self._patch("nodefeature", f"{NODE}-gpustack-worker", patch, "-n", SYSTEM_NAMESPACE)
            wanted = "Inactive" if value == "false" else "Active"
            begun = time.monotonic()
            self._until(lambda wanted=wanted: self._phase(A10G) == wanted, f"{A10G} is {wanted}")  # type: ignore[misc]
            self._say(f"the chain has followed within {time.monotonic() - begun:.1f} s")
            self._kubectl("get", "instancetypes")

    def _a_type_of_ones_own(self) -> None:
        self._say("step 4: somebody makes a type of their own, and a Job runs through it")
        print(self._live.cluster.kubectl("apply", "-f", "-", given=json.dumps(CUSTOM_TYPE)), flush=True)
        self._until(lambda: self._phase(CUSTOM) == "Active", "it is active")
        self._kubectl("get", "instancetypes")
        for value, policy in ((True, "Hold"), (False, "None")):
            self._patch("instancetype", CUSTOM, {"spec": {"inactive": value}})
            self._until(lambda policy=policy: self._live.policy(CUSTOM) == policy, f"its queue says {policy}")  # type: ignore[misc]
            self._kubectl("get", "clusterqueue", CUSTOM, "-o", "jsonpath={.spec.stopPolicy}")
        self._until(lambda: self._phase(CUSTOM) == "Active", "it is active again")
        self._live.submit("custom-demo", CUSTOM, **{"nvidia.com/gpu": "1"})
        self._until(lambda: self._live.is_admitted("custom-demo"), "the Job is admitted")
        self._kubectl("get", "workloads")
        self._say("the type is deleted while the Job runs: its queue drains, the Job is suspended")
        self._kubectl("delete", "instancetype", CUSTOM, "--wait=false")
        self._until(lambda: self._live.is_suspended("custom-demo"), "the Job is suspended")
        self._until(lambda: not self._live.policy(CUSTOM), "the queue is gone")
        self._until(lambda: CUSTOM not in self._live.types(), "the type is gone")
        self._kubectl("get", "jobs")
        self._kubectl("get", "instancetypes")
        self._live.finish("custom-demo")

    def _aware_of_the_cpu(self) -> None:
        for value, count in (("true", AWARE), ("false", AWARE)):
            self._say(f"step 5: instance-type-aware-cpu-manufacturer is {value}, without a restart")
            patch = {"stringData": {"instance-type-aware-cpu-manufacturer": value}}
            self._patch("secret", "gpustack-settings", patch, "-n", SYSTEM_NAMESPACE)
            rows = 5 if value == "true" else TYPES
            self._until(lambda count=count: self._active() == count, f"{count} types are active")  # type: ignore[misc]
            self._until(lambda rows=rows: len(self._live.catalogue()) == rows, f"the catalogue has {rows} rows")  # type: ignore[misc]
            self._kubectl("get", "instancetypes")
            self._kubectl("get", "instancetypeflavors")

    def _active(self) -> int:
        return sum(row[-1] == "Active" for row in self._live.types().values())

    def _phase(self, name: str) -> str:
        return self._live.types().get(name, ("",))[-1]

    def _until(self, look: Callable[[], bool], what: str) -> None:
        eventually(look, WAIT_SECONDS, what=what)

    def _patch(self, kind: str, name: str, patch: object, *more: str) -> None:
        self._kubectl("patch", kind, name, *more, "--type=merge", "-p", json.dumps(patch))

    def _kubectl(self, *arguments: str) -> None:
        shown = " ".join(f"'{each}'" if "{" in each else each for each in arguments)
        print(f"\n$ kubectl {shown}\n{self._live.cluster.kubectl(*arguments)}", flush=True)


def _parser() -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog="python -m tests.e2e.demo_live", description=__doc__)


if __name__ == "__main__":
    sys.exit(main())
