"""The four accelerator views and the CPU view of a pool, folded from per-node summaries.

A pool never looks at cards: each node's cards are reduced once to a `CardSummary`, and `PoolViews` adds and takes away
summaries. How a view prints, and which nodes are in a pool, is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.domain import feasibility
from engine.domain.credits import PERCENT_PER_CARD, SHARES_PER_CARD
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Card
from engine.domain.ledger import CardState
from engine.domain.partitions import ProfileCounts, ceilings, most, sum_profiles

MILLICORES_PER_CORE = 1000
OVERCOMMITTED_MILLICORES_PER_CORE = 800
"""What one core a user asks for reserves while CPU overcommit is on. Source: specification 20 §6.4."""


@dataclass(frozen=True, slots=True)
class View:
    """One column of a pool's state."""

    capacity: int = 0
    remaining: int = 0
    once_max: int = 0


@dataclass(frozen=True, slots=True)
class PartitionView(View):
    """The partitioned column, with the instances by published profile."""

    allocated_profiles: ProfileCounts = ()
    remaining_profiles: ProfileCounts = ()


@dataclass(frozen=True, slots=True)
class AcceleratorViews:
    """The four columns; the defaults are what a held and drained queue reports."""

    exclusive: View = View()
    shared: View = View()
    sliced: View = View()
    partitioned: PartitionView = PartitionView()


@dataclass(frozen=True, slots=True)
class CardSummary:
    """What one group of cards on one node adds to its pools: counts only, so that equal nodes are equal values."""

    whole_cards: int = 0
    free_cards: int = 0
    free_shares: int = 0
    share_cards: int = 0
    sliceable_cards: int = 0
    free_percent: int = 0
    max_free_percent: int = 0
    partition_ceiling: int = 0
    free_partitions: int = 0
    allocated_profiles: ProfileCounts = ()
    remaining_profiles: ProfileCounts = ()


def summarise(cards: Iterable[Card], ledger: Ledger | None) -> CardSummary:
    """One node's cards of one group, reduced.

    Shape: whole cards, shares and slices are counted from the ledger's rows, partitions from the cards themselves: a
    partitioned card without a usable row counts its ceilings (specification 20 §6.4, 10 §4.7).
    """
    rows: Ledger = ledger or {}
    all_cards = tuple(cards)
    whole = [(card, rows[card.uuid]) for card in all_cards if card.is_whole_capable and card.uuid in rows]
    shares = [feasibility.free_shares(card, state) for card, state in whole]
    percents = [feasibility.free_slice_percent(card, state) for card, state in whole]
    partitioned = [_profile_counts(card, rows.get(card.uuid)) for card in all_cards if card.is_partitioned]
    return CardSummary(
        whole_cards=len(whole),
        free_cards=sum(feasibility.can_grant_whole(card, state) for card, state in whole),
        free_shares=sum(shares),
        share_cards=sum(count > 0 for count in shares),
        sliceable_cards=sum(card.is_sliceable for card, _ in whole),
        free_percent=sum(percents),
        max_free_percent=max(percents, default=0),
        partition_ceiling=sum(card.partition_ceiling for card in all_cards),
        free_partitions=sum(most(left) for _, left in partitioned),
        allocated_profiles=sum_profiles(*(allocated for allocated, _ in partitioned)),
        remaining_profiles=sum_profiles(*(left for _, left in partitioned)),
    )


class Largest:
    """The largest of a changing collection of counts; one counter a value, so that taking one away is cheap.

    Cost: adding is constant; taking away the last of the largest looks at the distinct values once.
    """

    __slots__ = ("_times", "_value")

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._value = 0

    @property
    def value(self) -> int:
        """The largest, 0 when there is none."""
        return self._value

    def add(self, value: int) -> None:
        """One more occurrence."""
        self._times[value] = self._times.get(value, 0) + 1
        self._value = max(self._value, value)

    def remove(self, value: int) -> None:
        """One occurrence less; a value that was never added is the caller's bug and raises KeyError."""
        self._times[value] -= 1
        if not self._times[value]:
            del self._times[value]
            if value == self._value:
                self._value = max(self._times, default=0)


