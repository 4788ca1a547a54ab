"""Devices: the cards of a node, what they can serve (spec) and what is taken of them (status).

Cards and groups are the node half's; a ledger says what is taken, and without one nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.chain.node import NodePlan
from engine.domain.facts import PciFunction
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Card, Group, OfferedProfile
from engine.domain.ledger import CardState, free_state
from engine.worker.render.skeleton import WORKER, Object, manifest, present

SlotOrder = Mapping[str, Sequence[str]]
"""The slots of each maker in the order in which they are published (`identity.slots`)."""


def devices(plan: NodePlan, slot_order: SlotOrder | None = None, ledger: Ledger | None = None) -> Object | None:
    """The Devices object of a node; None for a node without cards."""
    if not plan.groups:
        return None
    functions = {function.address: function for function in plan.facts.pci or ()}
    order, rows = slot_order or {}, ledger or {}
    return manifest(
        WORKER,
        "Devices",
        plan.facts.name,
        labels=plan.devices_labels,
        spec={"groups": [_group(group, functions, order.get(group.manufacturer)) for group in plan.groups]},
        status={"groups": [_taken(group, rows) for group in plan.groups]},
    )


def _group(group: Group, functions: Mapping[str, PciFunction], slots: Sequence[str] | None) -> dict[str, Any]:
    return {
        "id": group.id,
        "manufacturer": group.manufacturer,
        "name": group.product,
        **present(
            memory=group.memory_mib,
            driverVersion=group.driver_version,
            runtimeVersion=group.runtime_version,
            computeCapability=group.compute_capability,
            family=group.family,
        ),
        "cores": group.cores or 0,
        "accelerators": [_card(card, functions.get(card.pci_address or ""), slots) for card in group.cards],
        "acceleratorSlicedDetail": {
            "logical": {"count": group.logical_slices, "coresPercentageOvercommit": group.cores_overcommit},
            "physical": _physical(group),
        },
    }


def _physical(group: Group) -> dict[str, Any]:
    totals: dict[str, dict[str, Any]] = {}
    for card in group.partitioned_cards:
        for profile in card.profiles:
            total = totals.setdefault(
                profile.published, {"name": profile.published, "count": 0, "memoryMib": profile.memory_mib}
            )
            total["count"] += profile.ceiling
    count = sum(card.partition_ceiling for card in group.cards)
    return {"count": count, **present(profiles=[totals[name] for name in sorted(totals)])}


def _card(card: Card, function: PciFunction | None, slots: Sequence[str] | None) -> dict[str, Any]:
    indexes = [card.slots[name] for name in (slots or tuple(card.slots)) if name in card.slots]
    return {
        "id": card.uuid,
        "index": card.index,
        **present(physicalIndexes=indexes, topology=_place(card, function)),
        # What a card that cannot be read can serve is not known; an empty answer would say that it serves whole.
        **present(status=_ability(card) if card.readable else None),
    }


def _ability(card: Card) -> dict[str, Any]:
    return {
        "unhealthy": card.unhealthy,
        "logicalSliced": {
            "count": card.logical_slices if card.is_sliceable else 0,
            "coresPercentageOvercommit": card.is_sliceable and card.cores_overcommit,
        },
        "physicalSliced": {
            "count": card.partition_ceiling,
            **present(profiles=[_profile(profile) for profile in card.profiles] if card.is_partitioned else None),
        },
    }


def _place(card: Card, function: PciFunction | None) -> dict[str, Any]:
    if function is None:
        return present(pciBusId=card.pci_address)
    return present(
        pciBusId=card.pci_address,
        pciRootId=function.bridges[0] if function.bridges else None,
        pciClass=function.class_code,
        numaAffinity=None if function.numa_node is None else str(function.numa_node),
        pciSwitches=list(function.bridges[1:]),
    )


def _profile(profile: OfferedProfile) -> dict[str, Any]:
    return {
        "name": profile.published,
        "memoryMib": profile.memory_mib,
        "computeSlices": profile.compute_slices,
        "memorySlices": profile.memory_slices,
        "count": profile.ceiling,
        "placements": [{"start": start, "length": profile.span} for start in profile.starts],
    }


def _taken(group: Group, ledger: Ledger) -> dict[str, Any]:
    rows = [ledger.get(card.uuid) or free_state(card) for card in group.cards]
    return {"id": group.id, "manufacturer": group.manufacturer, "accelerators": [_row(row) for row in rows]}


def _row(row: CardState) -> dict[str, Any]:
    return {
        "id": row.uuid,
        "index": row.index,
        "mode": int(row.mode),
        "remaining": int(row.remaining_units),
        **present(
            allocatedSlices=row.allocated_slices or None,
            allocatedProfiles=[{"name": name, "count": count} for name, count in row.allocated_profiles],
            remainingProfiles=[{"name": name, "count": count} for name, count in row.remaining_profiles],
        ),
    }
