"""What one machine states about itself: the CPU, the PCI functions, and what each vendor library answers about cards.

These are raw facts, as text and numbers, before any rule has spoken: no ids, keys, families, populations or labels
(those are rules' and `inventory`'s). Nothing here reads a document; `engine/machines` builds these values from one.

Every type is frozen and compares by value, so that an unchanged node is recognised by identity first and by equality
second. Types that hold a mapping are not hashable; the ones the chain uses as keys hold none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.domain.units import DriverIndex, Mib

Partitioning = Literal["unsupported", "disabled", "enabled", "unreadable"]
Extra = str | int | bool | None


@dataclass(frozen=True, slots=True)
class CpuFacts:
    """The CPU as the host describes it; every fact is optional and kept as the text it was published as.

    Shape: `vendor_id` and `model_id` are node labels (`cpu-model.vendor_id`, `cpu-model.id`); the other thirteen are
    the `feature.gpustack.ai/cpu-*` annotations. A value beginning with `@` is an unresolved template, kept as text.
    """

    vendor_id: str | None = None
    family: str | None = None
    model_id: str | None = None
    name: str | None = None
    stepping: str | None = None
    physical_cores: int | str | None = None
    threads_per_core: int | str | None = None
    logical_cores: int | str | None = None
    cache_line: int | str | None = None
    hz: int | str | None = None
    boost_freq: int | str | None = None
    cache_l1i: int | str | None = None
    cache_l1d: int | str | None = None
    cache_l2: int | str | None = None
    cache_l3: int | str | None = None


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One PCI function of the host; ids are lower-case hex text without `0x`, bridges are addresses, root first."""

    address: str
    class_code: str
    vendor: str
    device: str
    subsystem_vendor: str | None = None
    subsystem_device: str | None = None
    numa_node: int | None = None
    bridges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Placement:
    """A run of placement positions on a partitionable card: `start` and `length`, in the driver's own units."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """The first position after the run."""
        return self.start + self.length

    def overlaps(self, other: Placement) -> bool:
        """Two runs share a position."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class DriverProfile:
    """A hardware partition profile as the driver lists it.

    Shape: `starts` are the positions where an instance may begin, `span` the positions it takes; a driver that knows no
    positions leaves both empty and states `max_count`.
    """

    name: str
    memory_mib: Mib
    compute_slices: int = 0
    memory_slices: int = 0
    starts: tuple[int, ...] = ()
    span: int = 0
    max_count: int | None = None


@dataclass(frozen=True, slots=True)
class CardFacts:
    """One card as its driver answers: `None` is "not measurable", never 0.

    Shape: `slots` are the named indexes of the maker's `identity.slots` (`minor`, `physical`, ...); `extras` whatever
    else the maker's `facts` block declares; `profiles` are the card's own (expanded from the library's list).
    """

    uuid: str
    driver_index: DriverIndex
    name: str | None = None
    pci: str | None = None
    memory_mib: Mib | None = None
    cores: int | None = None
    compute_capability: str | None = None
    slots: Mapping[str, int] = field(default_factory=dict)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    partitioning: Partitioning = "unsupported"
    profiles: tuple[DriverProfile, ...] = ()
    unhealthy: bool = False


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """One manufacturer's library on one node: versions, what it can do, and its cards in driver order."""

    manufacturer: str
    driver_version: str | None = None
    runtime_version: str | None = None
    node_partitioning: str | None = None
    capabilities: tuple[str, ...] = ()
    flags: Mapping[str, Extra] = field(default_factory=dict)
    cards: tuple[CardFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node: what the kubelet, the host and the vendor libraries state.

    Shape: `capacity` maps a resource name to its quantity text (the kubelet's own entries); `pci` is None while no host
    facts have arrived, which is not the same as "no PCI function"; `topology_levels` are (label key, value) pairs from
    the widest level to the narrowest, without the hostname.
    """

    name: str
    os: str
    arch: str
    capacity: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    cpu: CpuFacts | None = None
    pci: tuple[PciFunction, ...] | None = None
    libraries: tuple[LibraryFacts, ...] = ()
    topology_levels: tuple[tuple[str, str], ...] = ()
