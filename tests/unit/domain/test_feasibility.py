"""What a card can still grant, in each mode it can be held in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.domain import feasibility
from engine.domain.ledger import CardState, Mode, charge, free_state
from engine.domain.units import Credits
from tests.unit.domain.sample_cards import card, partitioned_card


def _ledger(*states: CardState) -> dict[str, CardState]:
    return {state.uuid: state for state in states}


@pytest.mark.parametrize(
    ("mode", "units", "whole", "shares", "slice_units"),
    [
        (None, 0, True, 10, 1_600_000),
        (Mode.EXCLUSIVE, 1_600_000, False, 0, 0),
        (Mode.SHARED, 160_000, False, 9, 0),
        (Mode.SLICED, 320_000, False, 0, 1_280_000),
    ],
)
def test_a_card_grants_only_what_its_mode_allows(
    mode: Mode | None, units: int, whole: bool, shares: int, slice_units: int
) -> None:
    one = card()
    state = charge(free_state(one), mode, Credits(units)) if mode else free_state(one)
    assert feasibility.can_grant_whole(one, state) is whole
    assert feasibility.free_shares(one, state) == shares
    assert feasibility.free_slice_units(one, state) == slice_units
    assert feasibility.free_slice_percent(one, state) == slice_units // 16_000


def test_a_card_whose_slots_are_taken_hosts_no_slice_whatever_memory_is_left() -> None:
    one = card(logical_slices=1)
    state = charge(free_state(one), Mode.SLICED, Credits(16_000))
    assert feasibility.free_slice_units(one, state) == 0
    assert not feasibility.can_grant_slice(one, state, Credits(0))


def test_two_slices_of_sixty_per_cent_do_not_fit_one_card_and_two_of_thirty_do() -> None:
    one = card()
    for percent, fits in ((30, True), (60, False)):
        units = Credits(percent * 16_000)
        state = charge(free_state(one), Mode.SLICED, units)
        assert feasibility.can_grant_slice(one, state, units) is fits


def test_a_partitioned_or_unreadable_card_grants_neither_whole_nor_share_nor_slice() -> None:
    for one in (partitioned_card(), card(readable=False)):
        state = free_state(one)
        assert not feasibility.can_grant_whole(one, state)
        assert feasibility.free_shares(one, state) == 0
        assert feasibility.free_slice_units(one, state) == 0


def test_instances_of_a_profile_come_from_the_row_and_from_the_ceiling_without_one() -> None:
    one = partitioned_card()
    state = free_state(one)
    assert feasibility.free_instances(one, replace(state, remaining_profiles=(("1g.10gb", 3),)), "1g.10gb") == 3
    assert feasibility.free_instances(one, replace(state, remaining_profiles=()), "1g.10gb") == 7
    assert feasibility.free_instances(one, replace(state, remaining_profiles=()), "9g.90gb") == 0
    assert feasibility.free_instances(one, state, "9g.90gb") == 0
    assert feasibility.free_instances(one, replace(state, mode=Mode.SLICED), "1g.10gb") == 0
    assert feasibility.free_instances(card(), free_state(card()), "1g.10gb") == 0


def test_fit_values_follow_a_slice_on_the_only_card() -> None:
    one = card()
    sliced = _ledger(charge(free_state(one), Mode.SLICED, Credits(320_000)))
    assert feasibility.max_free_slice_units([one], _ledger(free_state(one))) == 1_600_000
    assert feasibility.shared_free_cards([one], _ledger(free_state(one))) == 1
    assert feasibility.max_free_slice_units([one], sliced) == 1_280_000
    assert feasibility.shared_free_cards([one], sliced) == 0


def test_fit_values_are_absent_without_a_ledger_or_without_a_card_of_the_population() -> None:
    one = card()
    assert feasibility.max_free_slice_units([one], None) is None
    assert feasibility.shared_free_cards([one], None) is None
    only_partitioned = [partitioned_card()]
    assert feasibility.max_free_slice_units(only_partitioned, {}) is None
    assert feasibility.shared_free_cards(only_partitioned, {}) is None


def test_a_card_without_a_row_is_never_promised() -> None:
    assert feasibility.max_free_slice_units([card()], {}) == 0
    assert feasibility.shared_free_cards([card()], {}) == 0
