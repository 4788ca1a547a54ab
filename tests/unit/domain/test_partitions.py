"""Partition counting: the worked examples of eight cards, and seven compute slices over eight memory slices."""

from __future__ import annotations

import pytest

from engine.domain.facts import Placement
from engine.domain.inventory import Card
from engine.domain.ledger import CardState, charge_partition, free_state
from engine.domain.partitions import fits_together, most, node_key_totals, pool, remaining, remaining_by_profile
from engine.domain.units import Credits
from engine.domain.views import PoolViews, summarise
from tests.unit.domain.sample_cards import PROFILES, card, partitioned_card, profile

KEYS = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")


def _rows(cards: list[Card], *, placed: bool) -> list[CardState]:
    rows = [free_state(one) for one in cards]
    if placed:
        rows[0] = charge_partition(rows[0], cards[0], "3g.40gb", Placement(0, 4), Credits(800_000))
    return rows


@pytest.mark.parametrize(
    ("partitioned", "placed", "tokens", "keys", "left"),
    [
        (8, False, 56, (56, 32, 24, 16, 8, 8), 56),
        (8, True, 53, (52, 30, 22, 16, 7, 7), 52),
        (3, False, 21, (21, 12, 9, 6, 3, 3), 21),
        (3, True, 18, (17, 10, 7, 6, 2, 2), 17),
    ],
)
def test_a_node_publishes_the_worked_example(
    partitioned: int, placed: bool, tokens: int, keys: tuple[int, ...], left: int
) -> None:
    cards = [partitioned_card(index) for index in range(partitioned)]
    whole = [card(index) for index in range(partitioned, 8)]
    rows = _rows(cards, placed=placed)
    counts = [(row.allocated_profiles, row.remaining_profiles) for row in rows]
    assert pool(counts) == tokens
    assert node_key_totals(counts) == dict(zip(KEYS, keys, strict=True))

    ledger = {row.uuid: row for row in (*rows, *(free_state(one) for one in whole))}
    views = PoolViews([summarise([*cards, *whole], ledger)]).views()
    assert (views.partitioned.capacity, views.partitioned.remaining) == (7 * partitioned, left)
    assert views.partitioned.once_max == 1
    assert views.exclusive.capacity == 8 - partitioned


def test_remaining_counts_starts_and_does_not_pack() -> None:
    occupied = (Placement(0, 4),)
    assert remaining_by_profile(PROFILES, occupied) == (
        ("1g.10gb", 3),
        ("1g.20gb", 2),
        ("2g.20gb", 1),
        ("3g.40gb", 1),
        ("4g.40gb", 0),
        ("7g.80gb", 0),
    )
    assert most(remaining_by_profile(PROFILES, occupied)) == 3
    assert most(()) == 0


def test_seven_small_instances_leave_a_memory_slice_that_no_profile_can_take() -> None:
    small = profile("1g.10gb")
    assert fits_together([small] * 7)
    assert not fits_together([small] * 8)
    taken = tuple(Placement(start, 1) for start in range(7))
    assert all(remaining(offered, taken) == 0 for offered in PROFILES)


def test_what_fits_is_decided_by_placements_and_not_by_sums_of_slices() -> None:
    three, four, one = profile("3g.40gb"), profile("4g.40gb"), profile("1g.10gb")
    assert fits_together([four, three])
    assert fits_together([three, four])
    assert not fits_together([four, four])
    assert fits_together([three, three])
    assert not fits_together([three, three, one])


def test_a_partition_on_the_card_is_in_the_way() -> None:
    assert fits_together([profile("3g.40gb")], (Placement(0, 1),))
    assert not fits_together([profile("4g.40gb")], (Placement(0, 1),))
