"""LocalQueues: one for each queue of ours in every namespace but the system's, and users who are in the way of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.cluster.actions import Apply, EmitEvent
from engine.cluster.objects import Namespace, Owned
from engine.cluster.resources import CLUSTER_QUEUES, INSTANCE_TYPES, LOCAL_QUEUES, NAMESPACES
from engine.sections.entrance import Entrance
from engine.worker.controllers import localqueue
from engine.worker.controllers.localqueue import EntranceNeighbourhood
from tests.golden.objects import read
from tests.unit.worker.queues_stage import A10G, GENERIC, QueueStage, with_kueue

pytestmark = pytest.mark.living

DOOR = "gpustack-fnv64-c4680bb149644f1c"
DOORS = ["gpustack-fnv64-3b93966fd73eb9ec", "gpustack-fnv64-6b371caa2da0b799", DOOR]
ENTRANCE = Entrance("door", (("note", "q"),), ())


def owned(name: str, *, ending: bool = False, owners: list[dict[str, Any]] | None = None, **spec: Any) -> Owned:
    metadata = {"name": name, "uid": f"uid-{name}", "ownerReferences": owners or []}
    if ending:
        metadata["deletionTimestamp"] = "2026-11-29T12:00:00Z"
    return msgspec.convert({"metadata": metadata, "spec": spec}, Owned)


def around(live: Owned | None = None, *, phase: str = "Active", **parts: Any) -> EntranceNeighbourhood:
    namespace = msgspec.convert({"metadata": {"name": "team"}, "status": {"phase": phase}}, Namespace)
    return EntranceNeighbourhood(
        **{"namespace": namespace, "queue": owned("q"), "entrance": ENTRANCE, "live": live, **parts}
    )


# Plans


def test_an_entrance_leads_to_its_queue_and_goes_with_it_without_holding_it_up() -> None:
    (made,) = localqueue.plan(around())
    owner = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "name": "q",
        "uid": "uid-q",
        "controller": True,
    }
    metadata = {"name": "door", "namespace": "team", "annotations": {"note": "q"}, "ownerReferences": [owner]}
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": metadata}
    assert made == Apply(LOCAL_QUEUES, {**body, "spec": {"clusterQueue": "q"}}, "engine-entrance")


def test_nothing_is_made_where_it_could_not_stay() -> None:
    assert localqueue.plan(around(phase="Terminating")) == []
    assert localqueue.plan(around(queue=owned("q", ending=True))) == []
    assert localqueue.plan(around(owned("door", ending=True, clusterQueue="q"))) == []


def test_a_local_queue_that_leads_elsewhere_or_is_anothers_is_told_and_left() -> None:
    other = {"apiVersion": "v1", "kind": "Team", "name": "t", "uid": "x", "controller": True}
    for live, part in (
        (owned("door", clusterQueue="elsewhere"), 'leads to "elsewhere" instead of "q"'),
        (owned("door", owners=[other], clusterQueue="q"), 'is controlled by Team "t"'),
    ):
        (event,) = localqueue.plan(around(live))
        assert isinstance(event, EmitEvent)
        assert event.reason == "EntranceTaken"
        assert part in event.note
        assert event.note.endswith("delete it, and it is made anew")
    (adopted,) = localqueue.plan(around(owned("door", clusterQueue="q")))
    assert isinstance(adopted, Apply)


def test_a_name_that_rules_cannot_tell_leaves_local_queues_as_they_are() -> None:
    (event,) = localqueue.plan(around(entrance=None, untold="section entrance: no"))
    assert isinstance(event, EmitEvent)
    assert event.reason == "CouldNotTell"


# On a cluster


def test_every_namespace_but_the_systems_has_the_entrances_of_a_plan_offline() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.namespace("team")
        await stage.wait(5)
        for namespace in ("default", "team"):
            assert stage.names(LOCAL_QUEUES, namespace) == DOORS
        for namespace in ("kube-system", "gpustack-system"):
            assert stage.names(LOCAL_QUEUES, namespace) == []
        for golden in read("localqueues.yaml"):
            live = stage.server.get(LOCAL_QUEUES, golden["metadata"]["name"], "default")
            assert live["spec"] == golden["spec"] | {"stopPolicy": "None"}
            assert live["metadata"]["annotations"] == golden["metadata"]["annotations"]
            (owner,) = live["metadata"]["ownerReferences"]
            assert owner["uid"] == stage.queue(owner["name"])["metadata"]["uid"]
            assert (owner["kind"], owner["controller"], "blockOwnerDeletion" in owner) == ("ClusterQueue", True, False)

    with_kueue(test)


def test_an_entrance_that_a_user_deletes_comes_back_and_his_stop_policy_stays() -> None:
    async def test(stage: QueueStage) -> None:
        held = {"spec": {"stopPolicy": "Hold"}}
        await stage.admin.merge_patch(LOCAL_QUEUES, DOOR, held, manager="user", namespace="default")
        await stage.wait(60)
        assert stage.server.get(LOCAL_QUEUES, DOOR, "default")["spec"]["stopPolicy"] == "Hold"
        await stage.admin.delete(LOCAL_QUEUES, DOOR, "default")
        await stage.wait(5)
        assert stage.names(LOCAL_QUEUES, "default") == DOORS

    with_kueue(test)


def test_what_a_user_strips_from_an_entrance_is_put_back() -> None:
    async def test(stage: QueueStage) -> None:
        bare = {"metadata": {"annotations": None, "ownerReferences": None}}
        await stage.admin.merge_patch(LOCAL_QUEUES, DOOR, bare, manager="user", namespace="default")
        await stage.wait(5)
        metadata = stage.server.get(LOCAL_QUEUES, DOOR, "default")["metadata"]
        assert metadata["annotations"] == {"schedule.gpustack.ai/queue": A10G}
        assert metadata["ownerReferences"][0]["name"] == A10G

    with_kueue(test)


def test_a_users_own_local_queue_of_that_name_is_told_and_the_entrance_comes_once_it_is_gone() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.namespace("team")
        body = LOCAL_QUEUES.body(DOOR, "team", spec={"clusterQueue": GENERIC})
        await stage.admin.create(LOCAL_QUEUES, body, manager="user")
        await stage.wait(10)
        (event,) = stage.events("EntranceTaken")
        assert (event["metadata"]["namespace"], event["regarding"]["name"]) == ("team", DOOR)
        assert stage.server.get(LOCAL_QUEUES, DOOR, "team")["spec"]["clusterQueue"] == GENERIC
        await stage.admin.delete(LOCAL_QUEUES, DOOR, "team")
        await stage.wait(10)
        assert stage.server.get(LOCAL_QUEUES, DOOR, "team")["spec"]["clusterQueue"] == A10G

    with_kueue(test)


def test_a_foreign_queue_has_no_entrances() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.admin.create(CLUSTER_QUEUES, CLUSTER_QUEUES.body("mine", spec={}), manager="user")
        await stage.namespace("team")
        await stage.wait(10)
        assert stage.names(LOCAL_QUEUES, "team") == DOORS
        assert stage.queue("mine")["metadata"].get("annotations") is None

    with_kueue(test)


def test_a_namespace_that_ends_is_left_in_peace() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.namespace("team")
        await stage.wait(5)
        await stage.admin.delete(NAMESPACES, "team")
        count = len(stage.server.writes("engine"))
        await stage.wait(60)
        assert len(stage.server.writes("engine")) == count

    with_kueue(test)


def test_a_queue_that_is_made_anew_has_entrances_of_its_own() -> None:
    async def test(stage: QueueStage) -> None:
        await stage.admin.delete(CLUSTER_QUEUES, A10G)
        await stage.wait(30)
        (owner,) = stage.server.get(LOCAL_QUEUES, DOOR, "default")["metadata"]["ownerReferences"]
        assert owner["uid"] == stage.queue(A10G)["metadata"]["uid"]

    with_kueue(test)


def test_many_queues_have_their_entrances_in_every_namespace_and_each_is_written_once() -> None:
    async def test(stage: QueueStage) -> None:
        spec = {
            "acceleratable": True,
            "acceleratorGroup": "nvidia-a10g",
            "os": "linux",
            "arch": "amd64",
            "unitResources": {"cpu": "1", "ram": "1Gi"},
            "localStorage": "1Gi",
        }
        for number in range(27):
            await stage.admin.create(INSTANCE_TYPES, INSTANCE_TYPES.body(f"type-{number}", spec=spec), manager="user")
        for number in range(4):
            await stage.namespace(f"team-{number}")
        await stage.wait(30)
        for number in range(4):
            assert len(stage.names(LOCAL_QUEUES, f"team-{number}")) == 30
        writes = [seen.path for seen in stage.server.writes("engine") if "/localqueues/" in seen.path]
        assert len(writes) == len(set(writes)) == 150
        assert {stage.policy(f"type-{number}") for number in range(27)} == {"None"}

    with_kueue(test)
