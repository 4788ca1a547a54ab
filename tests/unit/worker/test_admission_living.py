"""The check of devices at work: Workloads of a Kueue are answered by the worker, from what `Devices` say on a cluster in memory."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.cluster.resources import DEVICES, NODES, WORKLOADS
from engine.cluster.transport import Request
from tests.fakes import verbs
from tests.fakes.faults import Storm
from tests.unit.worker.queues_stage import A10G, CHECK, CREDITS, T4, QueueStage, with_kueue
from tests.unit.worker.stage import objects

pytestmark = pytest.mark.living

GPU = "nvidia.com/gpu"
UNITS = 1_600_000
YES = "the assigned flavor pool has enough free cards to place the request"
NO = "no node in the assigned flavor pool currently has enough free cards; will retry as capacity frees"
FLAVOR_4D = "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64-4d"
NODE = "node-t4-b"


def charge(requests: dict[str, str]) -> dict[str, str]:
    """As the shipped transformations do for whole cards."""
    return {CREDITS: str(int(requests.get(GPU, "0")) * UNITS)}


def living(test: Callable[[QueueStage], Awaitable[None]], **options: Any) -> QueueStage:
    async def main(stage: QueueStage) -> None:
        stage.kueue._transform = charge
        await test(stage)

    return with_kueue(main, **options)


def groups(node: str, **modes: tuple[int, int]) -> list[dict[str, Any]]:
    """What is taken of a node's cards: `c0=(mode, remaining)`; the others are free."""
    body = next(each.devices for each in objects("walkthrough") if each.name == node)
    assert body is not None
    found: list[dict[str, Any]] = copy.deepcopy(body["status"]["groups"])
    for number, row in enumerate(found[0]["accelerators"]):
        row["mode"], row["remaining"] = modes.get(f"c{number}", (0, UNITS))
    return found


def status(stage: QueueStage, name: str) -> dict[str, Any]:
    found = stage.server.get(WORKLOADS, name, "default")
    assert found is not None
    known: dict[str, Any] = found.get("status") or {}
    return known


def answer(stage: QueueStage, name: str) -> tuple[str, str]:
    (check,) = status(stage, name)["admissionChecks"]
    return check["state"], check["message"]


def has(stage: QueueStage, name: str, condition: str) -> bool:
    return any(each["type"] == condition and each["status"] == "True" for each in status(stage, name)["conditions"])


def answers(stage: QueueStage) -> list[bool]:
    """All that were written, in order."""
    return ["ready=True" in line for line in stage.lines if "answered" in line]


async def reserve(stage: QueueStage, name: str, node: str, cards: int = 1, **changes: Any) -> None:
    """A Workload that Kueue has placed by topology. It is in no queue of the model, which places none."""
    container = {"name": "c", "resources": {"requests": {GPU: str(cards)}}}
    pod = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    body = WORKLOADS.body(name, "default", spec={"queueName": "by-hand", "podSets": [pod]})
    await stage.admin.create(WORKLOADS, body, manager="kubectl")
    part = {"domainCount": 1, "valuesPerLevel": [{"universal": node}], "podCounts": {"universal": 1}}
    assignment = {
        "name": "main",
        "count": 1,
        "flavors": {CREDITS: FLAVOR_4D},
        "topologyAssignment": {"levels": ["kubernetes.io/hostname"], "slices": [part]},
    }
    now = stage.clock.wall().strftime("%Y-%m-%dT%H:%M:%SZ")
    await patch(
        stage,
        name,
        admission={"clusterQueue": T4, "podSetAssignments": [assignment]},
        admissionChecks=[{"name": CHECK, "state": "Pending", "message": "", "lastTransitionTime": now}],
        conditions=[{"type": "QuotaReserved", "status": "True", "reason": "r", "lastTransitionTime": now}],
        **changes,
    )


async def patch(stage: QueueStage, name: str, **parts: Any) -> None:
    await stage.admin.merge_patch(
        WORKLOADS, name, {"status": parts}, manager="kueue", namespace="default", subresource="status"
    )


async def conditions(stage: QueueStage, name: str, **states: str) -> None:
    """Kueue's own: the reservation stays."""
    kept = [each for each in status(stage, name)["conditions"] if each["type"] not in states]
    made = [{"type": kind, "status": state, "reason": "r", "lastTransitionTime": "t"} for kind, state in states.items()]
    await patch(stage, name, conditions=[*kept, *made])


def test_a_job_with_whole_cards_is_admitted_once_the_check_says_ready() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("job", stage.door(A10G), GPU, "1")
        await stage.wait(2)
        assert answer(stage, "job") == ("Ready", YES)
        assert has(stage, "job", "Admitted")

    stage = living(test)
    assert answers(stage) == [True]
    writes = [each for each in stage.server.writes("engine") if "workloads" in each.path]
    assert [(each.method, each.path) for each in writes] == [
        ("PATCH", "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/job/status")
    ]


