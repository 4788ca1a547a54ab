"""What is allocated on each card: its mode, the units left, and what it holds.

States are values; `charge` makes the next one. Where allocations are recorded, and who may allocate, is not decided
here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from engine.domain.credits import UNITS_PER_CARD
from engine.domain.facts import Placement
from engine.domain.inventory import Card
from engine.domain.partitions import ProfileCounts, remaining_by_profile, sum_profiles
from engine.domain.units import CardIndex, Credits
from engine.errors import ContractError


class Mode(IntEnum):
    """How a card is held; the numbers are written to the cluster. Source: specification 10 §5.10."""

    FREE = 0
    EXCLUSIVE = 1
    SHARED = 2
    SLICED = 3
    PARTITIONED = 4


@dataclass(frozen=True, slots=True)
class CardState:
    """One card's row of the ledger.

    Shape: profile counts in published spelling, sorted; `occupied` are the live partitions' intervals, empty where only
    counts are known (a row read back from the cluster).
    """

    uuid: str
    index: CardIndex
    mode: Mode = Mode.FREE
    remaining_units: Credits = UNITS_PER_CARD
    allocated_slices: int = 0
    allocated_profiles: ProfileCounts = ()
    remaining_profiles: ProfileCounts = ()
    occupied: tuple[Placement, ...] = ()

    @property
    def is_free(self) -> bool:
        """Nothing is booked."""
        return self.remaining_units >= UNITS_PER_CARD

    @property
    def has_profile_rows(self) -> bool:
        """The row speaks about partitions; one that does not is not usable for a partitioned card."""
        return bool(self.allocated_profiles or self.remaining_profiles)


def free_state(card: Card) -> CardState:
    """The row of a card on which nothing is allocated."""
    return CardState(
        uuid=card.uuid,
        index=card.index,
        remaining_profiles=remaining_by_profile(card.profiles, ()) if card.is_partitioned else (),
    )


def charge(state: CardState, mode: Mode, units: Credits) -> CardState:
    """The row after one more whole card, share or slice.

    Units: never below 0 units left.
    Raises: ContractError: the card is held in another mode, or a partition was asked for here.
    """
    _check_mode(state, mode)
    if mode in {Mode.FREE, Mode.PARTITIONED}:
        raise ContractError(f"cannot charge {mode.name.lower()} units", where=state.uuid, remedy="use charge_partition")
    return replace(
        state,
        mode=mode,
        remaining_units=Credits(max(0, state.remaining_units - units)),
        allocated_slices=state.allocated_slices + (mode is Mode.SLICED),
    )


def charge_partition(state: CardState, card: Card, published: str, placement: Placement, units: Credits) -> CardState:
    """The row after one more hardware partition.

    Raises: ContractError: the card is held in another mode, or the placement overlaps a live one.
    """
    _check_mode(state, Mode.PARTITIONED)
    if any(placement.overlaps(interval) for interval in state.occupied):
        raise ContractError(f"{placement} overlaps a live partition", where=state.uuid)
    occupied = tuple(sorted((*state.occupied, placement)))
    return replace(
        state,
        mode=Mode.PARTITIONED,
        remaining_units=Credits(max(0, state.remaining_units - units)),
        allocated_profiles=sum_profiles(state.allocated_profiles, ((published, 1),)),
        remaining_profiles=remaining_by_profile(card.profiles, occupied),
        occupied=occupied,
    )


def _check_mode(state: CardState, mode: Mode) -> None:
    if state.mode not in {Mode.FREE, mode}:
        raise ContractError(
            f"conflicting allocation mode for resource {state.uuid}: {state.mode.name.lower()} vs. {mode.name.lower()}"
        )
