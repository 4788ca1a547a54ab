"""Room on the cards of a pool: Pods are placed on what is left, one after the other, and what they take is gone.

Whether one card can grant something is `feasibility`'s, so that the gate, the views and the fit labels agree. Greedy: the
fullest card that fits is taken first. Which Pods are to be placed, and what is said when they cannot be, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from engine.domain import feasibility
from engine.domain.credits import UNITS_PER_CARD, UNITS_PER_SHARE
from engine.domain.demand import Ask, Demand, Family
from engine.domain.holdings import Stock
from engine.domain.inventory import Card, Group, OfferedProfile
from engine.domain.ledger import CardState, Mode
from engine.domain.units import Credits

_LEAST: Final = Credits(1)
"""What a slice of an unknown size is taken to book: a card with one is not whole any more."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The cards of a node that a flavor is for. Shape: no key covers nothing; `batch` None is any number of cards."""

    key: str
    batch: int | None = None

    def covers(self, group: Group) -> bool:
        """The group's cards are the flavor's."""
        return bool(self.key) and group.key == self.key and (self.batch is None or group.count == self.batch)


@dataclass(frozen=True, slots=True)
class Load:
    """So many cards, shares, slices or partitions, promised to somebody on a node, or anywhere in a flavor."""

    flavor: str
    scope: Scope
    node: str | None
    family: Family
    units: Credits
    profile: str
    grants: int


class Spot:
    """A card in the pool, and its row as it is by now; None: it has no row, and grants nothing."""

    __slots__ = ("card", "node", "state")

    def __init__(self, node: str, card: Card, state: CardState | None) -> None:
        self.node = node
        self.card = card
        self.state = state