def test_a_job_is_sent_back_while_its_card_is_partly_used_and_admitted_after_it_was_freed() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.take("node-a10g", groups("node-a10g", c0=(3, UNITS - 320_000)))
        await stage.workload("job", stage.door(A10G), GPU, "1")
        await stage.wait(20)
        assert not has(stage, "job", "Admitted")
        assert not has(stage, "job", "QuotaReserved")
        assert answers(stage) == [False]
        assert any(NO in line for line in stage.lines)
        await stage.wait(20)
        assert answers(stage) == [False, False], "Kueue asks again after 30 s"
        await stage.take("node-a10g", groups("node-a10g"))
        await stage.wait(40)
        assert has(stage, "job", "Admitted")
        assert answer(stage, "job") == ("Ready", YES)

    assert answers(living(test)) == [False, False, True]


def test_a_retry_carries_the_delay_and_is_said_once() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.take(NODE, groups(NODE, **{f"c{at}": (2, UNITS - 160_000) for at in range(4)}))
        await reserve(stage, "job", NODE)
        await stage.wait(2)
        (check,) = status(stage, "job")["admissionChecks"]
        assert (check["state"], check["message"], check["requeueAfterSeconds"]) == ("Retry", NO, 30)
        await conditions(stage, "job", PodsReady="False")
        await stage.wait(2)

    assert answers(living(test)) == [False]


def test_a_workload_is_judged_by_the_node_that_kueue_chose() -> None:
    async def test(stage: QueueStage) -> None:
        await reserve(stage, "four", NODE, 4)
        await reserve(stage, "elsewhere", "node-t4-a", 1)
        await stage.wait(2)
        assert answer(stage, "four") == ("Ready", YES)
        assert answer(stage, "elsewhere") == ("Retry", NO), "that node is none of this flavor"

    living(test)


def test_a_promised_card_is_promised_once_until_the_ledger_shows_it() -> None:
    async def test(stage: QueueStage) -> None:
        held = {"c0": (1, 0), "c1": (1, 0), "c2": (1, 0)}
        await stage.take(NODE, groups(NODE, **held))
        await reserve(stage, "first", NODE)
        await reserve(stage, "second", NODE)
        await stage.wait(2)
        assert answer(stage, "first") == ("Ready", YES)
        assert answer(stage, "second") == ("Retry", NO)
        await conditions(stage, "first", Admitted="True")
        # The first takes its card, and one that nobody asked Kueue for is given back.
        await stage.take(NODE, groups(NODE, c1=(1, 0), c2=(1, 0), c3=(1, 0)))
        await stage.wait(2)
        await reserve(stage, "third", NODE)
        await stage.wait(2)
        assert answer(stage, "third") == ("Ready", YES)

    living(test)


def test_a_promise_goes_with_its_workload() -> None:
    async def test(stage: QueueStage) -> None:
        await reserve(stage, "first", NODE, 4)
        await stage.wait(2)
        await reserve(stage, "second", NODE, 1)
        await stage.wait(2)
        assert answer(stage, "second")[0] == "Retry"
        await stage.admin.delete(WORKLOADS, "first", "default")
        await reserve(stage, "third", NODE, 1)
        await stage.wait(2)
        assert answer(stage, "third")[0] == "Ready"

    living(test)


def test_a_worker_that_begins_knows_what_was_promised_before_it() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.take(NODE, groups(NODE, c0=(1, 0), c1=(1, 0)))
        await reserve(stage, "runs", NODE, 2)
        await reserve(stage, "starts", NODE, 1)
        await stage.wait(2)
        await stage.stop()
        for name in ("runs", "starts"):
            await conditions(stage, name, Admitted="True")
        stage.start()
        await reserve(stage, "one", NODE, 1)
        await reserve(stage, "two", NODE, 1)
        await stage.wait(5)
        assert answer(stage, "one")[0] == "Ready", "two of the three that were promised are held"
        assert answer(stage, "two")[0] == "Retry"

    living(test)


def test_what_a_workload_was_promised_before_it_was_admitted_is_not_held_by_it() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.take(NODE, groups(NODE, c0=(1, 0), c1=(1, 0)))
        await reserve(stage, "waits", NODE, 1)
        await stage.wait(2)
        await stage.stop()
        stage.start()
        await reserve(stage, "one", NODE, 1)
        await reserve(stage, "two", NODE, 1)
        await stage.wait(5)
        assert [answer(stage, name)[0] for name in ("waits", "one", "two")] == ["Ready", "Ready", "Retry"]

    living(test)


