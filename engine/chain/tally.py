"""What the nodes of one type add up to: the four views and the slicing detail, kept while nodes come and go.

Which flavors feed the type is `matching`; what a view counts on a card is the domain's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.chain.contribution import GroupShare
from engine.chain.fields import FlavorKey
from engine.chain.flavors import Tally, tally
from engine.domain.views import AcceleratorViews, PoolViews

_VERSION = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.[0-9]+)*", re.ASCII)


class TypeTally:
    """The running sums of one type. Flavors are put in and taken out by key, as their nodes stand."""

    __slots__ = ("_flavors", "_logical", "_overcommit", "_physical", "_runtimes", "_views")

    def __init__(self) -> None:
        self._flavors: dict[FlavorKey, Tally[GroupShare]] = {}
        self._views = PoolViews()
        self._logical = 0
        self._overcommit = 0
        self._physical: dict[tuple[str, int], list[int]] = {}
        self._runtimes: Tally[str] = {}

    def keys(self) -> frozenset[FlavorKey]:
        """The flavors that are in."""
        return frozenset(self._flavors)

    def put(self, key: FlavorKey, shares: Mapping[GroupShare, int]) -> bool:
        """The flavor's nodes are these now; none of them takes the flavor out. Returns whether any sum may differ.

        Cost: looks at the distinct shares of the flavor, not at its nodes.
        """
        before = self._flavors.get(key, {})
        if before == shares and (key in self._flavors) == bool(shares):
            return False
        for share in before.keys() | shares.keys():
            by = shares.get(share, 0) - before.get(share, 0)
            if by:
                self._count(share, by)
        if shares:
            self._flavors[key] = dict(shares)
        else:
            self._flavors.pop(key, None)
        return True

    def views(self, *, held_and_drained: bool) -> AcceleratorViews:
        """The four views; zeros for a held and drained queue."""
        return self._views.views(held_and_drained=held_and_drained)

    def sliced_detail(self) -> dict[str, Any]:
        """What the cards could serve if nothing were taken: sums over the groups, profiles by name with the least memory."""
        totals: dict[str, tuple[int, int]] = {}
        for (name, memory), (count, _) in sorted(self._physical.items()):
            known, least = totals.get(name, (0, memory))
            totals[name] = (known + count, min(least, memory))
        profiles = [{"name": name, "count": count, "memoryMib": memory} for name, (count, memory) in totals.items()]
        return {
            "logical": {"count": self._logical, "coresPercentageOvercommit": self._overcommit > 0},
            "physical": {"count": self._views.views().partitioned.capacity, "profiles": profiles},
        }

    def runtime_versions(self) -> tuple[str, ...]:
        """Distinct numeric `major.minor`, ascending; `9` is `9.0`, and what is not numeric is left out."""
        pairs = {pair for text in self._runtimes if (pair := _major_minor(text)) is not None}
        return tuple(f"{major}.{minor}" for major, minor in sorted(pairs))

    def _count(self, share: GroupShare, by: int) -> None:
        if share.summary is not None:
            for _ in range(abs(by)):
                (self._views.add if by > 0 else self._views.remove)(share.summary)
        self._logical += by * share.logical_slices
        self._overcommit += by * share.cores_overcommit
        for name, count, memory in share.partition_ceilings:
            total = self._physical.setdefault((name, memory), [0, 0])
            total[0] += by * count
            total[1] += by
            if not total[1]:
                del self._physical[name, memory]
        if share.runtime_version is not None:
            tally(self._runtimes, share.runtime_version, by)


def _major_minor(text: str) -> tuple[int, int] | None:
    matched = _VERSION.fullmatch(text)
    return (int(matched.group(1)), int(matched.group(2) or 0)) if matched else None
