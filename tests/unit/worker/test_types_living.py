"""InstanceTypes on a cluster in memory, with a model of Kueue: the walkthrough's steps, and what people do to types."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.cluster.errors import Unreachable
from engine.cluster.resources import CLUSTER_QUEUES, DEVICES, INSTANCE_TYPE_FLAVORS, INSTANCE_TYPES, Resource
from engine.cluster.transport import Request
from engine.domain.ledger import Mode
from tests.fakes.kueue import FakeKueue
from tests.fakes.virtual import run
from tests.golden.objects import read
from tests.unit.worker.stage import Stage
from tests.unit.worker.types_world import A10G, CUSTOM, CUSTOM_SPEC, FINALIZER, GENERIC, T4, THREE

pytestmark = pytest.mark.living

ROWS_1C = {
    GENERIC: ("gpustack-fnv64-3b93966fd73eb9ec", "1/2Gi/100Gi", "0/0 0/0 0/0 0/0", "48/72", "Active"),
    A10G: ("gpustack-fnv64-c4680bb149644f1c", "8/64Gi/100Gi", "1/1 1/10 100/100 0/0", "0/0", "Active"),
    T4: ("gpustack-fnv64-6b371caa2da0b799", "8/32Gi/100Gi", "4/5 4/50 100/500 0/0", "0/0", "Active"),
}
CATALOGUE = ["gpustack--generic", "gpustack--nvidia-a10g", "gpustack--nvidia-tesla-t4"]


def names(stage: Stage, resource: Resource[Any]) -> list[str]:
    return sorted(name for _, name in stage.server.store.objects.get(str(resource), {}))


def since_then(stage: Stage, resource: Resource[Any], name: str, version: int) -> list[dict[str, Any]]:
    """All that an object has been after that version."""
    changes = (change for change in stage.server.store.history if change.version > version)
    bodies = (change.after for change in changes if change.kind == str(resource))
    return [body for body in bodies if body is not None and body["metadata"]["name"] == name]


def rows(stage: Stage) -> dict[str, tuple[str, ...]]:
    """What `kubectl get instancetypes` prints, but for the age."""
    made = {}
    for name in names(stage, INSTANCE_TYPES):
        status = stage.server.get(INSTANCE_TYPES, name).get("status", {})
        columns = status.get("columns", {})
        made[name] = (
            status.get("entrance", ""),
            columns.get("unitStorage", ""),
            columns.get("accelerator", ""),
            columns.get("cpu", ""),
            status.get("phase", ""),
        )
    return made


def living(test: Callable[[Stage], Awaitable[None]], **options: Any) -> Stage:
    """A worker and Kueue over the walkthrough's machines, at rest when `test` begins."""

    async def main() -> Stage:
        stage = Stage()
        kueue = asyncio.create_task(FakeKueue(stage.server).run())
        stage.start(**options)
        await stage.play()
        await stage.wait(30)
        await test(stage)
        await stage.end()
        kueue.cancel()
        return stage

    return run(main())


async def patch(stage: Stage, resource: Resource[Any], name: str, body: dict[str, Any]) -> None:
    await stage.admin.merge_patch(resource, name, body, manager="kubectl")


async def author(stage: Stage, name: str = CUSTOM, **spec: Any) -> None:
    body = INSTANCE_TYPES.body(name, spec=CUSTOM_SPEC | spec)
    await stage.admin.create(INSTANCE_TYPES, body, manager="kubectl")


def test_1_the_walkthrough_comes_to_the_objects_that_a_plan_shows() -> None:
    async def test(stage: Stage) -> None:
        assert rows(stage) == ROWS_1C
        assert names(stage, CLUSTER_QUEUES) == list(THREE)
        assert names(stage, INSTANCE_TYPE_FLAVORS) == CATALOGUE
        for kind, file in (
            (INSTANCE_TYPES, "instancetypes.yaml"),
            (INSTANCE_TYPE_FLAVORS, "instancetypeflavors.yaml"),
            (CLUSTER_QUEUES, "clusterqueues.yaml"),
        ):
            for wanted in read(file):
                live = stage.server.get(kind, wanted["metadata"]["name"])
                assert live["metadata"].get("labels", {}) == wanted["metadata"].get("labels", {})
                defaults = {"queueingStrategy": "BestEffortFIFO"} if kind is CLUSTER_QUEUES else {}
                assert live["spec"] == wanted["spec"] | defaults
                if kind is INSTANCE_TYPES:
                    assert live["status"] == wanted["status"]
                    assert live["metadata"]["finalizers"] == [FINALIZER]

    living(test)


