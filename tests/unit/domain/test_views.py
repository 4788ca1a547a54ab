"""The four views and the CPU view, on the nodes of the recorded walkthrough."""

from __future__ import annotations

import pytest

from engine.domain.ledger import Mode, charge, free_state
from engine.domain.units import Credits
from engine.domain.views import (
    AcceleratorViews,
    CardSummary,
    Largest,
    PartitionView,
    PoolViews,
    View,
    cpu_view,
    summarise,
)
from tests.unit.domain.sample_cards import card, partitioned_card


def _free(count: int) -> CardSummary:
    cards = [card(index) for index in range(count)]
    return summarise(cards, {one.uuid: free_state(one) for one in cards})


def _cells(views: AcceleratorViews) -> str:
    columns = (views.exclusive, views.shared, views.sliced, views.partitioned)
    return " ".join(f"{view.once_max}/{view.remaining}" for view in columns)


def test_one_free_card_and_then_a_slice_of_twenty_per_cent() -> None:
    one = card()
    assert _cells(PoolViews([_free(1)]).views()) == "1/1 1/10 100/100 0/0"
    sliced = summarise([one], {one.uuid: charge(free_state(one), Mode.SLICED, Credits(320_000))})
    assert _cells(PoolViews([sliced]).views()) == "0/0 0/0 80/80 0/0"


def test_two_nodes_add_up_and_the_once_max_is_that_of_the_larger_node() -> None:
    views = PoolViews([_free(1), _free(4)]).views()
    assert _cells(views) == "4/5 4/50 100/500 0/0"
    assert (views.exclusive.capacity, views.shared.capacity, views.sliced.capacity) == (5, 50, 500)


def test_a_node_that_leaves_takes_exactly_what_it_brought() -> None:
    pool = PoolViews([_free(4), _free(1), _free(1)])
    pool.remove(_free(4))
    assert pool.views() == PoolViews([_free(1), _free(1)]).views()
    pool.remove(_free(1))
    pool.remove(_free(1))
    assert pool.views() == AcceleratorViews()


def test_a_held_and_drained_queue_reports_zeros() -> None:
    assert _cells(PoolViews([_free(4)]).views(held_and_drained=True)) == "0/0 0/0 0/0 0/0"
    assert cpu_view(72, 48, held_and_drained=True) == View()


def test_partitions_are_listed_by_profile_even_at_zero_and_vanish_with_their_node() -> None:
    one = partitioned_card()
    without_rows = summarise([one], None)
    pool = PoolViews([_free(1)])
    pool.add(without_rows)
    view = pool.views().partitioned
    assert (view.capacity, view.remaining, view.once_max) == (7, 7, 1)
    assert dict(view.remaining_profiles)["7g.80gb"] == 1
    assert view.allocated_profiles == ()
    pool.remove(without_rows)
    assert pool.views().partitioned == PartitionView()


def test_a_whole_card_without_a_row_is_in_no_view() -> None:
    assert summarise([card()], {}) == CardSummary()


def test_a_card_that_cannot_slice_is_in_the_first_two_views_only() -> None:
    one = card(logical_slices=0)
    assert _cells(PoolViews([summarise([one], {one.uuid: free_state(one)})]).views()) == "1/1 1/10 0/0 0/0"


def test_equal_nodes_make_equal_and_hashable_summaries() -> None:
    assert len({_free(2), _free(2), _free(1)}) == 2


def test_the_largest_value_is_found_again_when_its_last_holder_leaves() -> None:
    largest = Largest()
    for value in (4, 4, 1):
        largest.add(value)
    largest.remove(4)
    assert largest.value == 4
    largest.remove(4)
    assert largest.value == 1
    largest.remove(1)
    assert largest.value == 0
    with pytest.raises(KeyError):
        largest.remove(9)


@pytest.mark.parametrize(
    ("reserved", "overcommit", "expected"),
    [
        (0, False, View(72, 72, 48)),
        (30_000, False, View(72, 42, 42)),
        (500, False, View(72, 71, 48)),
        (8_000, True, View(72, 62, 48)),
        (99_000, False, View(72, 0, 0)),
    ],
)
def test_the_cpu_view_takes_reservations_off_and_is_never_negative(
    reserved: int, overcommit: bool, expected: View
) -> None:
    assert cpu_view(72, 48, reserved, overcommit=overcommit) == expected
