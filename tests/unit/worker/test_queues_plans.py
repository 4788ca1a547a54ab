"""Queues read and planned: live objects in, actions out, compared as lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from engine.cluster.actions import Apply, EmitEvent, MergePatch, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import CLUSTER_QUEUES, ObjectKey
from engine.domain.queue_plan import LiveFlavor, Overlap
from engine.domain.queue_state import FlavorQuota, FlavorUsage
from engine.worker.controllers import clusterqueue
from engine.worker.controllers.clusterqueue import MANAGER, REMEDIES, QueueNeighbourhood
from engine.worker.reading.queue import read_observed, read_state

NOW = "2026-11-29T12:00:00Z"
EARLIER = "2026-11-29T11:00:00Z"
CREDITS = "credits.gpustack.ai/acme"
TAS = "topology.gpustack.ai/tas-queue"
HOLD = "topology.gpustack.ai/empty-plan-hold"
PHASE = "topology.gpustack.ai/migration-phase"
SAVED = "topology.gpustack.ai/migration-stop-policy"
READY = {
    "type": "TopologyReady",
    "status": "True",
    "reason": "Ready",
    "message": "all queue flavors are topology-aware and quota is conserved",
}
MIGRATING = {
    "type": "TopologyReady",
    "status": "False",
    "reason": "Migrating",
    "message": "holding and draining before switching topology flavors",
}
KEY = ObjectKey("", "q")


def group(**quotas: str) -> list[dict[str, Any]]:
    flavors = [{"name": name, "resources": [{"name": CREDITS, "nominalQuota": text}]} for name, text in quotas.items()]
    return [{"coveredResources": [CREDITS], "flavors": flavors}]


def queue(*, annotations: dict[str, str] | None = None, status: dict[str, Any] | None = None, **spec: Any) -> Owned:
    metadata = {"name": "q", "uid": "u", "resourceVersion": "7", "generation": 3, "annotations": annotations or {}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, Owned)


def ending(live: Owned) -> Owned:
    return msgspec.structs.replace(
        live, metadata=msgspec.structs.replace(live.metadata, deletion_timestamp="2026-11-29T12:00:00Z")
    )


def active(*, stopped: bool = False, generation: int = 3, reserving: int = 0, **usage: str) -> dict[str, Any]:
    flavors = [{"name": name, "resources": [{"name": CREDITS, "total": text}]} for name, text in usage.items()]
    return {
        "conditions": [
            {
                "type": "Active",
                "status": "False" if stopped else "True",
                "reason": "Stopped" if stopped else "Ready",
                "message": "m",
                "observedGeneration": generation,
            }
        ],
        "flavorsReservation": flavors,
        "flavorsUsage": flavors,
        "reservingWorkloads": reserving,
        "admittedWorkloads": 0,
    }


def flavor(name: str = "f", *, cards: int = 1, nodes: int = 1, **parts: Any) -> LiveFlavor:
    capacity = cards * nodes
    given = {"resource": CREDITS, "nominal": capacity * 1_600_000, "count": cards, "capacity": capacity}
    return LiveFlavor(
        **{"name": name, "selected_nodes": nodes, "topology": "t", "profile_topology": "t", **given, **parts}
    )


def around(live: Owned, *flavors: LiveFlavor, **parts: Any) -> QueueNeighbourhood:
    return QueueNeighbourhood(live, NOW, flavors=flavors, **parts)


def patched(patch: dict[str, Any]) -> MergePatch:
    return MergePatch(CLUSTER_QUEUES, KEY, patch, MANAGER, "7")


def told(condition: dict[str, Any], since: str = NOW) -> Apply:
    status = {"conditions": [condition | {"lastTransitionTime": since}]}
    return Apply(CLUSTER_QUEUES, CLUSTER_QUEUES.body("q", status=status), MANAGER, subresource="status")


def filled(*, policy: str = "None", notes: dict[str, str] | None = None, **quotas: str) -> Owned:
    status = active(**dict.fromkeys(quotas, "0"))
    status["conditions"].append(READY | {"lastTransitionTime": EARLIER})
    return queue(
        annotations={TAS: "true", **(notes or {})}, status=status, stopPolicy=policy, resourceGroups=group(**quotas)
    )


# Reading


def test_a_queue_that_the_machine_wrote_reads_back_as_its_state() -> None:
    checks = {"admissionChecks": [{"name": "c"}]}
    notes = {TAS: "true", PHASE: "draining", SAVED: "unset", "other": "1"}
    live = queue(
        annotations=notes,
        stopPolicy="HoldAndDrain",
        resourceGroups=group(f="1600k", g="3200k"),
        admissionChecksStrategy=checks,
    )
    state = read_state(live)
    assert state.stop_policy == "HoldAndDrain"
    assert state.groups == (FlavorQuota("f", CREDITS, 1_600_000), FlavorQuota("g", CREDITS, 3_200_000))
    assert (state.checks, state.covered_resources, state.generation) == (("c",), (), 3)
    assert state.markers() == {TAS: "true", PHASE: "draining", SAVED: "unset"}


@pytest.mark.parametrize(
    "groups",
    [
        group(f="1600k") * 2,
        [
            {
                "coveredResources": [CREDITS],
                "flavors": [{"name": "f", "resources": [{"name": CREDITS, "nominalQuota": "1500m"}]}],
            }
        ],
        [
            {
                "coveredResources": [CREDITS],
                "flavors": [
                    {"name": "f", "resources": [{"name": CREDITS, "nominalQuota": "1600k", "borrowingLimit": "0"}]}
                ],
            }
        ],
        [{"coveredResources": [CREDITS, "cpu"], "flavors": [{"name": "f", "resources": []}]}],
    ],
    ids=["two groups", "a fraction", "a limit", "two resources"],
)
def test_a_queue_in_any_other_form_differs_from_every_plan(groups: list[dict[str, Any]]) -> None:
    live = queue(annotations={TAS: "true"}, status=active(f="0"), stopPolicy="None", resourceGroups=groups)
    assert CREDITS in read_state(live).covered_resources


def test_a_check_held_to_some_flavors_is_written_back_for_all() -> None:
    limited = {"admissionChecks": [{"name": "c", "onFlavors": ["f"]}]}
    live = queue(
        annotations={TAS: "true"},
        status=active(f="0"),
        stopPolicy="None",
        resourceGroups=group(f="1600k"),
        admissionChecksStrategy=limited,
    )
    write, _ = clusterqueue.plan(around(live, flavor(), checks=("c",)))
    assert write == patched({"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "c"}]}}})


def test_what_kueue_says_of_use_is_read_with_what_is_borrowed_and_rounded_up() -> None:
    status = active(f="1500m", reserving=2)
    status["flavorsReservation"][0]["resources"][0]["borrowed"] = "1"
    status["flavorsUsage"] = []
    observed = read_observed(queue(status=status))
    assert observed.usage == (FlavorUsage("f", used=0, reserved=3),)
    assert (observed.active, observed.reason, observed.observed_generation) == ("True", "Ready", 3)
    assert observed.is_reserved
    assert observed.holds("f")
    assert observed.holds("unheard-of"), "what Kueue does not name is taken for used"
    assert read_observed(queue()).active is None


# Filling


def test_a_fresh_queue_is_filled_in_one_write_and_its_hold_stays_for_the_types_to_release() -> None:
    live = queue(annotations={HOLD: "true"}, stopPolicy="Hold")
    seen = around(live, flavor("b", cards=4), flavor("c"), flavor("a"), checks=("check",))
    flavors = group(a="1600k", c="1600k", b="6400k")
    assert clusterqueue.plan(seen) == [
        patched(
            {
                "spec": {
                    "resourceGroups": flavors,
                    "admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]},
                },
                "metadata": {"annotations": {HOLD: None, TAS: "true"}},
            }
        ),
        told(READY),
    ]
    assert clusterqueue.again_after_seconds(seen) is None


def test_a_queue_that_is_as_planned_needs_nothing() -> None:
    assert clusterqueue.plan(around(filled(f="1600k"), flavor())) == []


def test_more_nodes_and_more_flavors_go_in_place() -> None:
    (write,) = clusterqueue.plan(around(filled(f="1600k"), flavor(nodes=2), flavor("g", cards=8)))
    assert write == patched({"spec": {"resourceGroups": group(f="3200k", g="12800k")}})


def test_an_idle_flavor_that_leaves_is_dropped_in_place_and_one_in_use_begins_a_drain() -> None:
    live = filled(f="1600k", g="3200k")
    (write,) = clusterqueue.plan(around(live, flavor()))
    assert write == patched({"spec": {"resourceGroups": group(f="1600k")}})
    used = msgspec.structs.replace(live, status=active(f="0", g="1600k", reserving=1))
    seen = around(used, flavor())
    assert clusterqueue.plan(seen) == [
        patched(
            {"spec": {"stopPolicy": "HoldAndDrain"}, "metadata": {"annotations": {PHASE: "draining", SAVED: "None"}}}
        ),
        told(MIGRATING),
    ]
    assert clusterqueue.again_after_seconds(seen) == 5


def test_nothing_is_dropped_on_kueues_word_about_an_older_queue() -> None:
    live = msgspec.structs.replace(filled(f="1600k", g="3200k"), status=active(f="0", g="0", generation=2))
    seen = around(live, flavor())
    waiting = {
        "type": "TopologyReady",
        "status": "Unknown",
        "reason": "AwaitingQueueStatus",
        "message": "waiting for Kueue to report flavor usage at generation 3 before dropping flavors [g]",
    }
    assert clusterqueue.plan(seen) == [told(waiting)]
    assert clusterqueue.again_after_seconds(seen) == 5


# Migrating


def test_a_drained_queue_switches_then_restores_the_policy_that_was_saved() -> None:
    notes = {PHASE: "draining", SAVED: "Hold"}
    draining = filled(policy="HoldAndDrain", notes=notes, f="1600k", g="3200k")
    still = msgspec.structs.replace(draining, status=active(stopped=True, f="0", g="1600k", reserving=1))
    assert clusterqueue.plan(around(still, flavor())) == [told(MIGRATING)]
    drained = msgspec.structs.replace(draining, status=active(stopped=True, f="0", g="0"))
    switch, _ = clusterqueue.plan(around(drained, flavor()))
    assert switch == patched(
        {"spec": {"resourceGroups": group(f="1600k")}, "metadata": {"annotations": {PHASE: "switched"}}}
    )
    switched = filled(policy="HoldAndDrain", notes={PHASE: "switched", SAVED: "Hold"}, f="1600k")
    stopped = msgspec.structs.replace(switched, status=active(stopped=True, f="0"))
    assert clusterqueue.plan(around(stopped, flavor())) == [
        patched({"spec": {"stopPolicy": "Hold"}, "metadata": {"annotations": {PHASE: None, SAVED: None}}}),
        told(READY),
    ]


def test_a_queue_emptied_by_its_last_flavor_keeps_its_drain_and_waits_without_being_asked_again() -> None:
    emptied = queue(
        annotations={TAS: "true", PHASE: "switched", SAVED: "None"},
        status=active(stopped=True),
        stopPolicy="HoldAndDrain",
    )
    seen = around(emptied)
    assert clusterqueue.plan(seen) == [told(READY)]
    assert clusterqueue.again_after_seconds(seen) is None


def test_without_draining_a_queue_in_use_waits_a_minute() -> None:
    used = msgspec.structs.replace(filled(f="1600k"), status=active(f="1600k", reserving=1))
    seen = around(used, drains_when_no_flavors=False)
    assert clusterqueue.plan(seen) == []
    assert clusterqueue.again_after_seconds(seen) == 60


def test_a_queue_that_is_being_deleted_is_drained_once() -> None:
    live = ending(filled(f="1600k"))
    assert clusterqueue.plan(around(live, untold="whatever")) == [patched({"spec": {"stopPolicy": "HoldAndDrain"}})]
    assert clusterqueue.plan(around(ending(filled(policy="HoldAndDrain", f="1600k")))) == []


def test_a_queue_that_selects_nothing_is_left_alone() -> None:
    assert clusterqueue.plan(around(filled(f="1600k"), has_selector=False)) == []


# Refusals


@pytest.mark.parametrize(
    ("reason", "again", "flavors", "parts"),
    [
        ("TooManyFlavors", None, [flavor(f"f{number:02}") for number in range(65)], {}),
        ("MissingTopology", 30, [flavor(has_topology=False)], {}),
        ("MissingTopology", 30, [flavor(topology="other")], {}),
        ("OverlappingSelectors", None, [flavor()], {"overlaps": (Overlap("n", "f", "g"),)}),
        ("NonConservedQuota", 30, [flavor(nodes=2, selected_nodes=1)], {}),
        ("NonConservedQuota", 30, [flavor()], {"orphan_nodes": ("n",)}),
    ],
)
def test_a_refused_plan_leaves_the_last_one_in_force_and_says_what_to_do(
    reason: Any, again: float | None, flavors: list[LiveFlavor], parts: dict[str, Any]
) -> None:
    seen = around(filled(f="1600k"), *flavors, **parts)
    condition, event = clusterqueue.plan(seen)
    assert isinstance(condition, Apply)
    (made,) = condition.body["status"]["conditions"]
    assert (made["status"], made["reason"], made["lastTransitionTime"]) == ("False", reason, NOW)
    note = f"{made['message']}; {REMEDIES[reason]}"
    about = reference(CLUSTER_QUEUES, seen.live)
    assert event == EmitEvent(about, reason, note, "SyncQueue", "Warning")
    assert clusterqueue.again_after_seconds(seen) == again


def test_a_refusal_is_told_once_and_its_time_is_that_of_the_first() -> None:
    seen = around(filled(f="1600k"), flavor(has_topology=False))
    condition, _ = clusterqueue.plan(seen)
    assert isinstance(condition, Apply)
    status = active(f="0")
    status["conditions"] += condition.body["status"]["conditions"]
    refused = replace(seen, live=msgspec.structs.replace(seen.live, status=status), now="2026-11-29T13:00:00Z")
    assert clusterqueue.plan(refused) == []
    (other, _) = clusterqueue.plan(replace(refused, flavors=(flavor(topology="x"),)))
    assert isinstance(other, Apply)
    assert other.body["status"]["conditions"][0]["lastTransitionTime"] == NOW, "still False"


def test_a_foreign_queue_with_quota_is_refused_and_one_without_is_held() -> None:
    foreign = queue(stopPolicy="None", resourceGroups=group(f="1600k"))
    condition, event = clusterqueue.plan(around(foreign, flavor()))
    assert isinstance(event, EmitEvent)
    assert event.reason == "UnsupportedExistingObject"
    bare = queue(stopPolicy="None")
    (held,) = clusterqueue.plan(around(bare))
    assert held == patched({"spec": {"stopPolicy": "Hold"}, "metadata": {"annotations": {HOLD: "true"}}})
    assert isinstance(condition, Apply)


def test_a_queue_near_the_limit_of_flavors_is_warned_of_when_it_gets_there() -> None:
    flavors = [flavor(f"f{number:02}") for number in range(48)]
    write, event = clusterqueue.plan(around(filled(f00="1600k"), *flavors))
    assert isinstance(write, MergePatch)
    assert isinstance(event, EmitEvent)
    assert (event.reason, event.note.partition(";")[0]) == ("FlavorsNearLimit", "the queue has 48 flavors")


def test_what_rules_could_not_tell_holds_the_queue_as_it_is() -> None:
    seen = around(filled(f="1600k"), untold="section quota: no")
    (event,) = clusterqueue.plan(seen)
    assert isinstance(event, EmitEvent)
    assert (event.reason, event.note) == ("CouldNotTell", "section quota: no; the queue stays as it is")
    assert clusterqueue.again_after_seconds(seen) is None
