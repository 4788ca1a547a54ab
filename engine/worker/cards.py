"""The cards of a Node as its `Devices` object states them: what they can serve, and what is taken of them.

The way back from what `render.devices` writes. Numbers that cannot be true are told as troubles; a row that cannot be
believed is left out, and a card without a row grants nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from engine.api.devices import Card as StatedCard
from engine.api.devices import CardAbility, Devices, TakenCard, TakenGroup
from engine.api.devices import Group as StatedGroup
from engine.api.slicing import LogicalSlicing, PhysicalProfile, PhysicalSlicing
from engine.cluster.resources import DEVICES, Resource
from engine.domain.credits import UNITS_PER_CARD
from engine.domain.inventory import Card, Group, OfferedProfile
from engine.domain.ledger import CardState, Mode
from engine.domain.units import CardIndex, Credits, DriverIndex, Mib

READ_DEVICES: Final[Resource[Devices]] = replace(DEVICES, struct=Devices)  # type: ignore[arg-type,assignment]

_NO_ABILITY: Final = CardAbility()
_NO_SLICES: Final = LogicalSlicing()
_NO_PARTITIONS: Final = PhysicalSlicing()
_MODES: Final = {int(mode): mode for mode in Mode}


@dataclass(frozen=True, slots=True)
class NodeCards:
    """The cards of one Node. Shape: groups by key; ledger rows by card; troubles are sentences for people, sorted."""

    groups: tuple[Group, ...] = ()
    ledger: Mapping[str, CardState] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()


NO_CARDS: Final = NodeCards()


def read_cards(devices: Devices) -> NodeCards:
    """The cards of a `Devices` object. Shape: a group without cards is left out."""
    troubles: set[str] = set()
    groups = [_group(each) for each in devices.spec.groups if each.accelerators]
    stated: dict[str, str] = {}
    for group in groups:
        for card in group.cards:
            if stated.setdefault(card.uuid, group.key) != group.key:
                troubles.add(f"card {card.uuid} is stated in {stated[card.uuid]} and in {group.key}")
    ledger: dict[str, CardState] = {}
    for taken in devices.status.groups:
        _take(taken, stated, ledger, troubles)
    return NodeCards(tuple(sorted(groups, key=lambda group: group.key)), ledger, tuple(sorted(troubles)))


def _group(stated: StatedGroup) -> Group:
    cards = tuple(sorted((_card(each, stated) for each in stated.accelerators), key=lambda card: card.index))
    return Group(
        manufacturer=stated.manufacturer,
        id=stated.id,
        key=f"{stated.manufacturer}-{stated.id}",
        product=stated.name,
        family=stated.family or None,
        memory_mib=_mib(stated),
        cores=stated.cores or None,
        compute_capability=stated.compute_capability or None,
        driver_version=stated.driver_version or None,
        runtime_version=stated.runtime_version or None,
        cards=cards,
    )


def _card(stated: StatedCard, group: StatedGroup) -> Card:
    ability = stated.status or _NO_ABILITY
    slices = ability.logical_sliced or _NO_SLICES
    partitions = ability.physical_sliced or _NO_PARTITIONS
    return Card(
        index=CardIndex(stated.index),
        driver_index=DriverIndex(stated.index),
        uuid=stated.id,
        product=group.name,
        family=group.family or None,
        memory_mib=_mib(group),
        cores=group.cores or None,
        compute_capability=group.compute_capability or None,
        partitioned=bool(partitions.count or partitions.profiles),
        readable=stated.status is not None,
        logical_slices=slices.count,
        cores_overcommit=slices.cores_percentage_overcommit,
        pci_address=stated.topology.pci_bus_id or None if stated.topology else None,
        profiles=tuple(map(_profile, partitions.profiles)),
        unhealthy=ability.unhealthy,
    )


def _profile(stated: PhysicalProfile) -> OfferedProfile:
    return OfferedProfile(
        published=stated.name,
        driver_name=stated.name,
        memory_mib=Mib(stated.memory_mib),
        compute_slices=stated.compute_slices,
        memory_slices=stated.memory_slices,
        starts=tuple(place.start for place in stated.placements),
        span=max((place.length for place in stated.placements), default=0),
    )


def _take(taken: TakenGroup, stated: Mapping[str, str], ledger: dict[str, CardState], troubles: set[str]) -> None:
    key = f"{taken.manufacturer}-{taken.id}"
    for row in taken.accelerators:
        if stated.get(row.id) != key:
            # A card that has just gone, or come, is stated a moment earlier or later than its row.
            continue
        trouble = _unbelievable(row)
        if trouble:
            troubles.add(f"card {row.id} of {key}: {trouble}; nothing is granted of it until the row is right")
        else:
            ledger[row.id] = _state(row)


def _unbelievable(row: TakenCard) -> str:
    if row.remaining > UNITS_PER_CARD:
        return f"remaining is {row.remaining}, of at most {UNITS_PER_CARD}"
    if row.mode not in _MODES:
        return f"mode is {row.mode}, which no card is used in"
    return ""


def _state(row: TakenCard) -> CardState:
    return CardState(
        uuid=row.id,
        index=CardIndex(row.index),
        mode=_MODES[row.mode],
        remaining_units=Credits(row.remaining),
        allocated_slices=row.allocated_slices,
        allocated_profiles=tuple(sorted((each.name, each.count) for each in row.allocated_profiles)),
        remaining_profiles=tuple(sorted((each.name, each.count) for each in row.remaining_profiles)),
    )


def _mib(group: StatedGroup) -> Mib | None:
    return Mib(group.memory) if group.memory else None