def test_a_ready_is_said_of_the_ledger_itself_and_not_of_a_cache() -> None:
    async def test(stage: QueueStage) -> None:
        devices = stage.server.kind(str(DEVICES))
        asked: list[str] = []

        def taken_just_now(request: Request) -> None:
            if request.method == "GET" and request.path.endswith(f"/devices/{NODE}") and not asked:
                asked.append(request.path)
                full = {"status": {"groups": groups(NODE, **{f"c{at}": (1, 0) for at in range(4)})}}
                verbs.merge_patch(stage.server, devices, ("", NODE), full, "device-manager", "status")

        stage.server.faults.before = taken_just_now
        await reserve(stage, "job", NODE)
        await stage.wait(2)
        assert asked
        assert answer(stage, "job") == ("Retry", NO)

    living(test)


def test_nothing_is_said_while_the_ledger_cannot_be_asked() -> None:
    async def test(stage: QueueStage) -> None:
        stage.server.faults.storm = Storm(503, selects=lambda request: request.path.endswith(f"/devices/{NODE}"))
        await reserve(stage, "job", NODE)
        await stage.wait(20)
        assert answer(stage, "job")[0] == "Pending"
        stage.server.faults.storm = None
        await stage.wait(60)
        assert answer(stage, "job")[0] == "Ready"

    living(test)


def test_a_workload_that_kueue_evicts_meanwhile_gets_no_verdict() -> None:
    async def test(stage: QueueStage) -> None:
        workloads = stage.server.kind(str(WORKLOADS))
        evicted: list[str] = []

        def evict(request: Request) -> None:
            if request.method == "PATCH" and request.path.endswith("/workloads/job/status") and not evicted:
                evicted.append(request.path)
                known = status(stage, "job")["conditions"]
                now = {"type": "Evicted", "status": "True", "reason": "Preempted", "lastTransitionTime": "t"}
                body = {"status": {"conditions": [*known, now]}}
                verbs.merge_patch(stage.server, workloads, ("default", "job"), body, "kueue", "status")

        await reserve(stage, "job", NODE)
        stage.server.faults.before = evict
        await stage.wait(20)
        assert evicted
        assert answer(stage, "job")[0] == "Pending"
        await reserve(stage, "other", NODE, 4)
        await stage.wait(2)
        assert answer(stage, "other")[0] == "Ready", "and what it was promised is free again"

    living(test)


@pytest.mark.parametrize("state", ["Evicted", "Finished", "Admitted"])
def test_a_workload_that_does_not_wait_is_left_alone(state: str) -> None:
    async def test(stage: QueueStage) -> None:
        await stage.stop()
        await reserve(stage, "job", NODE)
        await conditions(stage, "job", **{state: "True"})
        stage.start()
        await stage.wait(5)
        assert answer(stage, "job")[0] == "Pending"

    living(test)


def test_a_check_of_somebody_else_is_not_answered() -> None:
    async def test(stage: QueueStage) -> None:
        foreign = [
            {"name": each, "state": "Pending", "message": "", "lastTransitionTime": "t"} for each in ("other", CHECK)
        ]
        await stage.stop()
        await reserve(stage, "job", NODE)
        await patch(stage, "job", admissionChecks=foreign)
        stage.start()
        await stage.wait(5)
        states = {each["name"]: each["state"] for each in status(stage, "job")["admissionChecks"]}
        assert states == {"other": "Pending", CHECK: "Ready"}

    living(test)


def test_absurd_numbers_serve_nothing_and_are_told() -> None:
    async def test(stage: QueueStage) -> None:
        absurd = groups(NODE)
        for row in absurd[0]["accelerators"]:
            row["remaining"] = -5
        await stage.take(NODE, absurd)
        await stage.wait(5)
        await reserve(stage, "job", NODE)
        await stage.wait(5)
        assert answer(stage, "job") == ("Retry", NO)
        await stage.take(NODE, groups(NODE, c0=(1, 99 * UNITS), c1=(5, 0), c2=(1, 0)))
        await reserve(stage, "one", NODE, 1)
        await reserve(stage, "two", NODE, 2)
        await stage.wait(5)
        assert answer(stage, "one")[0] == "Ready", "the only card whose row can be believed, and is free"
        assert answer(stage, "two")[0] == "Retry"

    assert any(NODE in line and "cannot be read" in line for line in living(test).lines)


def test_a_node_that_has_gone_serves_nothing() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.stop()
        devices = stage.server.get(DEVICES, NODE)
        assert devices is not None
        await stage.admin.delete(NODES, NODE)
        stage.start()
        body = {**devices, "metadata": {"name": NODE, "labels": devices["metadata"]["labels"]}}
        if stage.server.get(DEVICES, NODE) is None:
            await stage.put_devices(body)
        await reserve(stage, "job", NODE)
        await stage.wait(2)
        assert answer(stage, "job") == ("Retry", NO)

    living(test)


def test_nothing_is_written_at_rest() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("job", stage.door(A10G), GPU, "1")
        await stage.wait(5)
        before = len(stage.server.writes("engine"))
        await stage.wait(3600)
        assert len(stage.server.writes("engine")) == before

    living(test)
