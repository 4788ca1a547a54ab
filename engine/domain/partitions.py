"""Counting hardware partitions: which starts are still free, and the totals that a node and a pool publish.

Intervals are half-open. `remaining` is counted start by start, not packed, because that is what is published; whether a
set of profiles fits together is `fits_together`. Creating or choosing a placement is not done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from engine.domain.facts import Placement

ProfileCounts = tuple[tuple[str, int], ...]
"""(published profile, count) pairs, sorted by profile."""


class Placeable(Protocol):
    """What placing needs to know of a profile."""

    @property
    def starts(self) -> tuple[int, ...]:
        """Legal first positions."""

    @property
    def span(self) -> int:
        """Positions taken."""


class PublishedProfile(Placeable, Protocol):
    """A profile that can be counted under a name."""

    @property
    def published(self) -> str:
        """The published spelling."""


def free_starts(profile: Placeable, occupied: Iterable[Placement]) -> tuple[int, ...]:
    """Legal starts whose interval overlaps no occupied one."""
    taken = tuple(occupied)
    return tuple(
        start
        for start in profile.starts
        if not any(Placement(start, profile.span).overlaps(interval) for interval in taken)
    )


def remaining(profile: Placeable, occupied: Iterable[Placement]) -> int:
    """How many starts of the profile are free. Source: specification 30 §3.3."""
    return len(free_starts(profile, occupied))


def remaining_by_profile(profiles: Iterable[PublishedProfile], occupied: Sequence[Placement]) -> ProfileCounts:
    """`remaining` of every offered profile, those at 0 included."""
    return sum_profiles([(profile.published, remaining(profile, occupied)) for profile in profiles])


def ceilings(profiles: Iterable[PublishedProfile]) -> ProfileCounts:
    """What an empty card shows for every offered profile; stands in while a card's ledger is not published."""
    return remaining_by_profile(profiles, ())


def most(counts: ProfileCounts) -> int:
    """The largest count: a card contributes its maximum to a view, never the sum over profiles."""
    return max((count for _, count in counts), default=0)


def sum_profiles(*counts: Iterable[tuple[str, int]]) -> ProfileCounts:
    """Counts added by profile, every profile kept even at 0, sorted by profile."""
    total: dict[str, int] = {}
    for pairs in counts:
        for profile, count in pairs:
            total[profile] = total.get(profile, 0) + count
    return tuple(sorted(total.items()))


def node_key_totals(cards: Iterable[tuple[ProfileCounts, ProfileCounts]]) -> Mapping[str, int]:
    """What a node publishes for each profile: allocated instances plus remaining starts, over its cards.

    Shape: each card is its (allocated, remaining) counts; the result is sorted by profile.
    """
    return dict(sum_profiles(*(counts for card in cards for counts in card)))


def pool(cards: Iterable[tuple[ProfileCounts, ProfileCounts]]) -> int:
    """Tokens a node publishes: all allocated instances plus each card's largest remaining count."""
    return sum(sum(count for _, count in allocated) + most(left) for allocated, left in cards)


def fits_together(profiles: Sequence[Placeable], occupied: Sequence[Placement] = ()) -> bool:
    """Some choice of starts holds all the profiles at once on one card.

    Cost: a search that is exponential in the number of profiles, which a card bounds (7 or 8 instances).
    """
    if not profiles:
        return True
    head, *rest = profiles
    return any(fits_together(rest, (*occupied, Placement(start, head.span))) for start in free_starts(head, occupied))
