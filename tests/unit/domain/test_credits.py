"""Credit arithmetic: what requests book, exactly."""

from __future__ import annotations

import pytest

from engine.domain import credits as booking
from engine.domain.units import Credits, Mib, Percent
from engine.errors import ContractError


def test_a_card_divides_exactly_into_what_can_be_asked_for() -> None:
    assert booking.UNITS_PER_CARD == 2**9 * 5**5
    assert booking.UNITS_PER_SHARE == 160_000
    assert booking.UNITS_PER_PERCENT == 16_000


def test_requests_fold_to_the_published_units() -> None:
    assert booking.fold_cards(4) == 6_400_000
    assert booking.fold_shares(1) == 160_000
    assert booking.fold_percent(Percent(50)) == 800_000
    assert booking.fold_percent(Percent(20)) == 320_000
    assert booking.fold_memory(Mib(48 << 10), Mib(96 << 10)) == 800_000


def test_a_partition_and_a_slice_of_equal_memory_cost_equal_credits() -> None:
    assert booking.fold_memory(Mib(24_576), Mib(98_304)) == booking.fold_percent(Percent(25))


def test_a_memory_request_rounds_down_and_may_fold_to_nothing() -> None:
    assert booking.fold_memory(Mib(1), Mib(3)) == 533_333
    assert booking.fold_memory(Mib(1), Mib(1_600_001)) == 0


@pytest.mark.parametrize(("request_mib", "card_mib"), [(2, 1), (0, 1), (-1, 1), (1, 0)])
def test_a_memory_request_beyond_the_card_breaks_the_contract(request_mib: int, card_mib: int) -> None:
    with pytest.raises(ContractError):
        booking.fold_memory(Mib(request_mib), Mib(card_mib))


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_a_slice_is_within_one_card(percent: int) -> None:
    with pytest.raises(ContractError, match=r"\(0, 100\]"):
        booking.fold_percent(Percent(percent))


def test_no_card_and_no_share_break_the_contract() -> None:
    with pytest.raises(ContractError, match="0 cards"):
        booking.fold_cards(0)
    with pytest.raises(ContractError, match="0 shares"):
        booking.fold_shares(0)


def test_a_charge_is_never_more_than_the_card() -> None:
    assert booking.charge(2, Credits(320_000)) == 640_000
    assert booking.charge(10, Credits(320_000)) == 1_600_000


def test_granted_memory_is_a_share_of_the_exact_card_and_never_more_than_it() -> None:
    card = Mib(24_563)
    assert booking.granted_memory(card, Percent(20), None) == 4912
    assert booking.granted_memory(card, Percent(100), Mib(1)) == card
    assert booking.granted_memory(card, None, Mib(30_000)) == card
    assert booking.granted_memory(card, Percent(0), Mib(1_000)) == 1_000
    assert booking.granted_memory(card, None, None) is None


@pytest.mark.parametrize(("asked", "granted"), [(None, 100), (0, 100), (-5, 100), (30, 30)])
def test_granted_compute_is_the_whole_card_unless_limited(asked: int | None, granted: int) -> None:
    assert booking.granted_compute(None if asked is None else Percent(asked)) == granted
