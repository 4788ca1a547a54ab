"""Passes over one Node: what must never happen, what is told, and that a second pass sends nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.actions import EmitEvent, MergePatch
from engine.features.book import FeatureBook
from engine.features.foreign import Provider
from engine.features.keys import is_our_class
from engine.features.neighbourhood import Neighbourhood
from engine.features.objects import FeatureObject, NodeView
from engine.features.planner import plan
from engine.features.rules import HostRules
from engine.lang.outcome import Outcome, OutcomeKind
from tests.unit.features.world import NAMESPACE, World, policy, program, rules

HOST = {
    "attributes": {"cpu.model": {"vendor_id": "AMD", "family": "25", "id": "1"}},
    "pci": [["0300", "8086", "4692"]],
    "labels": {"feature.node.kubernetes.io/pci-8086.present": "true"},
}
DENIED = "feature.gpustack.ai/acceleratable"
MANAGED = "gpustack.ai/managed"


def started(**objects: Any) -> World:
    world = World()
    world.put_node("n1")
    for name, told in objects.items():
        world.put_object(name.replace("_", "-"), told)
    world.settle()
    return world


class Untold:
    """A program whose rules cannot tell what a host's labels are."""

    makers = ()

    def block(self, name: str, maker: str | None = None) -> Any:
        return program().block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        return Outcome(OutcomeKind.UNKNOWN, reason="a test said so")


def test_rules_that_cannot_tell_take_nothing_back() -> None:
    world = started(n1_gpustack_host=HOST)
    node = world.nodes["n1"]
    assert node.labels[DENIED] == "false"
    world.start()
    seen = world.book.neighbourhood("n1", world.now + 3600)
    assert seen is not None
    made = plan(seen, HostRules(Untold()), world.policy)  # type: ignore[arg-type]
    assert [each for each in made.actions if isinstance(each, MergePatch)] == []
    assert made.again_after_seconds is None
    other = replace(seen, node=replace(seen.node, labels={**seen.node.labels, "feature.gpustack.ai/x": "1"}))
    object_ = FeatureObject(NAMESPACE, "a", "n1", {"x.io/k": "1"})
    told = plan(replace(other, objects=(*seen.objects, object_)), HostRules(Untold()), world.policy)  # type: ignore[arg-type]
    reasons = [each.reason for each in told.actions if isinstance(each, EmitEvent)]
    assert reasons == ["FeaturesUntold"]


def test_a_node_of_another_installation_is_not_touched_and_that_is_told_once() -> None:
    world = started()
    world.edit("n1", "annotations", {"provider.gpustack.ai/installation": "elsewhere"})
    world.put_object("a", {"labels": {"x.io/k": "1"}})
    world.advance(600)
    assert world.writes == []
    assert [each.reason for each in world.events] == ["OtherInstallation"]
    assert "provider.gpustack.ai/installation" in world.events[0].note


def test_lists_that_somebody_removes_come_back() -> None:
    world = started(a={"labels": {"x.io/k": "1"}})
    world.edit("n1", "annotations", {"provider.gpustack.ai/feature-labels": None})
    world.put_object("a", {"labels": {}})
    world.settle()
    assert world.nodes["n1"].labels == {}


def test_a_switch_that_was_turned_while_the_workers_object_is_gone_stays_turned() -> None:
    world = started(n1_gpustack_worker={"labels": {MANAGED: "true"}})
    world.put_object("n1-gpustack-worker", None)
    world.edit("n1", "labels", {MANAGED: "false"})
    world.advance(10)
    assert world.nodes["n1"].labels[MANAGED] == "false"
    world.put_object("n1-gpustack-worker", {"labels": {MANAGED: "false"}})
    world.advance(600)
    assert world.nodes["n1"].labels[MANAGED] == "false"
    assert world.nodes["n1"].annotations["provider.gpustack.ai/last-managed"] == "false"


def test_a_switch_that_another_object_asks_for_is_settled_by_that_object() -> None:
    world = started(n1_gpustack_worker={"labels": {MANAGED: "true"}}, n1_zzz={"labels": {MANAGED: "true"}})
    for _ in range(2):
        world.edit("n1", "labels", {MANAGED: "false"})
        world.settle()
        assert world.nodes["n1"].labels[MANAGED] == "true"


