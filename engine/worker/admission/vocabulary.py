"""The names that requests and Devices use, as the rules in force say them: resources, and spellings of profiles.

Asked once a program. What a name means for a demand is the domain's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.chain.node import NodeProgram
from engine.domain.demand import ClaimNames, ClaimTable
from engine.domain.facts import DriverProfile
from engine.domain.inventory import Card, Group, OfferedProfile
from engine.domain.ledger import CardState
from engine.domain.partitions import ProfileCounts, sum_profiles
from engine.domain.units import Mib
from engine.errors import EvaluationError
from engine.sections.profile import publish_profile
from engine.sections.resources import ResourceNames, resource_names
from engine.worker.cards import NodeCards


@dataclass(frozen=True, slots=True)
class LabelKeys:
    """What flavors and Nodes are read by."""

    acceleratable: str
    count: str
    hostname: str


class Vocabulary:
    """The names of one program."""

    def __init__(self, program: NodeProgram) -> None:
        self.program = program
        self._untold: dict[str, str] = {}
        self._published: dict[tuple[str, str], str] = {}
        constants = program.block("constants")
        self.keys = LabelKeys(constants["acceleratable"], constants["count"], constants["hostname"])
        self.table = ClaimTable(
            names for maker in sorted(program.makers) if (names := self._claim_names(maker)) is not None
        )

    def check(self, resource: str) -> None:
        """Raises: EvaluationError: the resource may be a maker's whose names the rules could not tell."""
        for base, reason in self._untold.items():
            if resource.startswith(base):
                raise EvaluationError(f"what {resource} asks for cannot be told", why=reason)

    def published(self, cards: NodeCards) -> NodeCards:
        """The same cards, with profiles under the names that requests use: a device manager may write the driver's."""
        partitioned = {
            card.uuid: (group.manufacturer, card) for group in cards.groups for card in group.cards if card.profiles
        }
        if not partitioned:
            return cards
        groups = tuple(self._group(group) for group in cards.groups)
        ledger = {
            uuid: self._row(*partitioned[uuid], row) if uuid in partitioned else row
            for uuid, row in cards.ledger.items()
        }
        return (
            cards if groups == cards.groups and ledger == cards.ledger else replace(cards, groups=groups, ledger=ledger)
        )

    def _claim_names(self, maker: str) -> ClaimNames | None:
        answer = resource_names(self.program, maker)
        if answer.value is None:
            reason = answer.reason or f"rules name no resources of {maker}"
            self._untold[str(self.program.block("identity", maker)["resource"])] = reason
            return None
        return _claim_names(maker, answer.value)

    def _group(self, group: Group) -> Group:
        cards = tuple(
            replace(card, profiles=tuple(self._profile(group.manufacturer, each) for each in card.profiles))
            for card in group.cards
        )
        return group if cards == group.cards else replace(group, cards=cards)

    def _profile(self, maker: str, profile: OfferedProfile) -> OfferedProfile:
        return replace(profile, published=self._publish(maker, profile))

    def _row(self, maker: str, card: Card, row: CardState) -> CardState:
        names = {each.published: self._publish(maker, each) for each in card.profiles}
        return replace(
            row,
            allocated_profiles=_renamed(row.allocated_profiles, names),
            remaining_profiles=_renamed(row.remaining_profiles, names),
        )

    def _publish(self, maker: str, profile: OfferedProfile) -> str:
        known = self._published.get((maker, profile.published))
        if known is None:
            given = DriverProfile(
                name=profile.published,
                memory_mib=Mib(profile.memory_mib),
                compute_slices=profile.compute_slices,
                memory_slices=profile.memory_slices,
                starts=profile.starts,
                span=profile.span,
            )
            told = publish_profile(self.program, maker, given).value if maker in self.program.makers else None
            # A name that cannot be told, or is not offered, stays: no request can mean it by another.
            known = (told.published if told is not None else "") or profile.published
            self._published[maker, profile.published] = known
        return known


def _claim_names(maker: str, names: ResourceNames) -> ClaimNames:
    partitioned = names.partitioned
    return ClaimNames(
        maker=maker,
        credits=names.credits,
        exclusive=names.exclusive,
        shared=names.shared,
        sliced=names.sliced.token,
        sliced_units=names.sliced.units,
        partitioned=partitioned.token if partitioned else "",
        partitioned_units=partitioned.units if partitioned else "",
        profile_prefix=partitioned.profile_prefix if partitioned else "",
    )


def _renamed(counts: ProfileCounts, names: Mapping[str, str]) -> ProfileCounts:
    return sum_profiles((names.get(name, name), count) for name, count in counts)
