"""The machine document as types: what may stand in a file of `machines.gpustack.ai/v1alpha1`, and what it means.

The schema is generated from these types and the decoder checks against them, so there is one list of fields. Facts of the
domain are made in `document`; nothing here reads a file.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

API_VERSION = "machines.gpustack.ai/v1alpha1"
KIND = "Machine"

MAX_MEMORY_MIB = 16 * 1024 * 1024
"""16 TiB, chosen: above any card, below a byte count written by mistake (1 GiB in bytes is 2^30)."""

Scalar = str | int | bool | None
PciAddress = Annotated[
    str,
    Meta(
        pattern=r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$",
        description="PCI address, `domain:bus:device.function` in lower-case hex.",
    ),
]
PciId = Annotated[str, Meta(pattern=r"^[0-9a-f]{4}$", description="Four lower-case hex digits, quoted.")]
PciClass = Annotated[str, Meta(pattern=r"^[0-9a-f]{4}([0-9a-f]{2})?$", description="PCI class in hex, quoted.")]
MemoryMib = Annotated[int, Meta(ge=1, le=MAX_MEMORY_MIB, description="Memory in MiB, a whole number.")]
Count = Annotated[int, Meta(ge=0)]
Partitioning = Annotated[
    Literal["unsupported", "disabled", "enabled", "unreadable"],
    Meta(description="Hardware partitioning: not there, off, on, or the driver would not say."),
]
Name = Annotated[str, Meta(min_length=1)]


class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """Base of all objects: closed, camelCase keys, frozen."""


class Metadata(Fields, frozen=True, kw_only=True):
    """Which node it is."""

    name: Annotated[str, Meta(min_length=1, max_length=253, description="The node's name.")]


class Cpu(Fields, frozen=True, kw_only=True):
    """The CPU as the host describes it; every fact is optional."""

    vendor_id: Annotated[Name, Meta(description="Vendor of the CPU, as `cpu-model.vendor_id` spells it.")] | None = None
    family: Annotated[Name, Meta(description="CPU family, a quoted number.")] | None = None
    id: Annotated[Name, Meta(description="CPU model number, quoted.")] | None = None
    name: Annotated[str, Meta(description="Brand string.")] | None = None
    stepping: Annotated[Name, Meta(description="Stepping, a quoted number.")] | None = None
    physical_cores: Annotated[Count, Meta(description="Cores a package.")] | None = None
    threads_per_core: Annotated[Count, Meta(description="Hardware threads a core.")] | None = None
    logical_cores: Annotated[Count, Meta(description="Hardware threads a package.")] | None = None
    cache_line: Annotated[Count, Meta(description="Cache line, bytes.")] | None = None
    hz: Annotated[Count, Meta(description="Base clock, Hz.")] | None = None
    boost_freq: Annotated[Count, Meta(description="Highest clock, Hz.")] | None = None
    cache_l1i: Annotated[Count, Meta(description="One instruction cache of level 1, bytes.")] | None = field(
        name="cacheL1i", default=None
    )
    cache_l1d: Annotated[Count, Meta(description="One data cache of level 1, bytes.")] | None = field(
        name="cacheL1d", default=None
    )
    cache_l2: Annotated[Count, Meta(description="One cache of level 2, bytes.")] | None = field(
        name="cacheL2", default=None
    )
    cache_l3: Annotated[Count, Meta(description="One cache of level 3, bytes.")] | None = field(
        name="cacheL3", default=None
    )


class Pci(Fields, frozen=True, kw_only=True):
    """One PCI function."""

    address: PciAddress
    class_: PciClass = field(name="class")
    vendor: PciId
    device: PciId
    subsystem_vendor: PciId | None = None
    subsystem_device: PciId | None = None
    numa_node: Annotated[Count, Meta(description="NUMA node; left out when the kernel states none (-1).")] | None = None
    bridges: Annotated[tuple[PciAddress, ...], Meta(description="Bridges above it, outermost first.")] = ()


class Profile(Fields, frozen=True, kw_only=True):
    """A hardware partition profile as the driver lists it."""

    name: Annotated[Name, Meta(description="The driver's spelling.")]
    id: Annotated[Count, Meta(description="The driver's profile number; only fakes and drivers read it.")] | None = None
    memory_mib: MemoryMib
    compute_slices: Count = 0
    memory_slices: Count = 0
    starts: Annotated[tuple[Count, ...], Meta(description="Positions at which an instance may begin.")] = ()
    span: Annotated[Count, Meta(description="Positions an instance takes.")] = 0
    max_count: (
        Annotated[Count, Meta(description="Instances a card holds, where the driver knows no positions.")] | None
    ) = None


class Sample(Fields, frozen=True, kw_only=True):
    """What the driver measured once; left out where it measures nothing."""

    memory_used_mib: Count | None = None
    memory_percent: Count | None = None
    cores_percent: Count | None = None
    temperature_celsius: int | None = None
    power_watts: Count | None = None


class Card(Fields, frozen=True, kw_only=True):
    """One card as its driver answers, in converted units; left out is not measurable."""

    uuid: Annotated[Name, Meta(description="The card's id in the maker's own spelling.")]
    driver_index: Annotated[Count, Meta(description="The card's number in the maker's library.")]
    name: Annotated[str, Meta(description="Product name as the driver spells it.")] | None = None
    pci: PciAddress | None = None
    memory_mib: MemoryMib | None = None
    cores: Annotated[Count, Meta(description="Compute units as the maker counts them.")] | None = None
    compute_capability: Annotated[Name, Meta(description="Version text, quoted.")] | None = None
    slots: Annotated[dict[str, Count], Meta(description="Named indexes of the maker's `identity.slots`.")] = {}
    extras: Annotated[dict[str, Scalar], Meta(description="Further facts of the maker's `facts.extras`.")] = {}
    partitioning: Partitioning = "unsupported"
    profiles: Annotated[Name, Meta(description="Name of one of the library's profile lists.")] | None = None
    unhealthy: bool = False
    sample: Sample | None = None
    native: Annotated[dict[str, Any], Meta(description="Raw values of the library; only fakes read them.")] = {}


class Library(Fields, frozen=True, kw_only=True):
    """One maker's library on the node and the cards it answers for, in driver order."""

    manufacturer: Annotated[Name, Meta(description="The maker's name, as its pack's `identity.manufacturer`.")]
    driver_version: Annotated[Name, Meta(description="Driver version, quoted.")] | None = None
    runtime_version: Annotated[Name, Meta(description="Runtime version, quoted.")] | None = None
    node_partitioning: Partitioning | None = None
    capabilities: Annotated[tuple[Name, ...], Meta(description="What this library can do beyond the basics.")] = ()
    flags: Annotated[dict[str, Scalar], Meta(description="Named states of the driver.")] = {}
    profiles: Annotated[
        dict[str, tuple[Profile, ...]], Meta(description="Partition profiles, each list named once and used by cards.")
    ] = {}
    cards: tuple[Card, ...] = ()
    native: Annotated[dict[str, Any], Meta(description="Raw values of the library; only fakes read them.")] = {}


