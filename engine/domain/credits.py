"""Credit arithmetic: what a request books on one card, and what a granted slice may use of it.

Every result is an exact integer or a floor stated by the specification. Who may ask for what, and the texts of the
refusals, are decided elsewhere.
"""

from __future__ import annotations

from typing import Final

from engine.domain.units import Credits, Mib, Percent
from engine.errors import ContractError

UNITS_PER_CARD: Final = Credits(1_600_000)
"""One whole card: 2^9 · 5^5, so that a per cent, a tenth and every power of two up to 512 are integers.

Source: specification 10 §2.1."""

SHARES_PER_CARD: Final = 10
"""Owners one card can have in shared mode. Source: specification 10 §2.1."""

PERCENT_PER_CARD: Final = 100

UNITS_PER_SHARE: Final = Credits(UNITS_PER_CARD // SHARES_PER_CARD)
UNITS_PER_PERCENT: Final = Credits(UNITS_PER_CARD // PERCENT_PER_CARD)


def fold_cards(cards: int) -> Credits:
    """Credits that whole cards book together.

    Raises: ContractError: no card is asked for.
    """
    return Credits(_positive(cards, "cards") * UNITS_PER_CARD)


def fold_shares(shares: int) -> Credits:
    """Credits that shares book together, one share a card.

    Raises: ContractError: no share is asked for.
    """
    return Credits(_positive(shares, "shares") * UNITS_PER_SHARE)


def fold_percent(memory_percent: Percent) -> Credits:
    """Credits a slice of so many per cent of a card's memory books; exact.

    Raises: ContractError: not within (0, 100].
    """
    if not 0 < memory_percent <= PERCENT_PER_CARD:
        raise ContractError(f"a slice of {memory_percent} %", why="a slice is within (0, 100] % of one card")
    return Credits(memory_percent * UNITS_PER_PERCENT)


def fold_memory(request_mib: Mib, card_mib: Mib) -> Credits:
    """Credits a memory request, of a slice or of a partition profile, books on one card.

    Units: rounds down; a request that folds to 0 is refused by the caller.
    Raises: ContractError: request_mib > card_mib, or either is not positive.
    Source: specification 10 §2.5.
    """
    _positive(request_mib, "MiB requested")
    _positive(card_mib, "MiB on the card")
    if request_mib > card_mib:
        raise ContractError(f"{request_mib} MiB asked of a card with {card_mib} MiB")
    return Credits(request_mib * UNITS_PER_CARD // card_mib)


def charge(tokens: int, units_each: Credits) -> Credits:
    """What so many tokens book on one card, never more than the card.

    Source: specification 10 §2.5.
    """
    return Credits(min(tokens * units_each, UNITS_PER_CARD))


def granted_compute(asked: Percent | None) -> Percent:
    """The compute a slice may use: all of the card unless a positive limit was given.

    Source: specification 10 §2.6.
    """
    return Percent(PERCENT_PER_CARD) if asked is None or asked <= 0 else asked


def granted_memory(card_mib: Mib, memory_percent: Percent | None, memory_mib: Mib | None) -> Mib | None:
    """The memory a slice may use, from the card's exact size; None when neither way of asking was used.

    Units: a per cent rounds down, and wins over MiB; the card's own size is the most either way.
    Source: specification 10 §2.6 (20 % of a card of 24563 MiB is 4912).
    """
    if memory_percent is not None and memory_percent > 0:
        return Mib(min(card_mib * memory_percent // PERCENT_PER_CARD, card_mib))
    if memory_mib is not None and memory_mib > 0:
        return Mib(min(memory_mib, card_mib))
    return None


def _positive(number: int, what: str) -> int:
    if number <= 0:
        raise ContractError(f"{number} {what}", why="it must be positive")
    return number
