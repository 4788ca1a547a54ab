"""A queue walked to rest: fresh, filled, emptied, refilled, and what an admin does in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.domain import kueue_model
from engine.domain.kueue_model import observe, settle
from engine.domain.queue import phase
from engine.domain.queue_state import FlavorQuota, QueuePlan, QueueState
from engine.errors import ContractError

PLAN = QueuePlan((FlavorQuota("a", "cpu", 4), FlavorQuota("b", "cpu", 8)), ("check",), has_live_flavors=True)
SMALLER = QueuePlan(PLAN.quotas[:1], ("check",), has_live_flavors=True)
GONE = QueuePlan(checks=("check",))


def test_a_fresh_queue_without_flavors_stays_held_under_its_marker() -> None:
    settled = settle(QueueState(), GONE)
    assert settled.state == QueueState()
    assert phase(settled.state, settled.observed) == ("Inactive", "cluster queue is held")


def test_a_queue_goes_from_fresh_to_filled_to_emptied_to_refilled_without_an_admin() -> None:
    filled = settle(QueueState(), PLAN)
    assert (filled.state.stop_policy, filled.state.groups) == ("None", PLAN.quotas)
    assert phase(filled.state, filled.observed)[0] == "Active"

    emptied = settle(filled.state, GONE)
    assert (emptied.state.stop_policy, emptied.state.groups, emptied.state.migration_phase) == (
        "HoldAndDrain",
        (),
        "switched",
    )
    assert not emptied.inactive
    assert phase(emptied.state, emptied.observed) == ("Inactive", "cluster queue is held and drained")

    refilled = settle(emptied.state, PLAN)
    assert (refilled.state.stop_policy, refilled.state.groups) == ("None", PLAN.quotas)
    assert refilled.state.markers() == filled.state.markers()
    assert refilled.condition is not None
    assert refilled.condition.status == "True"


def test_an_inactive_type_keeps_its_queue_held_through_emptying_and_refilling() -> None:
    filled = settle(QueueState(), PLAN, inactive=True)
    assert filled.state.stop_policy == "Hold"
    refilled = settle(settle(filled.state, GONE, inactive=True).state, PLAN, inactive=True)
    assert (refilled.state.stop_policy, refilled.inactive) == ("Hold", True)
    assert settle(refilled.state, PLAN).state.stop_policy == "None"


def test_a_flavor_in_use_is_drained_before_it_goes_and_an_idle_one_is_not() -> None:
    filled = settle(QueueState(), PLAN).state
    in_place = settle(filled, SMALLER)
    migrated = settle(filled, SMALLER, usage={"b": 8})
    assert in_place.state.groups == migrated.state.groups == SMALLER.quotas
    assert in_place.state.stop_policy == migrated.state.stop_policy == "None"
    assert migrated.state.generation > in_place.state.generation


def test_with_draining_switched_off_a_used_queue_rests_until_its_workloads_end() -> None:
    filled = settle(QueueState(), PLAN).state
    assert settle(filled, GONE, usage={"a": 4}, drains_when_no_flavors=False).state == filled


def test_a_queue_an_admin_drains_makes_its_type_inactive() -> None:
    filled = settle(QueueState(), PLAN).state
    drained = settle(replace(filled, stop_policy="HoldAndDrain"), PLAN)
    assert drained.inactive
    assert drained.state.stop_policy == "HoldAndDrain"


def test_settling_a_queue_at_rest_changes_nothing() -> None:
    settled = settle(QueueState(), PLAN)
    assert settle(settled.state, PLAN) == settled


def test_kueue_is_active_unless_the_queue_is_stopped() -> None:
    assert observe(QueueState(stop_policy=None)).active == "True"
    assert observe(QueueState(stop_policy="Hold")).reason == "Stopped"


def test_a_walk_that_does_not_end_is_a_fault_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kueue_model, "MAX_STEPS", 1)
    with pytest.raises(ContractError, match="did not come to rest"):
        settle(QueueState(), PLAN)
