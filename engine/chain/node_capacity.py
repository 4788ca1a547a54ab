"""What a node offers in its capacity: the device plugins' tokens, and the amounts that are counted beside them.

Offline every plugin is taken as registered. Names are the rules'; counting is the domain's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.domain.credits import SHARES_PER_CARD
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Card, Group
from engine.domain.partitions import ProfileCounts, ceilings, node_key_totals, pool, sum_profiles
from engine.errors import EvaluationError
from engine.sections.capacity import ModelCount
from engine.sections.resources import ResourceNames
from engine.values.quantities import quantity_mib

VISIBILITY_TOKENS_PER_CARD: Final = 512
"""Tokens of the visibility family, whatever the card's state. Source: specification 10 §1.2, §2.1."""


@dataclass(frozen=True, slots=True)
class MakerCount:
    """What the cards of one maker on one node come to; hashable, so that equal nodes ask for their capacity once."""

    whole_cards: int
    cards: int
    sliced_tokens: int
    partitioned_tokens: int
    models: tuple[ModelCount, ...]
    profiles: ProfileCounts


def count_maker(groups: Iterable[Group], memory_labels: Mapping[str, str], ledger: Ledger) -> MakerCount:
    """Counts the groups of one maker; `memory_labels` gives the memory label of a group's key.

    Shape: unhealthy cards count, as they do in a kubelet's capacity (only its allocatable leaves them out).
    """
    listed = tuple(groups)
    cards = [card for group in listed for card in group.cards]
    partitioned = [_profile_counts(card, ledger) for card in cards if card.is_partitioned]
    return MakerCount(
        whole_cards=sum(card.is_whole_capable for card in cards),
        cards=len(cards),
        sliced_tokens=sum(group.logical_slices for group in listed),
        partitioned_tokens=pool(partitioned),
        models=tuple(_model(group, memory_labels.get(group.key)) for group in listed),
        profiles=tuple(node_key_totals(partitioned).items()),
    )


def token_capacity(names: ResourceNames, count: MakerCount) -> dict[str, int]:
    """The plugins' own tokens by resource name; a family without a token is left out."""
    tokens = {
        names.exclusive: count.whole_cards,
        names.shared: count.whole_cards * SHARES_PER_CARD,
        names.sliced.token: count.sliced_tokens,
        names.visibility: count.cards * VISIBILITY_TOKENS_PER_CARD,
    }
    if names.partitioned is not None:
        tokens[names.partitioned.token] = count.partitioned_tokens
    return {name: tokens for name, tokens in tokens.items() if tokens > 0}


def _model(group: Group, memory_label: str | None) -> ModelCount:
    return ModelCount(
        logical_cards=len(group.sliceable_cards),
        logical_slices=group.logical_slices,
        cores_overcommit=group.cores_overcommit,
        label_mib=_label_mib(memory_label),
        partitioned_cards=len(group.partitioned_cards),
    )


def _label_mib(text: str | None) -> int | None:
    """The label's memory; a label that somebody set to no quantity says nothing."""
    try:
        return None if text is None else quantity_mib(text)
    except EvaluationError:
        return None


def _profile_counts(card: Card, ledger: Ledger) -> tuple[ProfileCounts, ProfileCounts]:
    """Allocated and remaining instances by profile; a card whose row says nothing of profiles counts its ceilings."""
    state = ledger.get(card.uuid)
    if state is None or not state.has_profile_rows:
        return (), ceilings(card.profiles)
    offered = ((profile.published, 0) for profile in card.profiles)
    return state.allocated_profiles, sum_profiles(offered, state.remaining_profiles)
