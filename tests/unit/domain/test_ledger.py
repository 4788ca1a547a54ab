"""The ledger: what a charge leaves, and the modes that exclude each other."""

from __future__ import annotations

import pytest

from engine.domain.facts import Placement
from engine.domain.ledger import Mode, charge, charge_partition, free_state
from engine.domain.units import Credits
from engine.errors import ContractError
from tests.unit.domain.sample_cards import card, partitioned_card


def test_the_modes_have_the_numbers_that_are_written_to_the_cluster() -> None:
    assert [int(mode) for mode in Mode] == [0, 1, 2, 3, 4]


def test_slices_take_units_and_slots_until_the_card_is_used_up() -> None:
    state = charge(free_state(card()), Mode.SLICED, Credits(320_000))
    assert (state.mode, state.remaining_units, state.allocated_slices) == (Mode.SLICED, 1_280_000, 1)
    assert charge(state, Mode.SLICED, Credits(1_600_000)).remaining_units == 0


def test_a_share_takes_no_slice_slot() -> None:
    assert charge(free_state(card()), Mode.SHARED, Credits(160_000)).allocated_slices == 0


def test_a_card_held_in_one_mode_refuses_another() -> None:
    shared = charge(free_state(card()), Mode.SHARED, Credits(160_000))
    with pytest.raises(ContractError, match=r"conflicting allocation mode for resource u0: shared vs. sliced"):
        charge(shared, Mode.SLICED, Credits(16_000))
    with pytest.raises(ContractError, match=r"shared vs. partitioned"):
        charge_partition(shared, card(), "1g.10gb", Placement(0, 1), Credits(1))


@pytest.mark.parametrize("mode", [Mode.FREE, Mode.PARTITIONED])
def test_units_cannot_be_charged_without_a_mode_that_takes_them(mode: Mode) -> None:
    with pytest.raises(ContractError, match="charge_partition"):
        charge(free_state(card()), mode, Credits(1))


def test_a_partition_takes_its_interval_and_recounts_every_profile() -> None:
    one = partitioned_card()
    state = charge_partition(free_state(one), one, "3g.40gb", Placement(4, 4), Credits(800_000))
    assert (state.mode, state.remaining_units) == (Mode.PARTITIONED, 800_000)
    assert state.allocated_profiles == (("3g.40gb", 1),)
    assert dict(state.remaining_profiles)["4g.40gb"] == 1
    with pytest.raises(ContractError, match="overlaps"):
        charge_partition(state, one, "1g.10gb", Placement(6, 1), Credits(1))


def test_only_a_partitioned_card_starts_with_profiles() -> None:
    assert not free_state(card()).has_profile_rows
    assert free_state(partitioned_card()).has_profile_rows
