"""What is held of a group's cards, in the units in which it is asked for, and what has been taken since an earlier look.

Counts only: whose it is, the ledger does not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from engine.domain.credits import SHARES_PER_CARD, UNITS_PER_SHARE
from engine.domain.demand import Family
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Group
from engine.domain.ledger import CardState, Mode


class Stock(Protocol):
    """The cards of a node, and what is taken of them."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """Groups by key."""

    @property
    def ledger(self) -> Ledger:
        """Rows by card."""


class Holding(NamedTuple):
    """A kind of thing that can be held. Shape: `profile` is empty but for partitions."""

    key: str
    family: Family
    profile: str = ""


def held(stock: Stock) -> Counter[Holding]:
    """Cards, shares, slices and partitions that are held."""
    total: Counter[Holding] = Counter()
    for _, each in _rows(stock):
        total += each
    return total


def taken_since(before: Stock, after: Stock) -> Counter[Holding]:
    """What was taken between two looks, card by card: what was given back elsewhere does not hide it."""
    known = dict(_rows(before))
    total: Counter[Holding] = Counter()
    for uuid, now in _rows(after):
        total += now - known.get(uuid, Counter())
    return total


def _rows(stock: Stock) -> Iterator[tuple[str, Counter[Holding]]]:
    for group in stock.groups:
        for card in group.cards:
            state = stock.ledger.get(card.uuid)
            if state is not None and state.mode is not Mode.FREE:
                yield card.uuid, Counter(dict(_of(group.key, state)))


def _of(key: str, state: CardState) -> Iterable[tuple[Holding, int]]:
    match state.mode:
        case Mode.EXCLUSIVE:
            yield Holding(key, Family.EXCLUSIVE), 1
        case Mode.SHARED:
            yield Holding(key, Family.SHARED), SHARES_PER_CARD - state.remaining_units // UNITS_PER_SHARE
        case Mode.SLICED:
            # A device manager that does not count slices still shows that there is one.
            yield Holding(key, Family.SLICED), max(1, state.allocated_slices)
        case Mode.PARTITIONED:
            for profile, count in state.allocated_profiles:
                yield Holding(key, Family.PARTITIONED, profile), count
        case Mode.FREE:
            return