def test_a_new_process_takes_the_switch_off_without_undoing_it() -> None:
    world = started(n1_gpustack_worker={"labels": {MANAGED: "true", "x.io/k": "1"}})
    world.put_object("n1-gpustack-worker", {"labels": {"x.io/k": "1"}})
    world.start()
    world.advance(600)
    assert MANAGED not in world.nodes["n1"].labels
    assert MANAGED not in world.objects[f"{NAMESPACE}/n1-gpustack-worker"]["spec"]["labels"]


def test_a_label_that_a_restriction_forbids_is_refused_to_rules_and_worker_too() -> None:
    forbidding = policy(restrictions=replace(policy().restrictions, denied=("*.gpustack.ai",)))
    world = World(forbidding)
    world.put_node("n1")
    world.put_object("n1-gpustack-host", HOST)
    world.book.put_direct_labels("n1", {"topology.gpustack.ai/profile": "p"})
    world.settle()
    assert sorted(world.nodes["n1"].labels) == ["feature.node.kubernetes.io/pci-8086.present"]
    assert [each.reason for each in world.events] == ["FeatureRejected", "FeatureRejected"]


def test_an_unresolved_reference_is_dropped_and_told() -> None:
    world = started(a={"labels": {"x.io/k": "@cpu.model.nope"}})
    assert world.writes == []
    assert "nothing is known of @cpu.model.nope" in world.events[0].note


def test_nothing_is_adopted_before_host_facts_are_there() -> None:
    world = World()
    listed = {"nfd.node.kubernetes.io/feature-labels": "cpu-model.id"}
    world.put_node("n1", {"labels": {"feature.node.kubernetes.io/cpu-model.id": "1"}, "annotations": listed})
    world.advance(7200)
    assert world.writes == []
    world.put_object("n1-gpustack-host", {**HOST, "labels": {"feature.node.kubernetes.io/cpu-model.id": "1"}})
    world.settle()
    assert len(world.writes) == 1


def test_a_label_of_the_nodes_last_life_is_not_kept() -> None:
    book = FeatureBook(60.0)
    book.listed_seconds = 0.0
    book.put_node(NodeView("n1", "one"))
    book.put_object(FeatureObject(NAMESPACE, "a", "n1", {"x.io/k": "1"}))
    book.remove_object(NAMESPACE, "a", 10.0)
    assert book.remove_object(NAMESPACE, "a", 10.0) == []
    assert book.put_node(NodeView("n1", "two")) == ["n1"]
    seen = book.neighbourhood("n1", 11.0)
    assert seen is not None
    assert seen.gone == ()
    assert book.node("n1") == NodeView("n1", "two")
    assert book.neighbourhood("n2", 11.0) is None


def test_an_old_word_on_the_host_does_not_outlive_a_new_one() -> None:
    world = started(n1_old={**HOST, "labels": {"feature.node.kubernetes.io/cpu-model.id": "1", "x.io/k": "1"}})
    world.put_object("n1-old", None)
    world.advance(120)
    assert world.nodes["n1"].labels["feature.node.kubernetes.io/cpu-model.id"] == "1"
    assert "x.io/k" not in world.nodes["n1"].labels
    world.put_object("n1-gpustack-host", HOST)
    world.settle()
    assert "feature.node.kubernetes.io/cpu-model.id" not in world.nodes["n1"].labels


def test_an_nfds_equal_value_under_a_foreign_key_is_not_ours() -> None:
    world = World()
    world.put_node("n1", {"labels": {"x.io/k": "1"}})
    world.put_object("a", {"labels": {"x.io/k": "1"}})
    world.settle()
    world.put_object("a", {"labels": {}})
    world.advance(600)
    assert world.nodes["n1"].labels == {"x.io/k": "1"}
    assert world.writes == []


