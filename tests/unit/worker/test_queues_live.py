"""Queues of a worker beside a Kueue: they end where a plan offline ends, drain, come back, and survive being cut short."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.errors import Unreachable
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    INSTANCE_TYPES,
    NODES,
    RESOURCE_FLAVORS,
)
from engine.cluster.transport import Request
from engine.lang.outcome import Outcome
from tests.golden.objects import read
from tests.unit.features.world import program
from tests.unit.worker.queues_stage import A10G, CHECK, CREDITS, GENERIC, HOLD, PHASE, SAVED, T4, QueueStage, with_kueue
from tests.unit.worker.replaced import Replaced, unknown
from tests.unit.worker.stage import A10G as A10G_FLAVORS
from tests.unit.worker.stage import SEVEN

pytestmark = pytest.mark.living

READY = ("True", "Ready")
T4_BIG = SEVEN[4]
T4_SMALL = SEVEN[3]
TAS = "topology.gpustack.ai/tas-queue"


def test_the_queues_of_the_walkthrough_are_those_of_a_plan_offline() -> None:
    async def test(stage: QueueStage) -> None:
        for golden in read("clusterqueues.yaml"):
            name = golden["metadata"]["name"]
            live = stage.queue(name)
            assert live["spec"] == golden["spec"] | {"queueingStrategy": "BestEffortFIFO"}
            assert live["metadata"]["labels"] == golden["metadata"]["labels"]
            assert live["metadata"]["annotations"] == golden["metadata"]["annotations"]
            assert stage.ready(name) == READY
            kueue = {each["type"]: each["status"] for each in live["status"]["conditions"]}
            assert kueue == {"Active": "True", "TopologyReady": "True"}

    with_kueue(test)


def test_at_rest_nothing_is_written_and_another_worker_finds_nothing_to_do() -> None:
    async def test(stage: QueueStage) -> None:
        count = len(stage.server.writes("engine"))
        await stage.wait(3600)
        assert len(stage.server.writes("engine")) == count
        await stage.stop()
        stage.start("again")
        await stage.wait(120)
        assert [seen for seen in stage.server.seen if seen.sender == "again" and seen.method != "GET"] == []

    with_kueue(test)


def test_a_node_that_leaves_drains_its_queue_and_one_that_returns_opens_it_without_anybodys_doing() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("w", stage.door(A10G), CREDITS, "1600k")
        await stage.wait(5)
        assert stage.is_reserving("w")
        await stage.mark("node-a10g", "false")
        await stage.wait(30)
        assert not stage.is_reserving("w")
        assert (stage.policy(A10G), stage.quotas(A10G), stage.ready(A10G)) == ("HoldAndDrain", {}, READY)
        assert stage.notes(A10G) == {TAS: "true", PHASE: "switched", SAVED: "None"}
        assert stage.flavors() == [name for name in SEVEN if name not in A10G_FLAVORS], "Kueue let go of both"
        assert stage.quotas(T4) == {T4_SMALL: "1600k", T4_BIG: "6400k"}
        await stage.mark("node-a10g", "true")
        await stage.wait(30)
        assert (stage.policy(A10G), stage.notes(A10G), stage.ready(A10G)) == ("None", {TAS: "true"}, READY)
        assert stage.quotas(A10G) == {A10G_FLAVORS[0]: "1600k"}
        assert stage.is_reserving("w")

    with_kueue(test)


def test_a_drain_goes_on_as_soon_as_kueue_answers_however_slow_that_is() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("big", stage.door(T4), CREDITS, "4800k")
        await stage.wait(20)
        assert stage.is_reserving("big")
        await stage.mark("node-t4-b", "false")
        await stage.wait(1)
        assert stage.policy(T4) == "HoldAndDrain"
        await stage.wait(8.5)
        assert (stage.policy(T4), stage.quotas(T4)) == ("None", {T4_SMALL: "1600k"})

    with_kueue(test, kueue_seconds=4, seconds=60)


def test_an_idle_flavor_leaves_in_place_and_one_in_use_by_a_drain_after_which_the_queue_is_open() -> None:
    async def test(stage: QueueStage) -> None:
        seen: set[str] = set()
        await stage.mark("node-t4-b", "false")
        for _ in range(40):
            seen.add(stage.policy(T4))
            await stage.wait(0.5)
        assert (seen, stage.quotas(T4)) == ({"None"}, {T4_SMALL: "1600k"})
        await stage.mark("node-t4-b", "true")
        await stage.wait(20)
        await stage.workload("big", stage.door(T4), CREDITS, "4800k")
        await stage.wait(5)
        assert stage.is_reserving("big")
        await stage.mark("node-t4-b", "false")
        for _ in range(60):
            seen.add(stage.policy(T4))
            await stage.wait(0.5)
        assert seen == {"None", "HoldAndDrain"}
        assert (stage.policy(T4), stage.quotas(T4), stage.ready(T4)) == ("None", {T4_SMALL: "1600k"}, READY)
        assert not stage.is_reserving("big")
        assert T4_BIG not in stage.flavors()

    with_kueue(test)


def test_a_profile_that_is_lost_for_a_while_drains_nothing() -> None:
    async def test(stage: QueueStage) -> None:
        worker, _ = stage.workers["engine"]
        # Whoever puts it back is held up.
        worker.features.provider.put_direct_labels("node-a10g", {})
        for _ in range(60):
            patch = {"metadata": {"labels": {"topology.gpustack.ai/profile": None}}}
            await stage.admin.merge_patch(NODES, "node-a10g", patch, manager="kubectl")
            await stage.wait(1)
            assert "topology.gpustack.ai/profile" not in stage.labels("node-a10g")
            assert (stage.policy(A10G), stage.quotas(A10G)) == ("None", {A10G_FLAVORS[0]: "1600k"})

    with_kueue(test)


def test_a_pool_of_65_counts_is_refused_with_a_remedy_and_no_other_pool_notices() -> None:
    async def test(stage: QueueStage) -> None:
        for number in range(61):
            labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
            body = NODES.body(
                f"mute{number}", metadata={"labels": labels}, status={"capacity": {"cpu": f"{100 + number}"}}
            )
            await stage.admin.create(NODES, body, manager="kubelet")
        before = stage.quotas(GENERIC)
        await stage.wait(120)
        assert stage.ready(GENERIC) == ("False", "TooManyFlavors")
        assert stage.policy(GENERIC) == "None"
        assert set(before) <= set(stage.quotas(GENERIC))
        assert len(stage.quotas(GENERIC)) <= 64
        (event,) = stage.events("TooManyFlavors")
        assert event["note"].startswith(
            "covered resource requires 65 flavors; Kueue permits at most 64; give the nodes"
        )
        await stage.mark("node-a10g", "false")
        await stage.wait(30)
        assert stage.policy(A10G) == "HoldAndDrain"
        await stage.mark("mute0", "false")
        await stage.wait(60)
        assert stage.ready(GENERIC) == READY
        assert len(stage.quotas(GENERIC)) == 63

    with_kueue(test)


def test_a_queue_deleted_by_hand_is_drained_gone_and_made_anew_and_filled() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("w", stage.door(A10G), CREDITS, "1600k")
        await stage.wait(5)
        uid = stage.queue(A10G)["metadata"]["uid"]
        await stage.admin.delete(CLUSTER_QUEUES, A10G)
        await stage.wait(60)
        assert stage.queue(A10G)["metadata"]["uid"] != uid
        assert (stage.policy(A10G), stage.quotas(A10G)) == ("None", {A10G_FLAVORS[0]: "1600k"})

    with_kueue(test)


def test_quota_and_stop_policy_that_somebody_edits_come_back_as_far_as_they_are_ours() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.admin.merge_patch(CLUSTER_QUEUES, A10G, {"spec": {"resourceGroups": None}}, manager="kubectl")
        await stage.wait(10)
        assert stage.quotas(A10G) == {A10G_FLAVORS[0]: "1600k"}
        await stage.admin.merge_patch(
            CLUSTER_QUEUES,
            A10G,
            {"metadata": {"labels": {"acceleratable.feature.gpustack.ai/nvidia-a10g": None}}},
            manager="kubectl",
        )
        await stage.wait(10)
        assert stage.quotas(A10G) == {A10G_FLAVORS[0]: "1600k"}
        assert stage.policy(A10G) == "None"

    with_kueue(test)


def test_accelerated_queues_name_the_check_and_a_flip_of_the_setting_takes_it_away() -> None:
    async def test(stage: QueueStage) -> None:
        def checks(name: str) -> list[str]:
            strategy = stage.queue(name)["spec"].get("admissionChecksStrategy") or {}
            return [each["name"] for each in strategy.get("admissionChecks") or ()]

        assert (checks(A10G), checks(T4), checks(GENERIC)) == ([CHECK], [CHECK], [])
        await stage.set(instance_type_derived_from_node="false")
        await stage.wait(10)
        assert (checks(A10G), stage.policy(A10G)) == ([], "None")

    with_kueue(test)


def test_a_check_that_is_deleted_comes_back_and_stays_active() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.admin.delete(ADMISSION_CHECKS, CHECK)
        dead = {"status": {"conditions": []}}
        await stage.admin.merge_patch(ADMISSION_CHECKS, CHECK, dead, manager="kubectl", subresource="status")
        await stage.set(instance_type_derived_from_node="false")
        await stage.wait(20)
        check = stage.server.get(ADMISSION_CHECKS, CHECK)
        assert "deletionTimestamp" not in check["metadata"], "no queue named it any more, so it went, and was made anew"
        assert check["spec"] == {"controllerName": "worker.gpustack.ai/node-devices"}
        assert check["metadata"]["labels"] == {"app.kubernetes.io/part-of": "gpustack-operator"}
        (condition,) = check["status"]["conditions"]
        told = (condition["status"], condition["reason"], condition["message"])
        assert told == ("True", "Ready", "the node-devices admission check controller is running")
        await stage.admin.merge_patch(ADMISSION_CHECKS, CHECK, dead, manager="kubectl", subresource="status")
        await stage.wait(5)
        assert stage.server.get(ADMISSION_CHECKS, CHECK)["status"]["conditions"][0]["status"] == "True"

    with_kueue(test)


def test_a_maker_whose_quota_rules_cannot_tell_stops_its_own_queues_only() -> None:
    class NoCredits(Replaced):
        def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
            if section == "quota" and inputs["queue"]["acceleratable"]:
                return unknown()
            return super().evaluate(section, inputs, maker)

    async def test(stage: QueueStage) -> None:
        assert stage.quotas(GENERIC) != {}
        assert (stage.quotas(A10G), stage.policy(A10G)) == ({}, "Hold")
        assert {event["regarding"]["name"] for event in stage.events("CouldNotTell")} == {A10G, T4}
        worker, _ = stage.workers["engine"]
        worker.stage.rules.swap(program())
        await stage.wait(20)
        assert stage.quotas(A10G) == {A10G_FLAVORS[0]: "1600k"}
        assert stage.policy(A10G) == "None"

    with_kueue(test, rules=NoCredits())


def test_a_node_whose_count_is_no_number_is_named_and_the_plan_stays_until_it_is_right() -> None:
    async def test(stage: QueueStage) -> None:
        worker, _ = stage.workers["engine"]
        key = "acceleratable.feature.gpustack.ai/nvidia-a10g"
        labels = {
            "gpustack.ai/managed": "true",
            "topology.gpustack.ai/profile": "fnv64-87bf574bea2a4f23",
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "feature.gpustack.ai/acceleratable": "true",
            key: "true",
            f"{key}.count": "many",
        }
        await stage.admin.create(NODES, NODES.body("odd", metadata={"labels": labels}), manager="kubelet")
        await stage.wait(10)
        assert stage.ready(A10G) == ("False", "NonConservedQuota")
        (event,) = stage.events("NonConservedQuota")
        assert event["note"].startswith('Node "odd" belongs to the queue pool but contributes to no ResourceFlavor')
        assert (stage.quotas(A10G), stage.ready(T4)) == ({A10G_FLAVORS[0]: "1600k"}, READY)
        await stage.admin.delete(NODES, "odd")
        await stage.wait(10)
        assert stage.ready(A10G) == READY
        assert worker is not None

    with_kueue(test)


@pytest.mark.parametrize("dies_at", range(1, 9))
def test_a_worker_that_dies_before_any_write_to_a_queue_leaves_a_state_from_which_another_goes_on(dies_at: int) -> None:
    async def test(stage: QueueStage) -> None:
        await stage.workload("w", stage.door(A10G), CREDITS, "1600k")
        await stage.wait(5)
        writes = 0

        def die(request: Request) -> None:
            nonlocal writes
            if request.method != "GET" and request.path.startswith(CLUSTER_QUEUES.path(A10G)):
                writes += 1
                if writes >= dies_at:
                    raise Unreachable("killed", where=request.path)

        stage.server.faults.before = die
        await stage.mark("node-a10g", "false")
        await stage.wait(20)
        await stage.mark("node-a10g", "true")
        await stage.wait(20)
        await stage.stop()
        stage.server.faults.before = lambda _request: None
        stage.start("heir")
        await stage.wait(60)
        assert (stage.policy(A10G), stage.quotas(A10G)) == ("None", {A10G_FLAVORS[0]: "1600k"})
        assert (stage.notes(A10G), stage.ready(A10G)) == ({TAS: "true"}, READY)

    with_kueue(test)


def test_a_new_type_of_a_person_gets_the_same_quota_beside_the_derived_one() -> None:
    async def test(stage: QueueStage) -> None:
        spec = {
            "acceleratable": True,
            "acceleratorGroup": "nvidia-a10g",
            "os": "linux",
            "arch": "amd64",
            "unitResources": {"cpu": "12", "ram": "128Gi"},
            "localStorage": "200Gi",
        }
        await stage.admin.create(INSTANCE_TYPES, INSTANCE_TYPES.body("a10g-12c128g", spec=spec), manager="kubectl")
        await stage.wait(10)
        assert (stage.policy("a10g-12c128g"), stage.quotas("a10g-12c128g")) == ("None", stage.quotas(A10G))

    with_kueue(test)


def test_a_type_without_a_flavor_keeps_its_queue_held_so_that_nothing_is_admitted_for_free() -> None:
    async def test(stage: QueueStage) -> None:
        spec = {
            "acceleratable": True,
            "acceleratorGroup": "nvidia-h100",
            "os": "linux",
            "arch": "amd64",
            "unitResources": {"cpu": "1", "ram": "1Gi"},
            "localStorage": "1Gi",
        }
        await stage.admin.create(INSTANCE_TYPES, INSTANCE_TYPES.body("h100", spec=spec), manager="kubectl")
        await stage.wait(60)
        assert (stage.policy("h100"), stage.quotas("h100"), stage.notes("h100")) == ("Hold", {}, {HOLD: "true"})
        assert stage.server.get(RESOURCE_FLAVORS, SEVEN[0]) is not None

    with_kueue(test)


def test_a_flip_of_mixing_makes_the_flavors_anew_and_the_queue_follows() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.set(instance_type_mixed_on_node="false")
        await stage.wait(60)
        assert (stage.quotas(GENERIC), stage.policy(GENERIC)) == ({SEVEN[0]: "16"}, "None")
        assert stage.ready(GENERIC) == READY
        flavor = stage.server.get(RESOURCE_FLAVORS, SEVEN[0])
        assert flavor["spec"]["nodeLabels"]["feature.gpustack.ai/cpu-only"] == "true"
        await stage.set(instance_type_mixed_on_node="true")
        await stage.wait(60)
        assert len(stage.quotas(GENERIC)) == 4

    with_kueue(test)
