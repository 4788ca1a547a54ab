"""What the cards of a node add to each accelerator key that its labels name.

Labels say what a key is called and how many cards it has; a driver's statement, where there is one, says what they can
serve and what is taken of them. Nothing is asked of the rules here.
"""

from __future__ import annotations

from engine.chain.contribution import GroupShare
from engine.chain.readback import LabelledGroup
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Group
from engine.domain.views import summarise


def group_shares(
    labelled: tuple[LabelledGroup, ...], groups: tuple[Group, ...], rows: Ledger
) -> tuple[GroupShare, ...]:
    """One share a labelled key, in their order; a key whose cards nobody states has counts of labels only."""
    stated = {group.key: group for group in groups}
    return tuple(_group_share(each, stated.get(each.key), rows) for each in labelled)


def _group_share(labelled: LabelledGroup, group: Group | None, rows: Ledger) -> GroupShare:
    return GroupShare(
        key=labelled.key,
        manufacturer=labelled.manufacturer,
        product=labelled.product,
        family=labelled.family,
        memory=labelled.memory,
        cores=labelled.cores,
        count=labelled.count,
        sliceable=bool(group and group.sliceable_cards),
        compute_capability=group.compute_capability if group else None,
        driver_version=group.driver_version if group else None,
        runtime_version=group.runtime_version if group else None,
        summary=summarise(group.cards, rows) if group else None,
        logical_slices=group.logical_slices if group else 0,
        cores_overcommit=bool(group and group.cores_overcommit),
        partition_ceilings=_partition_ceilings(group) if group else (),
    )


def _partition_ceilings(group: Group) -> tuple[tuple[str, int, int], ...]:
    """(published profile, instances on empty cards, MiB of one) of the group's partitioned cards, sorted; least MiB."""
    totals: dict[str, tuple[int, int]] = {}
    for card in group.partitioned_cards:
        for profile in card.profiles:
            count, mib = totals.get(profile.published, (0, profile.memory_mib))
            totals[profile.published] = (count + profile.ceiling, min(mib, profile.memory_mib))
    return tuple((name, count, mib) for name, (count, mib) in sorted(totals.items()))