class PoolViews:
    """The running fold of a pool's summaries: what was added can be taken away again, in any order."""

    __slots__ = ("_allocated", "_free_cards", "_percents", "_remaining", "_share_cards", "_sums")

    def __init__(self, summaries: Iterable[CardSummary] = ()) -> None:
        self._sums = [0] * 7
        self._free_cards = Largest()
        self._share_cards = Largest()
        self._percents = Largest()
        self._allocated: dict[str, list[int]] = {}
        self._remaining: dict[str, list[int]] = {}
        for summary in summaries:
            self.add(summary)

    def add(self, summary: CardSummary) -> None:
        """A node joins the pool, or joins again with new counts."""
        self._free_cards.add(summary.free_cards)
        self._share_cards.add(summary.share_cards)
        self._percents.add(summary.max_free_percent)
        self._apply(summary, 1)

    def remove(self, summary: CardSummary) -> None:
        """A node leaves the pool; the summary is the one it was added with."""
        self._free_cards.remove(summary.free_cards)
        self._share_cards.remove(summary.share_cards)
        self._percents.remove(summary.max_free_percent)
        self._apply(summary, -1)

    def views(self, *, held_and_drained: bool = False) -> AcceleratorViews:
        """The four columns now; a held and drained queue reports zeros."""
        if held_and_drained:
            return AcceleratorViews()
        whole, free, shares, sliceable, percent, ceiling, partitions = self._sums
        return AcceleratorViews(
            exclusive=View(whole, free, self._free_cards.value),
            shared=View(whole * SHARES_PER_CARD, shares, self._share_cards.value),
            sliced=View(sliceable * PERCENT_PER_CARD, percent, self._percents.value),
            partitioned=PartitionView(
                capacity=ceiling,
                remaining=partitions,
                once_max=int(partitions > 0),
                allocated_profiles=_counts(self._allocated),
                remaining_profiles=_counts(self._remaining),
            ),
        )

    def _apply(self, summary: CardSummary, sign: int) -> None:
        changes = (
            summary.whole_cards,
            summary.free_cards,
            summary.free_shares,
            summary.sliceable_cards,
            summary.free_percent,
            summary.partition_ceiling,
            summary.free_partitions,
        )
        for position, change in enumerate(changes):
            self._sums[position] += sign * change
        _apply_profiles(self._allocated, summary.allocated_profiles, sign)
        _apply_profiles(self._remaining, summary.remaining_profiles, sign)


def cpu_view(
    capacity_cores: int,
    largest_node_cores: int,
    reserved_millicores: int = 0,
    *,
    overcommit: bool = False,
    held_and_drained: bool = False,
) -> View:
    """The CPU column of a pool without accelerators, in whole cores.

    Units: what is left rounds down, so that a fraction of a core is never promised (the specification states no
    rounding). With overcommit the reserved total is first scaled back to what was asked for.
    Source: specification 20 §6.4.
    """
    if held_and_drained:
        return View()
    per_core = OVERCOMMITTED_MILLICORES_PER_CORE if overcommit else MILLICORES_PER_CORE
    left = max(0, capacity_cores - -(-reserved_millicores // per_core))
    return View(capacity=capacity_cores, remaining=left, once_max=min(largest_node_cores, left))


def _profile_counts(card: Card, state: CardState | None) -> tuple[ProfileCounts, ProfileCounts]:
    if state is None or not state.has_profile_rows:
        return (), ceilings(card.profiles)
    offered = ((profile.published, 0) for profile in card.profiles)
    return state.allocated_profiles, sum_profiles(offered, state.remaining_profiles)


def _apply_profiles(totals: dict[str, list[int]], counts: ProfileCounts, sign: int) -> None:
    for profile, count in counts:
        total = totals.setdefault(profile, [0, 0])
        total[0] += sign * count
        total[1] += sign
        if not total[1]:
            del totals[profile]


def _counts(totals: dict[str, list[int]]) -> ProfileCounts:
    return tuple(sorted((profile, count) for profile, (count, _) in totals.items()))
