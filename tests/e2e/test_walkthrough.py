"""The walkthrough on the real control plane, step by step: what people type, and the tables that they see."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.machines import Machinery
from tests.e2e.live import A10G, CUSTOM, CUSTOM_TYPE, GENERIC, KUEUE, T4, WORKER, Live, Row, walkthrough
from tests.e2e.waiting import eventually
from tests.golden.objects import read

pytestmark = pytest.mark.e2e

ROW_GENERIC: Row = ("3b93966fd73eb9ec", "1/2Gi/100Gi", "0/0", "0/0", "0/0", "0/0", "48/72", "Active")
ROW_A10G: Row = ("c4680bb149644f1c", "8/64Gi/100Gi", "1/1", "1/10", "100/100", "0/0", "0/0", "Active")
ROW_T4: Row = ("6b371caa2da0b799", "8/32Gi/100Gi", "4/5", "4/50", "100/500", "0/0", "0/0", "Active")
AT_REST = {GENERIC: ROW_GENERIC, A10G: ROW_A10G, T4: ROW_T4}
EMPTY = ("0/0",) * 4
CATALOGUE = [
    ("gpustack--generic", "generic", "false", "generic"),
    ("gpustack--nvidia-a10g", "nvidia-a10g", "true", "nvidia", "NVIDIA-A10G", "24Gi", "10240", "true"),
    ("gpustack--nvidia-tesla-t4", "nvidia-tesla-t4", "true", "nvidia", "Tesla-T4", "16Gi", "2560", "true"),
]


@pytest.fixture(scope="module")
def live(cluster: Cluster, machinery: Machinery) -> Iterator[Live]:
    with walkthrough(cluster, machinery) as made:
        eventually(lambda: made.types() == AT_REST, 90, what="the three types are there and active")
        yield made


def test_step_1_everything_is_there_as_it_was_planned(live: Live) -> None:
    assert live.names(f"{KUEUE}/resourceflavors") == {each["metadata"]["name"] for each in read("resourceflavors.yaml")}
    assert live.names(f"{KUEUE}/clusterqueues") == {GENERIC, A10G, T4}
    assert [row[: len(CATALOGUE[0])] if row[0] == "gpustack--generic" else row for row in live.catalogue()] == CATALOGUE
    for golden in read("clusterqueues.yaml"):
        queue = live.api.get(f"{KUEUE}/clusterqueues/{golden['metadata']['name']}")
        assert queue["spec"]["resourceGroups"] == golden["spec"]["resourceGroups"]
        assert queue["spec"].get("admissionChecksStrategy") == golden["spec"].get("admissionChecksStrategy")
        assert not queue["spec"].get("cohortName")
        assert golden["metadata"]["labels"].items() <= queue["metadata"]["labels"].items()
    doors = live.api.get(f"{KUEUE}/localqueues")["items"]
    spaces = live.names("/api/v1/namespaces") - {"kube-system", "gpustack-system"}
    assert {(each["metadata"]["namespace"], each["spec"]["clusterQueue"]) for each in doors} == {
        (space, queue) for space in spaces for queue in AT_REST
    }


def test_step_1_nodes_have_their_capacity_and_fit_labels(live: Live) -> None:
    for golden in read("nodes.yaml"):
        name = golden["metadata"]["name"]

        def is_there(name: str = name, golden: dict = golden) -> bool:  # type: ignore[type-arg]
            node = live.api.get(f"/api/v1/nodes/{name}")
            has_labels = golden["metadata"]["labels"].items() <= node["metadata"]["labels"].items()
            return has_labels and golden["status"]["capacity"].keys() <= node["status"]["capacity"].keys()

        eventually(is_there, what=f"{name} has labels and capacity as planned")


def test_the_plan_of_the_recorded_cluster_is_what_the_worker_made(live: Live) -> None:
    eventually(lambda: not live.differences(), 30, what="nothing differs from the plan")


def test_step_2_a_node_out_of_management_empties_its_pool_and_back_fills_it(live: Live) -> None:
    live.mark("false")
    emptied = {
        GENERIC: (*ROW_GENERIC[:6], "48/68", "Active"),
        A10G: (*ROW_A10G[:2], *EMPTY, "0/0", "Inactive"),
        T4: ROW_T4,
    }
    eventually(
        lambda: live.types() == emptied, 60, what="the a10g row is empty and the generic row has four cores less"
    )
    assert live.policy(A10G) == "HoldAndDrain"
    eventually(lambda: not live.differences(), 30, what="it is planned as it stands")
    live.mark("true")
    eventually(lambda: live.types() == AT_REST, 60, what="all rows are as before, with nobody's help")


def test_step_4_a_type_of_ones_own_is_held_let_go_and_deleted_under_a_running_job(live: Live) -> None:
    live.api.post(f"{WORKER}/instancetypes", CUSTOM_TYPE)
    row = ("d4c0e6cd72686015", "12/128Gi/200Gi", *ROW_A10G[2:])
    eventually(lambda: live.types() == AT_REST | {CUSTOM: row}, 60, what="a fourth row with the views of the a10g pool")

    live.inactive(CUSTOM, value=True)
    eventually(lambda: live.policy(CUSTOM) == "Hold", what="its queue is held")
    eventually(lambda: live.types()[CUSTOM][-1] == "Inactive", what="and shown so")
    live.inactive(CUSTOM, value=False)
    eventually(lambda: live.policy(CUSTOM) == "None", what="its queue is let go")
    eventually(lambda: live.types()[CUSTOM] == row, what="and active")

    live.submit("custom-demo", CUSTOM, **{"nvidia.com/gpu": "1"})
    eventually(lambda: live.is_admitted("custom-demo"), 60, what="a Job is admitted through it")
    live.api.delete(f"{WORKER}/instancetypes/{CUSTOM}")
    eventually(lambda: live.is_suspended("custom-demo"), 60, what="the Job is suspended")
    eventually(lambda: live.api.find(f"{KUEUE}/clusterqueues/{CUSTOM}") is None, 60, what="the queue is gone")
    eventually(lambda: live.types() == AT_REST, 60, what="the type is gone, and the derived row as before")
    live.finish("custom-demo")


def test_step_5_types_aware_of_the_cpu_come_without_a_restart_and_go_when_they_are_deleted(live: Live) -> None:
    flavors = {each["metadata"]["name"]: each for each in live.api.get(f"{KUEUE}/resourceflavors")["items"]}
    live.set(instance_type_aware_cpu_manufacturer="true")
    aware = {
        "gpustack--amd-epyc-7r13-linux-amd64": ("1/2Gi/100Gi", *EMPTY, "16/16"),
        "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64": ("8/64Gi/100Gi", "1/1", "1/10", "100/100", "0/0", "0/0"),
        "gpustack--amd-epyc-7r32-linux-amd64": ("1/2Gi/100Gi", *EMPTY, "4/4"),
        "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4-linux-amd64": (
            "8/32Gi/100Gi",
            "4/5",
            "4/50",
            "100/500",
            "0/0",
            "0/0",
        ),
        "gpustack--intel-xeon-platinum-8259cl-linux-amd64": ("1/2Gi/100Gi", *EMPTY, "48/52"),
    }

    def rows() -> dict[str, Row]:
        return {name: row[1:7] for name, row in live.types().items() if name not in AT_REST and row[-1] == "Active"}

    eventually(lambda: rows() == aware, 60, what="five more types")
    assert {name: row for name, row in live.types().items() if name in AT_REST} == AT_REST
    # kubectl lists by name; the order of the catalogue is `engine plan`'s.
    assert [row[0] for row in live.catalogue()] == sorted(each.removesuffix("-linux-amd64") for each in aware)
    queue = live.api.get(f"{KUEUE}/clusterqueues/gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64")
    assert queue["metadata"]["labels"]["general.feature.gpustack.ai/amd-epyc-7r32"] == "true"

    live.set(instance_type_aware_cpu_manufacturer="false")
    eventually(lambda: [row[0] for row in live.catalogue()] == [row[0] for row in CATALOGUE], 60, what="its catalogue")
    assert rows() == aware, "types stay until they are deleted"
    for name in aware:
        live.api.delete(f"{WORKER}/instancetypes/{name}")
    eventually(lambda: live.types() == AT_REST, 60, what="they do not come back")
    for name, before in flavors.items():
        after = live.api.get(f"{KUEUE}/resourceflavors/{name}")
        assert (after["spec"], after["metadata"]["labels"]) == (before["spec"], before["metadata"]["labels"])
        assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_a_job_waits_while_every_card_is_partly_used_and_runs_when_one_is_free(live: Live) -> None:
    live.take_cards("node-a10g", mode=3, remaining=1280000)
    eventually(lambda: live.types()[A10G][2:6] == ("0/0", "0/0", "80/80", "0/0"), what="the views follow the card")
    live.submit("whole-card", A10G, **{"nvidia.com/gpu": "1"})
    message = "no node in the assigned flavor pool currently has enough free cards; will retry as capacity frees"
    eventually(lambda: message in json.dumps(live.workload("whole-card")), 30, what="the check says why it waits")
    assert not live.is_admitted("whole-card")
    live.take_cards("node-a10g", mode=0, remaining=1600000)
    eventually(lambda: live.is_admitted("whole-card"), 90, what="it is admitted once the card is free")
    check = live.check("whole-card")
    assert (check["name"], check["state"]) == ("gpustack-node-devices", "Ready")
    live.finish("whole-card")
    eventually(lambda: live.types() == AT_REST, 60, what="all is as before")