def test_2_an_emptied_pool_is_inactive_with_nothing_left_and_comes_back_by_itself() -> None:
    async def test(stage: Stage) -> None:
        await stage.mark("node-a10g", "false")
        await stage.wait(60)
        emptied = ("gpustack-fnv64-c4680bb149644f1c", "8/64Gi/100Gi", "0/0 0/0 0/0 0/0", "0/0", "Inactive")
        generic = (*ROWS_1C[GENERIC][:3], "48/68", "Active")
        assert rows(stage) == {GENERIC: generic, A10G: emptied, T4: ROWS_1C[T4]}
        assert names(stage, INSTANCE_TYPE_FLAVORS) == [CATALOGUE[0], CATALOGUE[2]]
        assert "inactive" not in stage.server.get(INSTANCE_TYPES, A10G)["spec"]
        await stage.mark("node-a10g", "true")
        await stage.wait(60)
        assert rows(stage) == ROWS_1C
        assert names(stage, INSTANCE_TYPE_FLAVORS) == CATALOGUE

    living(test)


def test_3_what_is_taken_of_a_card_is_in_the_views_within_three_seconds() -> None:
    async def test(stage: Stage) -> None:
        card = dict(stage.server.get(DEVICES, "node-a10g")["status"]["groups"][0]["accelerators"][0])
        sliced = card | {"mode": int(Mode.SLICED), "remaining": 1280000, "allocatedSlices": 1}
        await stage.take("node-a10g", [{"id": "a10g", "manufacturer": "nvidia", "accelerators": [sliced]}])
        await stage.wait(3.5)
        assert rows(stage) == {**ROWS_1C, A10G: (*ROWS_1C[A10G][:2], "0/0 0/0 80/80 0/0", "0/0", "Active")}
        await stage.take("node-a10g", [{"id": "a10g", "manufacturer": "nvidia", "accelerators": [card]}])
        await stage.wait(3.5)
        assert rows(stage) == ROWS_1C

    living(test)


def test_4_a_type_that_a_person_writes_is_served_like_the_derived_one_and_goes_with_its_queue() -> None:
    async def test(stage: Stage) -> None:
        await author(stage)
        await stage.wait(10)
        mine = ("gpustack-fnv64-d4c0e6cd72686015", "12/128Gi/200Gi", "1/1 1/10 100/100 0/0", "0/0", "Active")
        assert rows(stage) == {**ROWS_1C, CUSTOM: mine}
        assert len(names(stage, CLUSTER_QUEUES)) == 4
        live = stage.server.get(INSTANCE_TYPES, CUSTOM)
        assert live["metadata"]["finalizers"] == [FINALIZER]
        assert "schedule.gpustack.ai/derived-from-node" not in live["metadata"]["labels"]
        queue, derived = stage.server.get(CLUSTER_QUEUES, CUSTOM), stage.server.get(CLUSTER_QUEUES, A10G)
        assert (queue["spec"], queue["metadata"]["labels"]) == (derived["spec"], derived["metadata"]["labels"])
        await stage.admin.delete(INSTANCE_TYPES, CUSTOM)
        await stage.wait(30)
        assert rows(stage) == ROWS_1C
        assert names(stage, CLUSTER_QUEUES) == list(THREE)

    living(test)


