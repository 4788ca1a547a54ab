"""The queue state machine: each row of its tables, one transition at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.domain.queue import MIGRATING, READY, phase, step, switch
from engine.domain.queue_state import (
    EMPTY_PLAN_HOLD,
    MIGRATION_PHASE,
    MIGRATION_STOP_POLICY,
    TAS_QUEUE,
    FlavorQuota,
    FlavorUsage,
    Observed,
    Problem,
    QueuePlan,
    QueueState,
    read_markers,
)

A, B = FlavorQuota("a", "cpu", 4), FlavorQuota("b", "cpu", 8)
PLAN = QueuePlan((A,), has_live_flavors=True)
GONE = QueuePlan()
FILLED = QueueState(stop_policy="None", groups=(A, B), is_topology_aware=True, has_empty_plan_hold=False, generation=7)
DRAINING = replace(FILLED, stop_policy="HoldAndDrain", migration_phase="draining", saved_stop_policy="None")
SWITCHED = replace(DRAINING, groups=(A,), migration_phase="switched")
IDLE = Observed("True", "Ready", "ok", 7, usage=(FlavorUsage("a"), FlavorUsage("b")))
STOPPED = Observed("False", "Stopped", "stopped", 7)


def test_a_queue_being_deleted_is_drained_unconditionally() -> None:
    assert step(replace(FILLED, is_deleting=True), PLAN, IDLE).state.stop_policy == "HoldAndDrain"


def test_a_queue_without_a_selector_is_left_alone() -> None:
    state = replace(FILLED, has_selector=False)
    taken = step(state, GONE, IDLE)
    assert (taken.state, taken.condition) == (state, None)


def test_a_fresh_queue_is_filled_and_keeps_its_hold_without_the_marker() -> None:
    taken = step(QueueState(), replace(PLAN, checks=("check",)), IDLE)
    assert taken.condition == READY
    assert taken.state == QueueState(
        stop_policy="Hold", groups=(A,), checks=("check",), is_topology_aware=True, has_empty_plan_hold=False
    )


def test_added_flavors_and_new_quotas_are_written_in_place() -> None:
    bigger = replace(B, nominal=16)
    taken = step(FILLED, QueuePlan((A, bigger, FlavorQuota("c", "cpu", 1)), has_live_flavors=True), Observed())
    assert (taken.state.stop_policy, len(taken.state.groups), taken.condition) == ("None", 3, READY)


def test_a_dropped_flavor_waits_until_kueue_has_seen_the_queue() -> None:
    taken = step(FILLED, PLAN, replace(IDLE, observed_generation=6))
    assert taken.state == FILLED
    assert taken.requeue_seconds == 5
    assert taken.condition is not None
    assert (taken.condition.status, taken.condition.reason) == ("Unknown", "AwaitingQueueStatus")
    assert taken.condition.message == (
        "waiting for Kueue to report flavor usage at generation 7 before dropping flavors [b]"
    )


def test_an_idle_dropped_flavor_goes_in_place() -> None:
    taken = step(FILLED, PLAN, IDLE)
    assert (taken.state.groups, taken.state.stop_policy, taken.condition) == ((A,), "None", READY)


@pytest.mark.parametrize(
    "usage",
    [
        (FlavorUsage("a"), FlavorUsage("b", used=1)),
        (FlavorUsage("a"), FlavorUsage("b", reserved=1)),
        (FlavorUsage("a"),),
    ],
)
def test_a_dropped_flavor_in_use_or_not_reported_starts_a_migration(usage: tuple[FlavorUsage, ...]) -> None:
    taken = step(FILLED, PLAN, replace(IDLE, usage=usage))
    assert taken.state == DRAINING
    assert (taken.condition, taken.requeue_seconds) == (MIGRATING, 5)


def test_live_flavors_without_capacity_never_leave_an_open_queue_without_groups() -> None:
    taken = step(FILLED, QueuePlan(has_live_flavors=True), IDLE)
    assert (taken.state.groups, taken.state.stop_policy, taken.state.has_empty_plan_hold) == ((), "Hold", True)


def test_an_old_emptied_queue_is_opened_when_it_is_filled() -> None:
    emptied = replace(FILLED, groups=(), stop_policy="HoldAndDrain")
    assert step(emptied, PLAN, IDLE).state.stop_policy == "None"
    assert step(emptied, QueuePlan(has_live_flavors=True), IDLE).state.stop_policy == "HoldAndDrain"


@pytest.mark.parametrize(
    ("reason", "state", "seconds"),
    [
        ("MissingTopology", FILLED, 30),
        ("NonConservedQuota", FILLED, 30),
        ("TooManyFlavors", FILLED, None),
        ("TooManyFlavors", DRAINING, 30),
    ],
)
def test_a_refused_plan_leaves_the_last_one_in_force(reason: Any, state: QueueState, seconds: int | None) -> None:
    taken = step(state, replace(PLAN, problem=Problem(reason, "why")), IDLE)
    assert (taken.state, taken.requeue_seconds) == (state, seconds)
    assert taken.condition is not None
    assert (taken.condition.status, taken.condition.reason, taken.condition.message) == ("False", reason, "why")


def test_a_refused_plan_closes_a_queue_that_was_open_without_groups() -> None:
    taken = step(replace(FILLED, groups=()), replace(PLAN, problem=Problem("TooManyFlavors", "why")), IDLE)
    assert (taken.state.stop_policy, taken.state.has_empty_plan_hold) == ("Hold", True)


@pytest.mark.parametrize("policy", [None, "None"])
def test_an_open_queue_without_groups_and_flavors_is_held(policy: Any) -> None:
    taken = step(replace(FILLED, groups=(), stop_policy=policy), GONE, IDLE)
    assert (taken.state.stop_policy, taken.state.has_empty_plan_hold) == ("Hold", True)


def test_an_admin_hold_of_an_empty_queue_is_left_alone() -> None:
    held = replace(FILLED, groups=(), stop_policy="Hold")
    assert step(held, GONE, IDLE).state == held


def test_the_last_flavor_leaving_starts_a_migration_to_nothing() -> None:
    taken = step(FILLED, GONE, IDLE)
    assert (taken.state, taken.condition) == (DRAINING, MIGRATING)


def test_with_draining_switched_off_a_reserved_queue_waits_for_its_workloads() -> None:
    reserved = replace(IDLE, admitted_workloads=1)
    taken = step(FILLED, GONE, reserved, drains_when_no_flavors=False)
    assert (taken.state, taken.requeue_seconds) == (FILLED, 60)
    assert step(FILLED, GONE, IDLE, drains_when_no_flavors=False).state == DRAINING


@pytest.mark.parametrize(("policy", "saved"), [(None, "unset"), ("None", "None"), ("Hold", "Hold")])
def test_a_migration_saves_the_policy_it_found(policy: Any, saved: str) -> None:
    assert step(replace(FILLED, stop_policy=policy), GONE, IDLE).state.saved_stop_policy == saved


@pytest.mark.parametrize("changes", [{"stop_policy": "None"}, {"checks": ("check",)}])
def test_a_migration_restates_what_was_changed_under_it(changes: dict[str, Any]) -> None:
    taken = step(replace(DRAINING, **changes), PLAN, STOPPED)
    assert (taken.state, taken.condition, taken.requeue_seconds) == (DRAINING, MIGRATING, 5)


@pytest.mark.parametrize(
    "observed",
    [
        IDLE,
        replace(STOPPED, observed_generation=6),
        replace(STOPPED, reason="FlavorNotFound"),
        replace(STOPPED, reserving_workloads=1),
        replace(STOPPED, usage=(FlavorUsage("b", reserved=1),)),
        Observed(),
    ],
)
def test_a_migration_waits_until_kueue_confirms_that_nothing_is_left(observed: Observed) -> None:
    taken = step(DRAINING, PLAN, observed)
    assert (taken.state, taken.condition, taken.requeue_seconds) == (DRAINING, MIGRATING, 5)


def test_a_drained_queue_takes_the_whole_plan_and_then_its_saved_policy() -> None:
    taken = step(DRAINING, PLAN, STOPPED)
    assert (taken.state, taken.condition) == (SWITCHED, MIGRATING)
    restored = step(SWITCHED, PLAN, STOPPED)
    assert restored.state == replace(FILLED, groups=(A,))
    assert (restored.condition, restored.requeue_seconds) == (READY, None)


@pytest.mark.parametrize(("saved", "policy"), [("unset", None), ("None", "None"), ("Hold", "Hold")])
def test_the_saved_policy_is_restored_as_it_was(saved: str, policy: str | None) -> None:
    assert step(replace(SWITCHED, saved_stop_policy=saved), PLAN, STOPPED).state.stop_policy == policy


def test_a_queue_switched_to_nothing_stays_drained_and_takes_a_returning_flavor() -> None:
    empty = replace(SWITCHED, groups=())
    taken = step(empty, GONE, STOPPED)
    assert (taken.state, taken.condition, taken.requeue_seconds) == (empty, READY, None)
    assert step(empty, PLAN, STOPPED).state == SWITCHED


@pytest.mark.parametrize("plan", [PLAN, GONE])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"migration_phase": "odd"}, 'ClusterQueue has unsupported topology migration phase "odd"'),
        ({"saved_stop_policy": "odd"}, 'ClusterQueue has unsupported saved stop policy "odd"'),
        ({"saved_stop_policy": None}, 'ClusterQueue has unsupported saved stop policy ""'),
    ],
)
def test_a_migration_nobody_here_started_is_refused(plan: QueuePlan, changes: dict[str, Any], message: str) -> None:
    state = replace(DRAINING, **changes)
    taken = step(state, plan, STOPPED)
    assert (taken.state, taken.requeue_seconds) == (state, 30)
    assert taken.condition is not None
    assert (taken.condition.reason, taken.condition.message) == ("InvalidMigrationState", message)


EMPTY_HOLD = QueueState()
ADMIN_HOLD = replace(FILLED, stop_policy="Hold")
ADMIN_DRAIN = replace(FILLED, stop_policy="HoldAndDrain")


@pytest.mark.parametrize(
    ("state", "inactive", "after", "sets_inactive"),
    [
        (FILLED, False, FILLED, False),
        (FILLED, True, ADMIN_HOLD, False),
        (ADMIN_HOLD, False, FILLED, False),
        (ADMIN_HOLD, True, ADMIN_HOLD, False),
        (replace(ADMIN_HOLD, groups=()), False, replace(ADMIN_HOLD, groups=(), has_empty_plan_hold=True), False),
        (EMPTY_HOLD, False, EMPTY_HOLD, False),
        (EMPTY_HOLD, True, EMPTY_HOLD, False),
        (ADMIN_DRAIN, False, ADMIN_DRAIN, True),
        (ADMIN_DRAIN, True, ADMIN_DRAIN, False),
        (DRAINING, False, DRAINING, False),
        (DRAINING, True, replace(DRAINING, saved_stop_policy="Hold"), False),
        (replace(ADMIN_DRAIN, is_deleting=True), False, replace(ADMIN_DRAIN, is_deleting=True), False),
    ],
)
def test_the_admin_switch_moves_the_stop_policy(
    state: QueueState, inactive: bool, after: QueueState, sets_inactive: bool
) -> None:
    taken = switch(state, inactive=inactive)
    assert (taken.state, taken.sets_inactive) == (after, sets_inactive)


@pytest.mark.parametrize(
    ("state", "observed", "expected"),
    [
        (
            DRAINING,
            replace(STOPPED, reserving_workloads=1),
            ("Draining", "cluster queue is draining admitted workloads"),
        ),
        (DRAINING, STOPPED, ("Inactive", "cluster queue is held and drained")),
        (ADMIN_HOLD, STOPPED, ("Inactive", "cluster queue is held")),
        (FILLED, Observed("Unknown", message="soon"), ("Activating", "soon")),
        (FILLED, Observed(), ("Activating", "")),
        (FILLED, Observed("False", message="no flavor"), ("Inactive", "no flavor")),
        (FILLED, IDLE, ("Active", "ok")),
        (replace(FILLED, stop_policy=None), IDLE, ("Active", "ok")),
    ],
)
def test_the_phase_follows_the_stop_policy_before_kueue(
    state: QueueState, observed: Observed, expected: tuple[str, str]
) -> None:
    assert phase(state, observed) == expected
    assert phase(state, observed, type_is_deleting=True) == ("Inactive", "instance type is terminating")


def test_the_machines_memory_survives_in_annotations() -> None:
    assert DRAINING.markers() == {MIGRATION_PHASE: "draining", MIGRATION_STOP_POLICY: "None", TAS_QUEUE: "true"}
    assert QueueState().markers() == {EMPTY_PLAN_HOLD: "true"}
    for state in (DRAINING, QueueState(), FILLED):
        assert replace(state, **read_markers(state.markers())) == state