class Room:
    """The cards of some nodes. `reach` are the nodes of each flavor, in order; `stocks` gives the cards of one.

    Cost: a node is looked at when something could be placed there.
    """

    def __init__(
        self, stocks: Callable[[str], Stock | None], reach: Mapping[str, Collection[str]], scopes: Mapping[str, Scope]
    ) -> None:
        self._stocks = stocks
        self._reach = reach
        self._scopes = scopes
        self._spots: dict[tuple[str, Scope], list[Spot]] = {}
        self._cards: dict[str, dict[str, Spot]] = {}

    def take(self, load: Load) -> None:
        """What is promised is no room any more; what there is no room for takes what there is."""
        left = load.grants
        # On a named node it was promised by whatever flavor: the cards are the same.
        own = [self._at(load.node, load.scope)] if load.node is not None else None
        for spots in own or self._bins(load.flavor, load.scope, None, together=False):
            if left <= 0:
                return
            room = sum(_capacity(spot, load.family, load.units, load.profile) for spot in spots)
            _grant(spots, load.family, load.units, load.profile, min(left, room))
            left -= room

    def place(self, demand: Demand, *, is_last: bool = False) -> tuple[bool, frozenset[str]]:
        """All Pods of a demand find room; and the nodes that were chosen, also when they were not enough.

        Shape: after the last demand nothing is placed, so that it need not leave anything whole.
        """
        chosen: set[str] = set()
        # Who must be on one node goes before who may go anywhere, and many cards before few.
        asks = sorted(demand.asks, key=lambda ask: (ask.node is None, -ask.cards))
        placed = [self._place(demand, ask, chosen, is_last=is_last) for ask in asks]
        return all(placed), frozenset(chosen)

    def spots(self, demand: Demand) -> Iterator[Spot]:
        """Every card that a demand is about."""
        scope = self._scopes[demand.flavor]
        for node in {ask.node for ask in demand.asks}:
            for spots in self._bins(demand.flavor, scope, node, together=False):
                yield from spots

    def _place(self, demand: Demand, ask: Ask, chosen: set[str], *, is_last: bool) -> bool:
        left = ask.pods
        # One grant a Pod can go to any card of any node; what belongs together must be on one.
        anywhere = ask.cards == 1 and demand.family in {Family.SLICED, Family.PARTITIONED} and not is_last
        for spots in self._bins(demand.flavor, self._scopes[demand.flavor], ask.node, together=anywhere):
            if not left:
                break
            if demand.family is Family.SHARED:
                done, nodes = _share(spots, ask, left), {spot.node for spot in spots}
            else:
                room = sum(_capacity(spot, demand.family, demand.units, demand.profile) for spot in spots)
                done = min(left, room // ask.cards)
                nodes = _grant(spots, demand.family, demand.units, demand.profile, done * ask.cards)
            if done:
                left -= done
                chosen |= nodes
        return not left

    def _bins(self, flavor: str, scope: Scope, node: str | None, *, together: bool) -> Iterator[list[Spot]]:
        reach = self._reach.get(flavor, ())
        nodes = reach if node is None else (node,) if node in reach else ()
        lists = (self._at(each, scope) for each in nodes)
        if together:
            yield [spot for spots in lists for spot in spots]
        else:
            yield from lists

    def _at(self, node: str, scope: Scope) -> list[Spot]:
        known = self._spots.get((node, scope))
        if known is None:
            known = self._spots[node, scope] = []
            stock = self._stocks(node)
            if stock is not None:
                # Two flavors may be for one card: its state is one.
                spots = self._cards.setdefault(node, {})
                for card in (card for group in stock.groups if scope.covers(group) for card in group.cards):
                    spot = spots.get(card.uuid)
                    if spot is None:
                        spot = spots[card.uuid] = Spot(node, card, stock.ledger.get(card.uuid))
                    known.append(spot)
        return known


def has_profile(spot: Spot, profile: str) -> bool:
    """The card is partitioned and offers that profile, taken or not."""
    offered = any(each.published == profile for each in spot.card.profiles)
    return spot.card.is_partitioned and (offered or (spot.state is not None and profile in _remaining(spot.state)))


def _capacity(spot: Spot, family: Family, units: Credits, profile: str) -> int:
    card, state = spot.card, spot.state
    if state is None:
        return 0
    match family:
        case Family.EXCLUSIVE:
            return int(feasibility.can_grant_whole(card, state))
        case Family.SHARED:
            return feasibility.free_shares(card, state)
        case Family.SLICED:
            each = max(_LEAST, units)
            if not feasibility.can_grant_slice(card, state, each):
                return 0
            return min(card.logical_slices - state.allocated_slices, state.remaining_units // each)
        case Family.PARTITIONED:
            # Ceilings, which stand in for a row elsewhere, promise nothing here.
            return feasibility.free_instances(card, state, profile) if state.has_profile_rows else 0


def _grant(spots: list[Spot], family: Family, units: Credits, profile: str, wanted: int) -> set[str]:
    """Takes so much, for which there is room, from the fullest cards first. Gives the nodes it is taken on."""
    nodes: set[str] = set()
    if not wanted:
        return nodes
    fitting = [(spot, count) for spot in spots if (count := _capacity(spot, family, units, profile))]
    fitting.sort(key=_fullness)
    left = wanted
    for spot, count in fitting:
        if not left:
            break
        taken = min(left, count)
        assert spot.state is not None
        spot.state = _charged(spot.card, spot.state, family, units, profile, taken)
        left -= taken
        nodes.add(spot.node)
    return nodes


def _fullness(fitting: tuple[Spot, int]) -> tuple[int, int]:
    spot, count = fitting
    assert spot.state is not None
    return spot.state.remaining_units, count


def _charged(card: Card, state: CardState, family: Family, units: Credits, profile: str, count: int) -> CardState:
    match family:
        case Family.EXCLUSIVE:
            return _booked(state, Mode.EXCLUSIVE, UNITS_PER_CARD)
        case Family.SHARED:
            return _booked(state, Mode.SHARED, Credits(count * UNITS_PER_SHARE))
        case Family.SLICED:
            booked = _booked(state, Mode.SLICED, Credits(count * max(_LEAST, units)))
            return replace(booked, allocated_slices=state.allocated_slices + count)
        case Family.PARTITIONED:
            losses = {name: count * loss for name, loss in _losses(card, state, profile).items()}
            remaining = tuple((name, max(0, left - losses.get(name, 0))) for name, left in state.remaining_profiles)
            return replace(state, mode=Mode.PARTITIONED, remaining_profiles=remaining)


def _booked(state: CardState, mode: Mode, units: Credits) -> CardState:
    # Unlike `ledger.charge` it holds no row to account: one read from a cluster may say a mode and that nothing is taken.
    return replace(state, mode=mode, remaining_units=Credits(max(0, state.remaining_units - units)))


def _losses(card: Card, state: CardState, profile: str) -> dict[str, int]:
    """How many starts of each profile one more instance may cost.

    The driver chooses where the instance lies, so the most it can cost is taken. Without known places only its own.
    """
    offered = {each.published: each for each in card.profiles}
    placed = offered.get(profile)
    losses = {name: _most_overlapped(placed, offered[name]) for name in _remaining(state) if name in offered and placed}
    return losses | {profile: max(1, losses.get(profile, 1))}


def _most_overlapped(placed: OfferedProfile, other: OfferedProfile) -> int:
    return max(
        (sum(start < at + placed.span and at < start + other.span for start in other.starts) for at in placed.starts),
        default=0,
    )


def _remaining(state: CardState) -> list[str]:
    return [name for name, _ in state.remaining_profiles]


def _share(spots: list[Spot], ask: Ask, wanted: int) -> int:
    """Pods that each get their shares on these cards: each container on cards of its own, two may use one card."""
    done = 0
    while done < wanted:
        before = [spot.state for spot in spots]
        if not all(_spread(spots, cards) for cards in sorted(ask.containers, reverse=True)):
            for spot, state in zip(spots, before, strict=True):
                spot.state = state
            return done
        done += 1
    return done


def _spread(spots: Iterable[Spot], cards: int) -> bool:
    """One share on each of so many cards. A single share goes where others are; many begin where most is left."""
    fitting = [(spot, count) for spot in spots if (count := _capacity(spot, Family.SHARED, _LEAST, ""))]
    if len(fitting) < cards:
        return False
    fitting.sort(key=lambda each: each[1] if cards == 1 else -each[1])
    for spot, _ in fitting[:cards]:
        assert spot.state is not None
        spot.state = _booked(spot.state, Mode.SHARED, UNITS_PER_SHARE)
    return True
