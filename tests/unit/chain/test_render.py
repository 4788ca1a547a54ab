"""Objects as manifests: skeletons at their edges. Whole objects of the walkthrough are in the golden files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import InstanceTypeSet, NodeRemoved, NodeSet
from engine.chain.node import NodePlan
from engine.chain.plan import plan
from engine.chain.settings import parse_settings
from engine.domain.ledger import CardState, Mode
from engine.domain.units import CardIndex, Credits
from engine.worker.render.clusterqueue import cluster_queue
from engine.worker.render.devices import devices
from engine.worker.render.instancetype import instance_type
from engine.worker.render.nodefeature import (
    device_manager_node_feature,
    host_node_feature,
    worker_node_feature,
)
from engine.worker.render.resourceflavor import resource_flavor
from engine.worker.render.skeleton import manifest, present
from tests.unit.chain.shipped import cluster, machines, node, program, walkthrough

A10G = "gpustack--nvidia-a10g-linux-amd64"


def planned(chain: Chain, name: str) -> NodePlan:
    return next(each for each in chain.nodes() if each.facts.name == name)


@pytest.fixture(scope="module")
def mig() -> NodePlan:
    return planned(plan([NodeSet(machines("mig")["node-h100-mixed"])], program()), "node-h100-mixed")


def test_a_manifest_has_sorted_keys_at_every_depth_and_no_empty_metadata() -> None:
    made = manifest(
        "v1", "Thing", "x", labels={}, annotations=None, spec={"b": [{"d": 1, "c": 2}], "a": 0}, status=None
    )
    assert made == {
        "apiVersion": "v1",
        "kind": "Thing",
        "metadata": {"name": "x"},
        "spec": {"a": 0, "b": [{"c": 2, "d": 1}]},
    }
    assert list(made["spec"]) == ["a", "b"]
    assert list(made["spec"]["b"][0]) == ["c", "d"]


def test_present_drops_what_says_nothing_and_keeps_no_and_zero() -> None:
    assert present(a=None, b="", c=[], d={}, e=(), f=False, g=0) == {"f": False, "g": 0}


def test_a_partitioned_card_publishes_profiles_and_placements(mig: NodePlan) -> None:
    made = devices(mig)
    assert made is not None
    (group,) = made["spec"]["groups"]
    card = group["accelerators"][0]
    assert card["status"]["logicalSliced"] == {"count": 0, "coresPercentageOvercommit": False}
    assert card["status"]["physicalSliced"]["count"] == 7
    profile = next(each for each in card["status"]["physicalSliced"]["profiles"] if each["name"] == "3g.40gb")
    assert profile == {
        "name": "3g.40gb",
        "memoryMib": 40448,
        "computeSlices": 3,
        "memorySlices": 4,
        "count": 2,
        "placements": [{"start": 0, "length": 4}, {"start": 4, "length": 4}],
    }
    cards = [each for each in mig.groups[0].cards if each.is_partitioned]
    physical = group["acceleratorSlicedDetail"]["physical"]
    assert physical["count"] == 7 * len(cards)
    assert {"name": "3g.40gb", "count": 2 * len(cards), "memoryMib": 40448} in physical["profiles"]
    assert [each["name"] for each in physical["profiles"]] == sorted(each["name"] for each in physical["profiles"])
    assert card["topology"]["pciRootId"] == "0000:19:01.0"
    row = made["status"]["groups"][0]["accelerators"][0]
    assert {"name": "7g.80gb", "count": 1} in row["remainingProfiles"]


def test_slots_are_published_in_the_makers_order_and_a_ledger_fills_the_status() -> None:
    facts = walkthrough()["node-a10g"]
    card = replace(facts.libraries[0].cards[0], slots={"minor": 3, "other": 5})
    facts = replace(facts, libraries=(replace(facts.libraries[0], cards=(card,)),), pci=None)
    made_plan = planned(plan([NodeSet(facts)], program()), "node-a10g")
    row = CardState(card.uuid, CardIndex(0), Mode.SLICED, Credits(1_280_000), allocated_slices=1)
    made = devices(made_plan, {"nvidia": ("other", "minor", "missing")}, {card.uuid: row})
    assert made is not None
    accelerator = made["spec"]["groups"][0]["accelerators"][0]
    assert accelerator["physicalIndexes"] == [5, 3]
    assert accelerator["topology"] == {"pciBusId": "0000:00:1e.0"}
    assert made["status"]["groups"][0]["accelerators"] == [
        {"allocatedSlices": 1, "id": card.uuid, "index": 0, "mode": 3, "remaining": 1_280_000}
    ]


def test_a_node_without_cards_has_no_devices_and_no_device_features() -> None:
    made = planned(plan(cluster(), program()), "node-cpu")
    assert devices(made) is None
    assert device_manager_node_feature(made) is None
    assert worker_node_feature(made, "elsewhere")["metadata"]["namespace"] == "elsewhere"


def test_a_node_publishes_of_its_host_only_what_was_stated() -> None:
    facts = walkthrough()["node-a10g"]
    chain = plan(
        [
            NodeSet(replace(facts, name="neither", cpu=None, pci=None)),
            NodeSet(replace(facts, name="cpu", pci=None)),
            NodeSet(replace(facts, name="pci", cpu=None)),
        ],
        program(),
    )
    assert host_node_feature(planned(chain, "neither")) is None
    cpu = host_node_feature(planned(chain, "cpu"))
    pci = host_node_feature(planned(chain, "pci"))
    assert cpu is not None
    assert pci is not None
    assert list(cpu["spec"]["features"]) == ["attributes"]
    assert list(pci["spec"]["features"]) == ["instances"]
    assert pci["spec"]["labels"] == {"feature.node.kubernetes.io/pci-10de.present": "true"}


def test_bridges_are_not_published_as_devices() -> None:
    made = planned(plan([NodeSet(machines("mig")["node-h100-mixed"])], program()), "node-h100-mixed")
    host = host_node_feature(made)
    assert host is not None
    elements = host["spec"]["features"]["instances"]["pci.device"]["elements"]
    assert {each["attributes"]["class"] for each in elements} == {"0302"}


def test_an_emptied_queue_keeps_its_markers_and_has_no_groups() -> None:
    chain = plan(cluster(), program(), second_steps=[[NodeRemoved("node-a10g")]])
    queue = next(each for each in chain.queues() if each.name == A10G)
    made = cluster_queue(queue)
    assert made["metadata"]["annotations"] == {
        "topology.gpustack.ai/migration-phase": "switched",
        "topology.gpustack.ai/migration-stop-policy": "None",
        "topology.gpustack.ai/tas-queue": "true",
    }
    assert "resourceGroups" not in made["spec"]
    assert made["spec"]["stopPolicy"] == "HoldAndDrain"


def test_a_queue_created_held_shows_its_marker_once() -> None:
    spec = {"os": "plan9", "arch": "mips", "unitResources": {"cpu": "1", "ram": "1Gi"}, "localStorage": "1Gi"}
    chain = plan([InstanceTypeSet("odd", spec)], program())
    made = cluster_queue(chain.queues()[0])
    assert made["metadata"]["annotations"] == {"topology.gpustack.ai/empty-plan-hold": "true"}
    assert made["spec"]["stopPolicy"] == "Hold"
    unset = replace(chain.queues()[0], state=replace(chain.queues()[0].state, stop_policy=None))
    assert "stopPolicy" not in cluster_queue(unset)["spec"]


def test_a_partitioned_type_lists_profiles_with_zeros() -> None:
    chain = plan([NodeSet(machines("mig")["node-h100-mixed"])], program())
    made = instance_type(next(each for each in chain.types() if each.spec["acceleratable"]))
    names = [each["name"] for each in made["status"]["acceleratorPartitioned"]["remainingProfiles"]]
    assert names == sorted(names)
    assert "7g.80gb" in names


def test_notes_become_annotations_under_the_prefix_given() -> None:
    flavor = plan([NodeSet(node("n"))], program()).flavors()[0]
    made = resource_flavor(flavor, "note.example/")
    assert made["metadata"]["annotations"]["note.example/generalGroup"] == "amd-epyc-7r13"


def test_settings_may_be_given_parsed() -> None:
    settings = parse_settings(program().block("settings"), {"instance-type-derived-from-node": "false"})
    chain = plan(cluster(), program(), settings)
    assert chain.types() == []
    assert len(chain.flavors()) == 7
