"""Cards that the domain's tests share."""

from __future__ import annotations

from typing import Any

from engine.domain.inventory import Card, OfferedProfile
from engine.domain.units import CardIndex, DriverIndex, Mib

GEOMETRY = (
    ("1g.10gb", (0, 1, 2, 3, 4, 5, 6), 1),
    ("1g.20gb", (0, 2, 4, 6), 2),
    ("2g.20gb", (0, 2, 4), 2),
    ("3g.40gb", (0, 4), 4),
    ("4g.40gb", (0,), 4),
    ("7g.80gb", (0,), 8),
)
"""An eight-memory-slice card, with which seven compute slices do not fill it. Source: specification 30 §3.2."""

PROFILES = tuple(
    OfferedProfile(name, name, Mib(int(name.split(".")[1][:-2]) << 10), int(name[0]), span, starts, span)
    for name, starts, span in GEOMETRY
)


def profile(name: str) -> OfferedProfile:
    """The profile of that name."""
    return next(offered for offered in PROFILES if offered.published == name)


def card(index: int = 0, **facts: Any) -> Card:
    """A sliceable card, changed by `facts`."""
    values: dict[str, Any] = {"product": "Acme X1", "memory_mib": Mib(24_563), "logical_slices": 128} | facts
    return Card(CardIndex(index), DriverIndex(index), f"u{index}", **values)


def partitioned_card(index: int = 0) -> Card:
    """A card in a partitioning mode."""
    return card(index, partitioned=True, logical_slices=0, profiles=PROFILES, memory_mib=Mib(81_920))
