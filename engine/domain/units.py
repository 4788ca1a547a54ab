"""The integers that must not mix: MiB, per cent, credits, and the two ways a card is numbered.

Nothing is computed here; arithmetic on credits is `credits`.
"""

from __future__ import annotations

from typing import NewType

Mib = NewType("Mib", int)
"""Mebibytes of card memory."""

Percent = NewType("Percent", int)
"""Whole per cent; of one card unless the name says otherwise."""

Credits = NewType("Credits", int)
"""Credit units; one whole card is `credits.UNITS_PER_CARD` of them."""

CardIndex = NewType("CardIndex", int)
"""A card's place on the node, by which it is published and granted."""

DriverIndex = NewType("DriverIndex", int)
"""A card's number in its vendor's library, which may be permuted or sparse."""
