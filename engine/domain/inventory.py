"""Cards and groups after the rules spoke: what a card is, what it can serve, and which cards are one model.

No allocation is known here (that is `ledger`), and no label, key or id is made here: ids and keys are given by rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.domain.units import CardIndex, DriverIndex, Mib
from engine.errors import ContractError

NO_MEMORY: Final = Mib(0)


@dataclass(frozen=True, slots=True)
class OfferedProfile:
    """A partition profile a card offers, in both spellings.

    Shape: `starts` ascending; an instance takes `[start, start + span)`. A profile without starts is not offered and
    never gets this far.
    """

    published: str
    driver_name: str
    memory_mib: Mib
    compute_slices: int
    memory_slices: int
    starts: tuple[int, ...]
    span: int

    @property
    def ceiling(self) -> int:
        """Instances of this profile an empty card shows: its legal starts."""
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class Card:
    """One card as the chain and the allocator see it.

    Shape: `partitioned` is a fact about its mode, true also when every profile was excluded, so that such a card is
    never handed out whole. `readable` is false when its features could not be told: it stays in the group's count and
    is in no population. `isolation` is how well a slice is kept apart from its neighbours (`none`, `advisory`, `preload`,
    `driver`, `hardware`); `reserve_mib` is memory that no slice gets: carried for whoever sizes slices, no population and
    no capacity is less for it; `grant_unit` is how many cards are one whole grant; `slice_released_on_termination` is false
    where a finished Pod keeps its slice until the Pod is gone.
    """

    index: CardIndex
    driver_index: DriverIndex
    uuid: str
    product: str
    family: str | None = None
    memory_mib: Mib | None = None
    cores: int | None = None
    compute_capability: str | None = None
    partitioned: bool = False
    readable: bool = True
    logical_slices: int = 0
    cores_overcommit: bool = False
    isolation: str = "none"
    reserve_mib: Mib = NO_MEMORY
    grant_unit: int = 1
    slice_released_on_termination: bool = True
    slots: Mapping[str, int] = field(default_factory=dict)
    pci_address: str | None = None
    profiles: tuple[OfferedProfile, ...] = ()
    unhealthy: bool = False

    @property
    def is_partitioned(self) -> bool:
        """In the population that serves hardware partitions only."""
        return self.readable and self.partitioned

    @property
    def is_whole_capable(self) -> bool:
        """In the population that serves whole cards and shares."""
        return self.readable and not self.partitioned

    @property
    def is_sliceable(self) -> bool:
        """In the population that serves logical slices: without a memory figure there is nothing to slice."""
        return self.is_whole_capable and self.logical_slices > 0 and bool(self.memory_mib)

    @property
    def partition_ceiling(self) -> int:
        """Partitions an empty card can host at most, of its most numerous profile."""
        return max((profile.ceiling for profile in self.profiles), default=0) if self.is_partitioned else 0


@dataclass(frozen=True, slots=True)
class Group:
    """Equal cards of one maker on one node: one (maker, id), whatever their memory.

    Shape: cards by index; `memory_mib` is the least of the known ones and None when none is known; `product`, `family`,
    `compute_capability` and `cores` are the least of what the cards say, never "the first card's".
    """

    manufacturer: str
    id: str
    key: str
    product: str
    family: str | None
    memory_mib: Mib | None
    cores: int | None
    compute_capability: str | None
    driver_version: str | None
    runtime_version: str | None
    cards: tuple[Card, ...]

    @property
    def count(self) -> int:
        """All cards, those that cannot be read included: dropping one would rename what is named by the count."""
        return len(self.cards)

    @property
    def sliceable_cards(self) -> tuple[Card, ...]:
        """Cards that serve logical slices."""
        return tuple(card for card in self.cards if card.is_sliceable)

    @property
    def logical_slices(self) -> int:
        """Slice slots over the sliceable cards."""
        return sum(card.logical_slices for card in self.cards if card.is_sliceable)

    @property
    def cores_overcommit(self) -> bool:
        """Compute may be promised more than once: only where every sliceable card allows it."""
        sliceable = self.sliceable_cards
        return bool(sliceable) and all(card.cores_overcommit for card in sliceable)

    @property
    def partitioned_cards(self) -> tuple[Card, ...]:
        """Cards that serve hardware partitions."""
        return tuple(card for card in self.cards if card.is_partitioned)

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Names of the facts on which the cards of this group differ, sorted: a condition, never a reason to split."""
        facts: dict[str, set[object]] = {
            "computeCapability": {card.compute_capability for card in self.cards},
            "cores": {card.cores for card in self.cards},
            "family": {card.family for card in self.cards},
            "memoryMib": {card.memory_mib for card in self.cards},
            "product": {card.product for card in self.cards},
        }
        return tuple(name for name, values in facts.items() if len(values) > 1)


def build_group(
    manufacturer: str,
    group_id: str,
    cards: Iterable[Card],
    *,
    key: str | None = None,
    driver_version: str | None = None,
    runtime_version: str | None = None,
) -> Group:
    """One group of at least one card; the key is `<maker>-<id>` unless a rule said otherwise.

    Raises: ContractError: no card.
    """
    ordered = tuple(sorted(cards, key=lambda card: (card.index, card.uuid)))
    if not ordered:
        raise ContractError(f"group {manufacturer}-{group_id} has no card", why="a group without cards is left out")
    return Group(
        manufacturer=manufacturer,
        id=group_id,
        key=key or f"{manufacturer}-{group_id}",
        product=min(card.product for card in ordered),
        family=min((card.family for card in ordered if card.family), default=None),
        memory_mib=min((card.memory_mib for card in ordered if card.memory_mib), default=None),
        cores=min((card.cores for card in ordered if card.cores is not None), default=None),
        compute_capability=min((card.compute_capability for card in ordered if card.compute_capability), default=None),
        driver_version=driver_version,
        runtime_version=runtime_version,
        cards=ordered,
    )
