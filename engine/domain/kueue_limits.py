"""Limits Kueue puts on what a queue may hold."""

from __future__ import annotations

from typing import Final

FLAVORS_PER_GROUP: Final = 64
"""Flavors in one resource group. Source: Kueue v1beta2 ClusterQueue schema; specification 20 §0 D5."""

WARN_AT_PERCENT: Final = 75
"""Share of a limit from which a warning is due; chosen here, early enough to add a second pool before the refusal."""


def is_near_flavor_limit(flavors: int) -> bool:
    """So many flavors deserve a warning."""
    return flavors * 100 >= FLAVORS_PER_GROUP * WARN_AT_PERCENT
