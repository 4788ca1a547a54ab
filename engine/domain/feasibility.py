"""What one card can still grant, in one place: the views, the fit labels and the admission gate all ask here.

So that they cannot disagree. Choosing among cards that can is preference, and is not done here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.domain.credits import UNITS_PER_PERCENT, UNITS_PER_SHARE
from engine.domain.inventory import Card
from engine.domain.ledger import CardState, Mode
from engine.domain.units import Credits

Ledger = Mapping[str, CardState]
"""Rows by card UUID."""


def can_grant_whole(card: Card, state: CardState) -> bool:
    """The card can be handed out whole."""
    return card.is_whole_capable and state.is_free


def free_shares(card: Card, state: CardState) -> int:
    """Ownership shares the card can still grant."""
    if not card.is_whole_capable or not (state.is_free or state.mode is Mode.SHARED):
        return 0
    return state.remaining_units // UNITS_PER_SHARE


def free_slice_units(card: Card, state: CardState) -> Credits:
    """The largest slice the card can still grant, in units; 0 when its slots are taken or it is held otherwise."""
    in_a_slice_mode = state.is_free or state.mode is Mode.SLICED
    if not card.is_sliceable or not in_a_slice_mode or state.allocated_slices >= card.logical_slices:
        return Credits(0)
    return state.remaining_units


def free_slice_percent(card: Card, state: CardState) -> int:
    """`free_slice_units` in whole per cent of the card, rounded down."""
    return free_slice_units(card, state) // UNITS_PER_PERCENT


def can_grant_slice(card: Card, state: CardState, units: Credits) -> bool:
    """The card can host one more slice of so many units; 0 units ask only for room."""
    return free_slice_units(card, state) >= max(1, units)


def free_instances(card: Card, state: CardState, published: str) -> int:
    """Instances of one profile the card can still host, one at a time; a row without profiles counts ceilings."""
    if not card.is_partitioned or state.mode not in {Mode.FREE, Mode.PARTITIONED}:
        return 0
    if state.has_profile_rows:
        return dict(state.remaining_profiles).get(published, 0)
    return next((profile.ceiling for profile in card.profiles if profile.published == published), 0)


def max_free_slice_units(cards: Iterable[Card], ledger: Ledger | None) -> Credits | None:
    """The largest slice any card of a group can grant; None without a ledger or a sliceable card.

    Shape: a card without a row cannot be promised and counts 0.
    Source: specification 20 §3.4.
    """
    if ledger is None:
        return None
    units = [_slice_units(card, ledger.get(card.uuid)) for card in cards if card.is_sliceable]
    return max(units, default=None)


def shared_free_cards(cards: Iterable[Card], ledger: Ledger | None) -> int | None:
    """How many cards of a group can still grant a share; None without a ledger or a whole-capable card.

    Source: specification 20 §3.4.
    """
    if ledger is None:
        return None
    grants = [_has_share(card, ledger.get(card.uuid)) for card in cards if card.is_whole_capable]
    return sum(grants) if grants else None


def _slice_units(card: Card, state: CardState | None) -> Credits:
    return free_slice_units(card, state) if state else Credits(0)


def _has_share(card: Card, state: CardState | None) -> bool:
    return state is not None and free_shares(card, state) > 0
