"""What is held of cards, and what was taken between two looks at them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.domain.demand import Family
from engine.domain.feasibility import Ledger
from engine.domain.holdings import Holding, held, taken_since
from engine.domain.inventory import Group, build_group
from engine.domain.ledger import CardState, Mode, charge, free_state
from engine.domain.units import Credits
from tests.unit.domain.sample_cards import card, partitioned_card

KEY = "acme-x1"
CARDS = (card(), card(1), partitioned_card(2))
FREE = {each.uuid: free_state(each) for each in CARDS}


@dataclass
class Shelf:
    groups: tuple[Group, ...] = (build_group("acme", "x1", CARDS),)
    ledger: Ledger = field(default_factory=lambda: dict(FREE))


def with_rows(*rows: CardState) -> Shelf:
    return Shelf(ledger=FREE | {each.uuid: each for each in rows})


def test_nothing_is_held_of_free_cards_and_of_cards_without_a_row() -> None:
    assert not held(Shelf())
    assert not held(Shelf(ledger={}))


def test_each_mode_is_counted_in_what_is_asked_for() -> None:
    partition = replace(FREE["u2"], mode=Mode.PARTITIONED, allocated_profiles=(("1g.10gb", 2), ("3g.40gb", 1)))
    shelf = with_rows(charge(FREE["u0"], Mode.EXCLUSIVE, Credits(1_600_000)), partition)
    assert held(shelf) == {
        Holding(KEY, Family.EXCLUSIVE): 1,
        Holding(KEY, Family.PARTITIONED, "1g.10gb"): 2,
        Holding(KEY, Family.PARTITIONED, "3g.40gb"): 1,
    }
    shared = charge(FREE["u0"], Mode.SHARED, Credits(480_000))
    sliced = replace(charge(FREE["u1"], Mode.SLICED, Credits(320_000)), allocated_slices=0)
    assert held(with_rows(shared, sliced)) == {Holding(KEY, Family.SHARED): 3, Holding(KEY, Family.SLICED): 1}


def test_what_was_given_back_on_one_card_does_not_hide_what_was_taken_on_another() -> None:
    first = with_rows(charge(FREE["u0"], Mode.EXCLUSIVE, Credits(1_600_000)))
    second = with_rows(charge(FREE["u1"], Mode.EXCLUSIVE, Credits(1_600_000)))
    assert held(first) == held(second)
    assert taken_since(first, second) == {Holding(KEY, Family.EXCLUSIVE): 1}
    assert not taken_since(second, with_rows())
    assert not taken_since(second, second)
