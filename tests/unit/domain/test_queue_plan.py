"""The plan of a queue: its order, what is left out, and each reason for refusing it, verbatim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.domain.kueue_limits import is_near_flavor_limit
from engine.domain.queue_plan import LiveFlavor, Overlap, plan_queue, select_nodes
from engine.domain.queue_state import FlavorQuota, QueuePlan, QueueState

FRESH = QueueState()


def flavor(name: str = "f", count: int = 4, nodes: int = 2, **changes: Any) -> LiveFlavor:
    values: dict[str, Any] = {
        "resource": "cpu",
        "nominal": count * nodes,
        "capacity": count * nodes,
        "selected_nodes": nodes,
        "topology": "t",
        "profile_topology": "t",
    }
    return LiveFlavor(name=name, count=count, **(values | changes))


def test_flavors_are_ordered_by_count_and_then_name() -> None:
    plan = plan_queue(FRESH, [flavor("b", 4), flavor("z", 1), flavor("a", 4), flavor("c", 16)], ("check",))
    assert [quota.flavor for quota in plan.quotas] == ["z", "a", "b", "c"]
    assert plan.quotas[0] == FlavorQuota("z", "cpu", 2)
    assert (plan.checks, plan.problem) == (("check",), None)


def test_a_flavor_without_capacity_is_left_out_and_still_lives() -> None:
    plan = plan_queue(FRESH, [flavor(nodes=0)])
    assert plan == QueuePlan(has_live_flavors=True)


def test_no_flavors_make_an_empty_plan_without_a_problem() -> None:
    assert plan_queue(FRESH, [], ("check",), orphan_nodes=["n"]) == QueuePlan(checks=("check",))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"profile_topology": None}, 'ResourceFlavor "f" is not bound to one topology profile'),
        ({"profile_topology": "u"}, 'ResourceFlavor "f" references Topology "t" instead of profile Topology "u"'),
        ({"has_topology": False}, 'ResourceFlavor "f" references missing Topology "t"'),
    ],
)
def test_a_flavor_without_its_topology_is_refused(changes: dict[str, Any], message: str) -> None:
    problem = plan_queue(FRESH, [flavor(**changes)]).problem
    assert problem is not None
    assert (problem.reason, problem.message) == ("MissingTopology", message)


def test_a_quota_that_the_nodes_do_not_make_up_is_refused() -> None:
    problem = plan_queue(FRESH, [flavor(capacity=9)]).problem
    assert problem is not None
    assert problem.reason == "NonConservedQuota"
    assert problem.message == 'ResourceFlavor "f" advertises capacity 9 but 2 selected Nodes contribute 4 each'


def test_a_node_that_no_flavor_or_two_flavors_select_is_refused() -> None:
    orphan = plan_queue(FRESH, [flavor()], orphan_nodes=["n2", "n1"]).problem
    assert orphan is not None
    assert orphan.reason == "NonConservedQuota"
    assert orphan.message == 'Node "n1" belongs to the queue pool but contributes to no ResourceFlavor'
    overlap = plan_queue(FRESH, [flavor()], overlaps=[Overlap("n", "a", "b")]).problem
    assert overlap is not None
    assert overlap.reason == "OverlappingSelectors"
    assert overlap.message == 'Node "n" is selected by ResourceFlavors "a" and "b"'


def test_sixty_four_flavors_are_allowed_and_one_more_is_refused() -> None:
    flavors = [flavor(f"f{number}") for number in range(65)]
    assert plan_queue(FRESH, flavors[:64]).problem is None
    problem = plan_queue(FRESH, flavors).problem
    assert problem is not None
    assert problem.reason == "TooManyFlavors"
    assert problem.message == "covered resource requires 65 flavors; Kueue permits at most 64"


def test_three_quarters_of_the_limit_deserve_a_warning() -> None:
    assert not is_near_flavor_limit(47)
    assert is_near_flavor_limit(48)


def test_a_queue_somebody_else_filled_is_not_touched() -> None:
    foreign = replace(FRESH, groups=(FlavorQuota("x", "cpu", 1),))
    problem = plan_queue(foreign, [flavor()]).problem
    assert problem is not None
    assert problem.reason == "UnsupportedExistingObject"
    assert problem.message == (
        "existing ClusterQueue has quota that was not created by the topology-aware queue controller;"
        " create fresh managed objects"
    )
    ours = replace(foreign, is_topology_aware=True)
    assert plan_queue(ours, [flavor()]).problem is None


def test_a_resource_covered_twice_is_refused() -> None:
    problem = plan_queue(replace(FRESH, covered_resources=("cpu", "memory", "cpu")), [flavor()]).problem
    assert problem is not None
    assert problem.reason == "DuplicateCoveredResource"
    assert problem.message == 'resource "cpu" is covered by more than one ClusterQueue resource group'
    single = replace(FRESH, covered_resources=("cpu",), is_topology_aware=True)
    assert plan_queue(single, [flavor()]).problem is None


def test_selecting_nodes_counts_overlaps_and_orphans() -> None:
    nodes = {"n1": {"a": "1", "b": "1"}, "n2": {"a": "1"}, "n3": {}}
    counts, overlaps, orphans = select_nodes({"fb": {"b": "1"}, "fa": {"a": "1"}}, nodes)
    assert counts == {"fa": 2, "fb": 1}
    assert overlaps == (Overlap("n1", "fa", "fb"),)
    assert orphans == ("n3",)
