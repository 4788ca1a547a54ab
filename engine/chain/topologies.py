"""The Kueue topologies: one for each profile that some node has.

How levels become a profile is the `topology` section's; a profile goes with its last node.
"""

from __future__ import annotations

from engine.chain.changes import Condition
from engine.chain.contribution import Profile
from engine.chain.fields import TopologyFields
from engine.chain.flavors import Tally, tally

KIND = "Topology"


class Topologies:
    """How many nodes have which profile."""

    def __init__(self) -> None:
        self._profiles: dict[str, Tally[Profile]] = {}

    def count(self, profile: Profile | None, by: int) -> set[str]:
        """Add (`by` is 1) or take away (-1) one node. Returns the names that may differ."""
        if profile is None:
            return set()
        profiles = self._profiles.setdefault(profile.name, {})
        tally(profiles, profile, by)
        if not profiles:
            del self._profiles[profile.name]
        return {profile.name}

    def topology(self, name: str) -> TopologyFields | None:
        """The topology of that name; of several with other levels, the least."""
        profiles = self._profiles.get(name)
        return TopologyFields.of(min(profiles, key=_order)) if profiles else None

    def conditions(self) -> list[Condition]:
        """Names that stand for several hierarchies."""
        return [
            Condition(KIND, name, "LevelsDiffer", f'Topology "{name}" stands for {len(profiles)} hierarchies')
            for name, profiles in self._profiles.items()
            if len(profiles) > 1
        ]


def _order(profile: Profile) -> tuple[object, ...]:
    return profile.levels, profile.suffix, profile.labels, profile.node_labels
