"""Objects that nobody should have written: each is told of with what to do about it, and no other pool notices.

What each controller makes of one such object is shown beside it; here all of them are on one cluster, and Workloads run on.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.cluster.resources import EVENTS, INSTANCE_TYPES, NODE_FEATURES, NODES, RESOURCE_FLAVORS
from tests.unit.worker.faults_stage import ADMITTED, FaultStage, on, settled
from tests.unit.worker.photos import Photo, differences
from tests.unit.worker.stage import NAMESPACE, objects

pytestmark = pytest.mark.living

ARM = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64"}
"""Bad nodes are of another architecture, so that no pool at rest has a reason to change."""
REMEDIES = {
    "Unreadable": "until that is corrected",
    "Unbelievable": "until the row is right",
    "NoPack": "add the pack, or take the cards out of the object",
    "NotWritten": "give the group a shorter or plainer id",
    "NotAQuantity": "until the label is right",
    "FeatureRejected": "at most 63 ",
    "SpecRefused": "delete the InstanceType, and create it with one that fits",
    "TooManyFlavors": "give the nodes fewer different counts and CPUs",
}

GROUPS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "negative-cores": ("Unreadable", {"cores": -1}, {}),
    "negative-memory": ("Unreadable", {"memory": -(2**40)}, {}),
    "absurd-cores": ("Unreadable", {"cores": 10**30}, {}),
    "absurd-room": ("Unbelievable", {}, {"remaining": 10**9}),
    "absurd-mode": ("Unreadable", {}, {"mode": 77}),
    "unheard-maker": ("NoPack", {"manufacturer": "unheard"}, {}),
    "id-of-70": ("NotWritten", {"id": "x" * 70}, {}),
}
TYPES: dict[str, dict[str, Any]] = {
    "negative-cpu": {"unitResources": {"cpu": "-1", "ram": "1Gi"}},
    "ram-without-unit": {"unitResources": {"cpu": "1", "ram": "lots"}},
    "nothing-asked": {"unitResources": None},
    "no-group": {"acceleratorGroup": ""},
    "no-os": {"os": ""},
    "group-of-200": {"acceleratorGroup": "g" * 200},
    "group-is-no-name": {"acceleratorGroup": "a b/c"},
    "os-of-64": {"os": "o" * 64},
}
LABELS = {
    "acme.example.com/" + "k" * 64: "x",
    "acme.example.com/long": "v" * 64,
    "acme.example.com/spaced": "a b/c",
}
FITTING = {"acme.example.com/" + "k" * 63: "x", "acme.example.com/full": "v" * 63}


async def bad_nodes(stage: FaultStage) -> None:
    for name, (_, group, row) in GROUPS.items():
        await come_up(stage, name, group=group, row=row)
    await come_up(stage, "labels-of-64", cpu="Z" * 400, labels=LABELS | FITTING)


async def bad_types(stage: FaultStage) -> None:
    fine = {
        "acceleratable": True,
        "acceleratorGroup": "nvidia-a10g",
        "os": "linux",
        "arch": "amd64",
        "unitResources": {"cpu": "1", "ram": "1Gi"},
        "localStorage": "1Gi",
    }
    for name, change in TYPES.items():
        body = INSTANCE_TYPES.body(name, spec=fine | change)
        await stage.admin.create(INSTANCE_TYPES, body, manager="kubectl")


async def pool_of_65(stage: FaultStage) -> None:
    for number in range(65):
        await come_up(stage, f"many-{number}", cores=str(1 + number))


def told(stage: FaultStage) -> dict[str, set[str]]:
    """Reasons of Events by the name of what they are about; each has its remedy."""
    found: dict[str, set[str]] = {}
    for event in stage.server.store.objects[str(EVENTS)].values():
        assert REMEDIES[event["reason"]] in event["note"], event["note"]
        found.setdefault(event["regarding"]["name"], set()).add(event["reason"])
    return found


@pytest.mark.parametrize("bad", [bad_nodes, bad_types, pool_of_65], ids=lambda each: each.__name__)
def test_what_is_there_already_is_not_touched_and_at_rest_nothing_is_written(bad: Any) -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await stage.wait(5)
        await bad(stage)
        await stage.wait(120)
        changed = differences(settled(), Photo.of(stage.server))
        assert [each for each in changed if not each.endswith(" is new")] == []
        assert (stage.evictions(), stage.admitted()) == ([], list(ADMITTED))
        assert not [line for line in stage.lines if " failed" in line]
        assert await stage.at_rest() == []
        written = len(stage.server.store.objects[str(EVENTS)])
        await stage.stop()
        stage.start("again")
        await stage.wait(60)
        others = [each for each in stage.writes_of_workers() if not any(name in each for name in ("/events", *GROUPS))]
        assert others == [], "another worker tells again, and has nothing to do elsewhere"
        assert len(stage.server.store.objects[str(EVENTS)]) <= 2 * written

    on(settled(), main)


def test_every_bad_node_is_told_of_and_what_fits_of_it_is_used() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await bad_nodes(stage)
        await stage.wait(60)
        reasons = told(stage)
        assert reasons.pop("labels-of-64") == {"FeatureRejected"}
        assert {name: reason for name, (reason, _, _) in GROUPS.items() if reason not in reasons[name]} == {}
        assert FITTING.items() <= stage.labels("labels-of-64").items()
        assert not LABELS.keys() & stage.labels("labels-of-64").keys()
        (flavor,) = (each for each in stage.flavors() if "zzz" in each)
        labels = stage.server.get(RESOURCE_FLAVORS, flavor)["metadata"]["labels"]
        assert max(len(key.partition("/")[2]) for key in labels) <= 63

    on(settled(), main)


def test_every_bad_type_says_why_it_is_not_served() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await bad_types(stage)
        await stage.wait(30)
        assert told(stage) == {name: {"SpecRefused"} for name in TYPES}
        for name in TYPES:
            status = stage.server.get(INSTANCE_TYPES, name)["status"]
            assert status["phase"] == "Inactive"
            assert REMEDIES["SpecRefused"] in status["phaseMessage"]
            await stage.admin.delete(INSTANCE_TYPES, name)
        await stage.wait(30)
        assert [each for each in stage.names(INSTANCE_TYPES) if each in TYPES] == []

    on(settled(), main)


def test_a_pool_of_65_flavors_says_so_on_its_queue() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await pool_of_65(stage)
        await stage.wait(120)
        assert told(stage) == {"gpustack--generic-linux-arm64": {"TooManyFlavors"}}
        assert stage.ready("gpustack--generic-linux-arm64") == ("False", "TooManyFlavors")

    on(settled(), main)


async def come_up(
    stage: FaultStage,
    name: str,
    *,
    cpu: str = "Acme One",
    cores: str = "8",
    labels: dict[str, str] | None = None,
    group: dict[str, Any] | None = None,
    row: dict[str, Any] | None = None,
) -> None:
    """A node like one of the walkthrough, with these differences."""
    played = {each.name: each for each in objects("walkthrough")}
    node = copy.deepcopy(played["node-cpu"].node)
    node["metadata"] |= {"name": name, "labels": ARM | {"kubernetes.io/hostname": name}}
    node["status"]["capacity"]["cpu"] = cores
    made = await stage.admin.create(NODES, node, manager="kubelet")
    owner = [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": made.metadata.uid}]
    stated: dict[str, Any] = copy.deepcopy(played["node-a10g"].devices) | {}
    body = stated["spec"]["groups"][0] | {"id": f"b-{name}", "name": f"B {name}"} | (group or {})
    feature = copy.deepcopy(played["node-cpu"].features[0])
    feature["metadata"] = {
        "name": f"{name}-gpustack-host",
        "namespace": NAMESPACE,
        "labels": {"nfd.node.kubernetes.io/node-name": name},
        "ownerReferences": owner,
    }
    feature["spec"]["features"]["attributes"]["cpu.model"]["elements"]["name"] = cpu
    feature["spec"]["labels"] |= labels or {}
    if group is not None:
        key = f"acceleratable.feature.gpustack.ai/{body['manufacturer']}-{body['id']}"
        feature["spec"]["labels"] |= {key: "true", f"{key}.count": "1"}
    await stage.admin.create(NODE_FEATURES, feature, manager="agent")
    if group is None:
        return
    stated["metadata"] = {"name": name, "labels": dict(ARM), "ownerReferences": owner}
    stated["spec"]["groups"] = [body]
    rows = stated["status"]["groups"][0]
    rows |= {"manufacturer": body["manufacturer"], "id": body["id"]}
    rows["accelerators"] = [rows["accelerators"][0] | (row or {})]
    await stage.put_devices(stated)