def test_5_awareness_adds_types_and_its_end_leaves_them_until_somebody_deletes_them() -> None:
    async def test(stage: Stage) -> None:
        await stage.set(instance_type_aware_cpu_manufacturer="true")
        await stage.wait(30)
        views = {name: (*row[1:4],) for name, row in rows(stage).items() if name not in THREE}
        aware = "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64"
        assert views == {
            "gpustack--amd-epyc-7r13-linux-amd64": ("1/2Gi/100Gi", "0/0 0/0 0/0 0/0", "16/16"),
            aware: ("8/64Gi/100Gi", "1/1 1/10 100/100 0/0", "0/0"),
            "gpustack--amd-epyc-7r32-linux-amd64": ("1/2Gi/100Gi", "0/0 0/0 0/0 0/0", "4/4"),
            "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64": (
                "8/32Gi/100Gi",
                "4/5 4/50 100/500 0/0",
                "0/0",
            ),
            "gpustack--intel-xeon-platinum-8259cl-linux-amd64": ("1/2Gi/100Gi", "0/0 0/0 0/0 0/0", "48/52"),
        }
        assert {row[4] for row in rows(stage).values()} == {"Active"}
        labels = stage.server.get(CLUSTER_QUEUES, aware)["metadata"]["labels"]
        assert labels["general.feature.gpustack.ai/amd-epyc-7r32"] == "true"
        assert stage.server.get(INSTANCE_TYPES, aware)["status"]["detail"]["cpu"]["product"] == "AMD EPYC 7R32"
        assert names(stage, INSTANCE_TYPE_FLAVORS) == [
            "gpustack--amd-epyc-7r13",
            "gpustack--amd-epyc-7r32",
            "gpustack--amd-epyc-7r32--nvidia-a10g",
            "gpustack--intel-xeon-platinum-8259cl",
            "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4",
        ]
        await stage.set(instance_type_aware_cpu_manufacturer="false")
        await stage.wait(30)
        assert names(stage, INSTANCE_TYPE_FLAVORS) == CATALOGUE
        assert len(rows(stage)) == 8
        await stage.admin.delete(INSTANCE_TYPES, aware)
        await stage.wait(30)
        assert len(rows(stage)) == 7

    living(test)


def test_a_type_is_switched_off_and_on_and_its_cards_stay_in_the_views() -> None:
    async def test(stage: Stage) -> None:
        await patch(stage, INSTANCE_TYPES, A10G, {"spec": {"inactive": True}})
        await stage.wait(6)
        assert stage.server.get(CLUSTER_QUEUES, A10G)["spec"]["stopPolicy"] == "Hold"
        assert rows(stage)[A10G] == (*ROWS_1C[A10G][:4], "Inactive")
        assert stage.server.get(INSTANCE_TYPES, A10G)["status"]["phaseMessage"] == "cluster queue is held"
        await patch(stage, INSTANCE_TYPES, A10G, {"spec": {"inactive": False}})
        await stage.wait(6)
        assert stage.server.get(CLUSTER_QUEUES, A10G)["spec"]["stopPolicy"] == "None"
        assert rows(stage) == ROWS_1C

    living(test)


def test_a_queue_that_somebody_drains_makes_its_type_inactive_for_good() -> None:
    async def test(stage: Stage) -> None:
        await patch(stage, CLUSTER_QUEUES, A10G, {"spec": {"stopPolicy": "HoldAndDrain"}})
        await stage.wait(10)
        assert stage.server.get(INSTANCE_TYPES, A10G)["spec"]["inactive"] is True
        assert rows(stage)[A10G][2:] == ("0/0 0/0 0/0 0/0", "0/0", "Inactive")
        await patch(stage, CLUSTER_QUEUES, A10G, {"spec": {"stopPolicy": "None"}})
        await stage.wait(10)
        assert stage.server.get(CLUSTER_QUEUES, A10G)["spec"]["stopPolicy"] == "Hold"

    living(test)


def test_a_derived_type_that_is_deleted_is_made_again_only_while_the_setting_is_on() -> None:
    async def test(stage: Stage) -> None:
        before = stage.server.get(INSTANCE_TYPES, A10G)["metadata"]["uid"]
        await stage.admin.delete(INSTANCE_TYPES, A10G)
        await stage.wait(60)
        assert stage.server.get(INSTANCE_TYPES, A10G)["metadata"]["uid"] != before
        assert rows(stage) == ROWS_1C
        await stage.set(instance_type_derived_from_node="false")
        await stage.admin.delete(INSTANCE_TYPES, A10G)
        await stage.wait(60)
        assert names(stage, INSTANCE_TYPES) == names(stage, CLUSTER_QUEUES) == [GENERIC, T4]
        await stage.set(instance_type_derived_from_node="true")
        await stage.wait(30)
        assert rows(stage) == ROWS_1C

    living(test)


def test_a_queue_that_is_deleted_under_its_type_is_made_again() -> None:
    async def test(stage: Stage) -> None:
        before = stage.server.get(CLUSTER_QUEUES, T4)["metadata"]["uid"]
        await stage.admin.delete(CLUSTER_QUEUES, T4)
        await stage.wait(60)
        assert stage.server.get(CLUSTER_QUEUES, T4)["metadata"]["uid"] != before
        assert rows(stage) == ROWS_1C

    living(test)


