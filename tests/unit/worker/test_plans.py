"""The plans of single kinds: a neighbourhood in, actions out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import pytest

from engine.chain.changes import NodeSet
from engine.chain.fields import FlavorFields, TopologyFields
from engine.chain.plan import plan as chain_plan
from engine.cluster.actions import Apply, Create, Delete, EmitEvent, MergePatch
from engine.cluster.objects import Data, Object, Owned
from engine.domain.facts import CpuFacts
from engine.features.hostfacts import HostFacts
from engine.features.objects import NodeFeature
from engine.worker.asking import NodeAsker, SeenNode
from engine.worker.controllers import crd, nodefeature, resourceflavor, settings, topology
from engine.worker.controllers.nodefeature import NodeNeighbourhood, Patience
from engine.worker.controllers.resourceflavor import FlavorNeighbourhood
from engine.worker.controllers.settings import SettingsNeighbourhood
from engine.worker.controllers.topology import TopologyNeighbourhood
from engine.worker.render.resourceflavor import resource_flavor
from engine.worker.render.topology import topology as rendered_topology
from tests.unit.chain.shipped import walkthrough
from tests.unit.features.world import program
from tests.unit.worker.replaced import Replaced, unknown

MANAGED = "gpustack.ai/managed"
HOST = HostFacts(CpuFacts(vendor_id="AMD", family="23", model_id="49", name="AMD EPYC 7R32"), (), is_stated=True)
LABELS = {
    MANAGED: "true",
    "general.feature.gpustack.ai/amd": "true",
    "general.feature.gpustack.ai/amd-epyc-7r32": "true",
    "general.feature.gpustack.ai/amd-epyc-7r32.count": "4",
}


@cache
def asker(**values: Any) -> NodeAsker:
    return NodeAsker(program(), {"nodeManagementManual": False, "instanceTypeMixedOnNode": True, **values})


@cache
def planned() -> tuple[FlavorFields, TopologyFields]:
    chain = chain_plan([NodeSet(walkthrough()["node-cpu"])], program())
    return chain.flavors()[0], chain.topologies()[0]


def node(**labels: str) -> SeenNode:
    given = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
    return SeenNode("n1", "uid-1", "linux", "amd64", "3500m", given, {})


def owned(body: dict[str, Any], **metadata: Any) -> Owned:
    return msgspec.convert({**body, "metadata": {"uid": "u", **body["metadata"], **metadata}}, Owned)


def feature(asked: dict[str, str], **metadata: Any) -> NodeFeature:
    own = {"nfd.node.kubernetes.io/node-name": "n1", "app.kubernetes.io/part-of": "gpustack-operator-worker"}
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "uid-1", "controller": True}
    body = {"name": "n1-gpustack-worker", "resourceVersion": "7", "labels": own, "ownerReferences": [owner], **metadata}
    return msgspec.convert({"metadata": body, "spec": {"labels": asked}}, NodeFeature)


def around(**parts: Any) -> NodeNeighbourhood:
    return NodeNeighbourhood(**{"node": node(), "namespace": "gpustack-system", "host": HOST, **parts})


# The worker's NodeFeature


def test_a_node_without_an_object_gets_one_with_its_own_mark() -> None:
    for label, wanted in ({}, "true"), ({"gpustack_ai__managed": "false"}, "false"):
        (made,) = nodefeature.plan(around(node=node(**label)), asker())
        assert isinstance(made, Create)
        assert made.body["spec"]["labels"] == LABELS | {MANAGED: wanted}
        assert made.body["metadata"]["ownerReferences"][0]["uid"] == "uid-1"


def test_in_manual_mode_an_unmarked_node_stays_unmarked() -> None:
    (made,) = nodefeature.plan(around(), asker(nodeManagementManual=True))
    assert MANAGED not in made.body["spec"]["labels"]


def test_an_object_that_says_it_all_needs_nothing() -> None:
    assert nodefeature.plan(around(live=feature(LABELS)), asker()) == []


def test_the_mark_of_an_object_is_its_own_whatever_the_node_says() -> None:
    live = feature(LABELS | {MANAGED: "false"})
    assert nodefeature.plan(around(live=live, node=node(gpustack_ai__managed="true")), asker()) == []


def test_labels_that_are_no_longer_asked_for_go_and_labels_of_the_object_stay() -> None:
    live = feature({**LABELS, "old": "1", "general.feature.gpustack.ai/amd-epyc-7r32.count": "2"}, labels={"mine": "1"})
    (made,) = nodefeature.plan(around(live=live), asker())
    assert isinstance(made, MergePatch)
    assert made.resource_version == "7"
    assert made.patch["spec"] == {"labels": {"general.feature.gpustack.ai/amd-epyc-7r32.count": "4", "old": None}}
    assert made.patch["metadata"]["labels"] == {
        "nfd.node.kubernetes.io/node-name": "n1",
        "app.kubernetes.io/part-of": "gpustack-operator-worker",
    }


def test_an_object_without_an_owner_gets_the_node_as_its_owner() -> None:
    (made,) = nodefeature.plan(around(live=feature(LABELS, ownerReferences=[])), asker())
    assert made.patch == {
        "metadata": {
            "ownerReferences": [{"apiVersion": "v1", "controller": True, "kind": "Node", "name": "n1", "uid": "uid-1"}]
        }
    }


def test_a_node_whose_name_fits_no_label_is_named_by_the_owner_alone() -> None:
    long = replace(node(), name="n" * 64)
    (made,) = nodefeature.plan(around(node=long), asker())
    assert "nfd.node.kubernetes.io/node-name" not in made.body["metadata"]["labels"]
    assert made.body["metadata"]["ownerReferences"][0]["name"] == "n" * 64


def test_a_silent_host_is_waited_for_then_marked_then_taken_for_unknown() -> None:
    silent = around(host=HostFacts())
    assert nodefeature.plan(replace(silent, patience=Patience.WAIT), asker()) == []
    (marked,) = nodefeature.plan(replace(silent, patience=Patience.MARK), asker())
    assert marked.body["spec"]["labels"] == {MANAGED: "true"}
    assert nodefeature.plan(replace(silent, patience=Patience.MARK, live=feature(LABELS)), asker()) == []
    (over,) = nodefeature.plan(replace(silent, patience=Patience.OVER), asker())
    assert over.body["spec"]["labels"]["general.feature.gpustack.ai/generic"] == "true"


def test_cards_that_a_device_manager_tells_of_keep_cpu_only_away() -> None:
    ask = asker(instanceTypeMixedOnNode=False)
    for is_accelerated in (False, True):
        (made,) = nodefeature.plan(around(is_accelerated=is_accelerated), ask)
        assert ("feature.gpustack.ai/cpu-only" in made.body["spec"]["labels"]) is not is_accelerated


@pytest.mark.parametrize("section", ["worker_labels", "cpu"])
def test_what_rules_cannot_tell_leaves_the_object_as_it_is(section: str) -> None:
    ask = NodeAsker(Replaced(**{section: unknown}), {"nodeManagementManual": False})
    assert nodefeature.plan(around(live=feature({"old": "1"})), ask) == []
    assert nodefeature.plan(around(), ask) == []


def test_an_object_that_is_being_deleted_is_left_alone() -> None:
    gone = feature({}, deletionTimestamp="2026-11-29T12:00:00Z")
    assert nodefeature.plan(around(live=gone), asker()) == []


# ResourceFlavors


def flavor(**parts: Any) -> FlavorNeighbourhood:
    return FlavorNeighbourhood(planned()[0].name, asker().keys, **parts)


def test_a_flavor_that_nodes_are_for_is_applied() -> None:
    (made,) = resourceflavor.plan(flavor(wanted=planned()[0]))
    assert isinstance(made, Apply)
    assert made.manager == "engine-flavor"
    assert made.body == resource_flavor(planned()[0], "note.gpustack.ai/")


def test_a_flavor_without_a_node_is_deleted_unless_something_speaks_against_it() -> None:
    live = owned(resource_flavor(planned()[0], "note.gpustack.ai/"))
    (made,) = resourceflavor.plan(flavor(live=live))
    assert isinstance(made, Delete)
    assert made.uid == "u"
    assert resourceflavor.plan(flavor(live=live, untold=("node n1",))) == []
    waiting = flavor(live=live, unprofiled=("n1",))
    assert resourceflavor.plan(waiting) == []
    assert resourceflavor.again_after_seconds(waiting) == 10
    assert resourceflavor.again_after_seconds(flavor(live=live)) is None
    persons = owned(resource_flavor(planned()[0], "note.gpustack.ai/"), labels={})
    assert resourceflavor.plan(flavor(live=persons)) == []
    assert resourceflavor.plan(flavor()) == []


def test_a_flavor_that_is_being_deleted_is_waited_for() -> None:
    live = owned(resource_flavor(planned()[0], "note.gpustack.ai/"), deletionTimestamp="2026-11-29T12:00:00Z")
    assert resourceflavor.plan(flavor(live=live, wanted=planned()[0])) == []


def test_a_flavor_that_differs_in_the_mixing_selector_alone_is_made_anew() -> None:
    body = resource_flavor(planned()[0], "note.gpustack.ai/")
    selector = body["spec"]["nodeLabels"] | {"feature.gpustack.ai/cpu-only": "true"}
    unmixed = owned({**body, "spec": {**body["spec"], "nodeLabels": selector}})
    (made,) = resourceflavor.plan(flavor(wanted=planned()[0], live=unmixed))
    assert isinstance(made, Delete)


def test_a_flavor_with_any_other_spec_is_told_in_the_words_of_the_specification() -> None:
    body = resource_flavor(planned()[0], "note.gpustack.ai/")
    for spec in ({"topologyName": "other"}, {"nodeLabels": {}}, {"tolerations": []}, {"nodeTaints": [{"key": "x"}]}):
        live = owned({**body, "spec": {**body["spec"], **spec}})
        (made,) = resourceflavor.plan(flavor(wanted=planned()[0], live=live))
        assert isinstance(made, EmitEvent)
        assert made.note == (
            f'managed ResourceFlavor "{planned()[0].name}" has immutable topology drift; '
            "create fresh scheduling objects"
        )


# Topologies


def levels(**parts: Any) -> TopologyNeighbourhood:
    return TopologyNeighbourhood(planned()[1].name, asker().keys, **parts)


def test_a_topology_is_made_kept_while_flavors_name_it_and_deleted_after_the_last() -> None:
    (made,) = topology.plan(levels(wanted=planned()[1]))
    assert isinstance(made, Apply)
    live = owned(rendered_topology(planned()[1]))
    assert topology.plan(levels(live=live, users=("f",))) == []
    assert topology.plan(levels(live=live, untold=("node n",))) == []
    (gone,) = topology.plan(levels(live=live))
    assert isinstance(gone, Delete)
    assert topology.plan(levels(live=owned(rendered_topology(planned()[1]), labels={}))) == []
    leaving = owned(rendered_topology(planned()[1]), deletionTimestamp="2026-11-29T12:00:00Z")
    assert topology.plan(levels(live=leaving, wanted=planned()[1])) == []


def test_a_topology_with_other_levels_is_told_in_the_words_of_the_specification() -> None:
    body = rendered_topology(planned()[1])
    live = owned({**body, "spec": {"levels": [{"nodeLabel": "zone"}]}})
    (made,) = topology.plan(levels(live=live, wanted=planned()[1]))
    assert isinstance(made, EmitEvent)
    assert made.note == f'managed Topology "{planned()[1].name}" has immutable level drift'


# Definitions and settings


def test_definitions_of_node_features_are_only_made_where_they_are_absent() -> None:
    actions = {each.body["metadata"]["name"]: type(each) for each in crd.align()}
    assert {name for name, kind in actions.items() if kind is Create} == {
        "nodefeatures.nfd.k8s-sigs.io",
        "nodefeaturerules.nfd.k8s-sigs.io",
    }
    document = crd.documents()["devices.worker.gpustack.ai"]
    there = msgspec.convert({"metadata": {"name": "devices.worker.gpustack.ai"}}, Object)
    assert crd.plan(crd.CrdNeighbourhood(document, there)) == []
    (made,) = crd.plan(crd.CrdNeighbourhood(document, None))
    assert isinstance(made, Create)


def test_missing_settings_are_seeded_against_the_version_read_and_stored_ones_stay() -> None:
    live = msgspec.convert(
        {"metadata": {"name": "gpustack-settings", "resourceVersion": "3"}, "data": {"a": "MQ=="}}, Data
    )
    (made,) = settings.plan(SettingsNeighbourhood("ns", {"a": "2", "b": "3"}, live))
    assert isinstance(made, MergePatch)
    assert (made.patch, made.resource_version) == ({"data": {"b": "Mw=="}}, "3")
    (created,) = settings.plan(SettingsNeighbourhood("ns", {"b": "3"}, None))
    assert isinstance(created, Create)
    assert created.body["data"] == {"b": "Mw=="}