def test_what_a_watch_tells_late_is_not_taken_for_new() -> None:
    book = FeatureBook(60.0)
    book.put_node(NodeView("n1", "u", "12", {"a": "1"}))
    assert book.put_node(NodeView("n1", "u", "9", {"a": "0"})) == []
    assert book.node("n1") == NodeView("n1", "u", "12", {"a": "1"})
    assert book.put_node(NodeView("n1", "u", "13", {"a": "1"})) == [], "a heartbeat"
    book.put_object(FeatureObject("ns", "a", "n1", {"k": "2"}, resource_version="12"))
    assert book.put_object(FeatureObject("ns", "a", "n1", {"k": "1"}, resource_version="9")) == []
    assert book.objects("n1")[0].labels == {"k": "2"}


keys = st.sampled_from(
    [
        "gpustack.ai/x",
        MANAGED,
        DENIED,
        "x.io/k",
        "short",
        "feature.node.kubernetes.io/pci-1.present",
        "kubernetes.io/hostname",
        "a/b/c",
    ]
)
values = st.sampled_from(["true", "false", "a", "", "not a value", "@cpu.model.id"])
maps = st.dictionaries(keys, values, max_size=5)
objects = st.lists(
    st.builds(
        FeatureObject,
        st.sampled_from([NAMESPACE, "default", "nfd"]),
        st.sampled_from(["n1", "n1-gpustack-worker", "n1-gpustack-host", "x"]),
        st.just("n1"),
        maps,
    ),
    max_size=4,
    unique_by=lambda each: each.place,
)


def write(node: NodeView, patch: MergePatch) -> NodeView:
    parts = {"labels": dict(node.labels), "annotations": dict(node.annotations)}
    for part, changes in patch.patch["metadata"].items():
        for key, value in changes.items():
            if value is None:
                del parts[part][key]
            else:
                assert parts[part].get(key) != value, "a patch has no needless operation"
                parts[part][key] = value
    return replace(node, labels=parts["labels"], annotations=parts["annotations"])


def after(seen: Neighbourhood) -> tuple[NodeView, Neighbourhood]:
    made = plan(seen, rules(), policy())
    patches = [each for each in made.actions if isinstance(each, MergePatch) and not each.key.namespace]
    assert len(patches) <= 1
    node = write(seen.node, patches[0]) if patches else seen.node
    return node, replace(seen, node=node, memory=made.memory)


@given(objects, objects, maps)
def test_a_second_pass_sends_nothing_and_no_order_of_objects_matters(
    before: list[FeatureObject], now: list[FeatureObject], labels: dict[str, str]
) -> None:
    there = {key: value for key, value in labels.items() if not value.startswith("@")}
    first = Neighbourhood(NodeView("n1", labels=there), tuple(before), 0.0, listed_seconds=0.0)
    _, second = after(first)
    seen = replace(second, objects=tuple(now), now_seconds=1000.0)
    node, third = after(seen)
    other, _ = after(replace(seen, objects=tuple(reversed(now))))
    assert node == other
    again = plan(third, rules(), policy())
    changes = [each for each in again.actions if isinstance(each, MergePatch) and not each.key.namespace]
    assert changes == [] or MANAGED in str(changes), "only the switch may need its object's answer first"


@given(objects, maps)
def test_what_others_wrote_under_other_keys_is_never_changed(now: list[FeatureObject], labels: dict[str, str]) -> None:
    node = NodeView("n1", labels=labels)
    seen = Neighbourhood(node, tuple(now), 1000.0, listed_seconds=0.0)
    changed, following = after(seen)
    bare, _ = after(replace(following, node=changed, objects=(), now_seconds=9000.0))
    for key, value in labels.items():
        if not is_our_class(key):
            assert changed.labels.get(key) == value
            assert bare.labels.get(key) == value


@given(objects)
def test_nothing_of_ours_is_left_when_nobody_asks_any_more(now: list[FeatureObject]) -> None:
    seen = Neighbourhood(NodeView("n1"), tuple(now), 1000.0, listed_seconds=0.0)
    _, following = after(seen)
    empty = replace(following, objects=(FeatureObject(NAMESPACE, "n1-gpustack-host", "n1", {}),), now_seconds=9000.0)
    node, _ = after(empty)
    left = [key for key in node.labels if not key.startswith("feature.node.kubernetes.io/pci-")]
    assert left in ([], [DENIED]), "without host facts a denial and the bus are not taken back"


def test_providers_have_the_names_of_the_setting() -> None:
    assert [each.value for each in Provider] == ["builtin", "nfd"]