def test_labels_and_finalizer_that_somebody_takes_away_come_back_and_empty_no_queue() -> None:
    async def test(stage: Stage) -> None:
        since = stage.server.store.version
        for kind in (INSTANCE_TYPES, CLUSTER_QUEUES):
            before = stage.server.get(kind, A10G)["metadata"]["labels"]
            gone = dict.fromkeys(key for key in before if "derived" not in key)
            await patch(stage, kind, A10G, {"metadata": {"labels": gone, "finalizers": []}})
            await stage.wait(10)
            assert stage.server.get(kind, A10G)["metadata"]["labels"] == before
        assert stage.server.get(INSTANCE_TYPES, A10G)["metadata"]["finalizers"] == [FINALIZER]
        assert rows(stage) == ROWS_1C
        assert {
            body["status"]["columns"]["accelerator"] for body in since_then(stage, INSTANCE_TYPES, A10G, since)
        } == {ROWS_1C[A10G][2]}
        assert {body["spec"]["stopPolicy"] for body in since_then(stage, CLUSTER_QUEUES, A10G, since)} == {"None"}

    living(test)


def test_an_impossible_type_is_told_of_and_no_other_notices() -> None:
    async def test(stage: Stage) -> None:
        await author(stage, unitResources={"cpu": "0", "ram": "1Gi"})
        await stage.wait(10)
        others = rows(stage)
        told = others.pop(CUSTOM)
        assert others == ROWS_1C
        assert told == ("", "0/1Gi/200Gi", "0/0 0/0 0/0 0/0", "0/0", "Inactive")
        message = stage.server.get(INSTANCE_TYPES, CUSTOM)["status"]["phaseMessage"]
        assert 'spec.unitResources.cpu: Invalid value: "0"' in message
        (event,) = stage.events("SpecRefused")
        assert event["note"] == message
        assert event["regarding"]["name"] == CUSTOM
        assert names(stage, CLUSTER_QUEUES) == list(THREE)
        await stage.admin.delete(INSTANCE_TYPES, CUSTOM)
        await stage.wait(1)
        assert rows(stage) == ROWS_1C

    living(test)


def test_at_rest_nothing_is_written_of_types_and_a_new_leader_writes_nothing_either() -> None:
    async def test(stage: Stage) -> None:
        version = stage.server.store.version
        await stage.wait(3600)
        assert stage.server.store.version == version
        await stage.stop()
        stage.start("second")
        await stage.wait(60)
        assert stage.server.store.version == version

    living(test)


def test_a_type_that_goes_the_moment_its_queue_is_made_leaves_no_queue_behind() -> None:
    async def test(stage: Stage) -> None:
        def before(request: Request) -> None:
            if request.method == "GET" and request.path.endswith("/clusterqueues"):
                raise Unreachable("a test wants it so")

        stage.server.faults.before = before
        stage.server.store.cut_watches()
        await author(stage)
        await stage.wait(5)
        assert CUSTOM in names(stage, CLUSTER_QUEUES)
        await stage.admin.delete(INSTANCE_TYPES, CUSTOM)
        await stage.wait(5)
        assert CUSTOM not in names(stage, CLUSTER_QUEUES), "it was known by the answer to its making"
        stage.server.faults.before = lambda _request: None
        await stage.wait(30)
        assert CUSTOM not in names(stage, INSTANCE_TYPES)
        assert names(stage, CLUSTER_QUEUES) == list(THREE)

    living(test)


def test_a_type_whose_name_is_taken_by_a_queue_of_somebody_says_so_and_touches_it_not() -> None:
    async def test(stage: Stage) -> None:
        mine = CLUSTER_QUEUES.body(CUSTOM, spec={"namespaceSelector": {}, "stopPolicy": "HoldAndDrain"})
        await stage.admin.create(CLUSTER_QUEUES, mine, manager="kubectl")
        await author(stage)
        await stage.wait(10)
        assert rows(stage)[CUSTOM][4] == "Inactive"
        assert "delete that ClusterQueue" in stage.server.get(INSTANCE_TYPES, CUSTOM)["status"]["phaseMessage"]
        assert len(stage.events("QueueTaken")) == 1
        assert "labels" not in stage.server.get(CLUSTER_QUEUES, CUSTOM)["metadata"]
        await stage.admin.delete(CLUSTER_QUEUES, CUSTOM)
        await stage.wait(10)
        assert rows(stage)[CUSTOM][4] == "Active"

    living(test)