class Fault(Fields, frozen=True, kw_only=True):
    """A call that a fake answers badly."""

    call: Annotated[Name, Meta(description="The library function.")]
    answer: Annotated[Name, Meta(description="What it answers instead.")]
    card: Annotated[Count, Meta(description="Driver index; left out, every card.")] | None = None
    from_: Annotated[Count, Meta(description="First call that is answered so, from 1.")] | None = field(
        name="from", default=None
    )


class Spec(Fields, frozen=True, kw_only=True):
    """The facts of the node."""

    os: Annotated[Name, Meta(description="`kubernetes.io/os`.")]
    arch: Annotated[Name, Meta(description="`kubernetes.io/arch`.")]
    capacity: Annotated[
        dict[str, str], Meta(description="The kubelet's own capacity entries as quantities; never what is derived.")
    ] = {}
    labels: Annotated[dict[str, str], Meta(description="Labels the Node has of itself.")] = {}
    annotations: Annotated[dict[str, str], Meta(description="Annotations the Node has of itself.")] = {}
    cpu: Cpu | None = None
    pci: Annotated[tuple[Pci, ...], Meta(description="PCI functions; left out when nobody looked.")] | None = None
    libraries: tuple[Library, ...] = ()
    faults: Annotated[tuple[Fault, ...], Meta(description="Only fakes read them.")] = ()


class Machine(Fields, frozen=True, kw_only=True):
    """The hardware facts of one node."""

    api_version: Literal["machines.gpustack.ai/v1alpha1"]
    kind: Literal["Machine"]
    metadata: Metadata
    spec: Spec
