"""Devices: the cards and network interfaces of a node (spec), and what is taken of the cards (status).

Named after the node and owned by it. The same structs read the allocation record that a Pod carries. How cards are
counted is the domain's.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, field

from engine.api.base import ATOMIC, INT32, Count, Fields, Index, Mib, ObjectMeta, keyed, written
from engine.api.interfaces import Interface
from engine.api.kind import AGE, Column, Kind
from engine.api.slicing import LogicalSlicing, PhysicalSlicing, Placement, ProfileCount, SlicedDetail

LAST_MODE: Final = 5


class Roce(Fields, frozen=True, kw_only=True):
    """The card's own network port."""

    ip: Annotated[str, Meta(description="Address.")] = ""
    subnet_mask: Annotated[str, Meta(description="Subnet mask.")] = ""
    gateway: Annotated[str, Meta(description="Gateway.")] = ""


class CardTopology(Fields, frozen=True, kw_only=True):
    """Where a card sits in its node."""

    pci_bus_id: Annotated[str, Meta(description="PCI address.")] = ""
    pci_root_id: Annotated[str, Meta(description="PCI address of the outermost bridge above it.")] = ""
    pci_class: Annotated[str, Meta(description="PCI class, hexadecimal.")] = ""
    numa_affinity: Annotated[str, Meta(description="NUMA nodes near it.")] = ""
    cpu_affinity: Annotated[str, Meta(description="CPUs near it, as a list of ranges.")] = ""
    roce: Annotated[Roce, Meta(description="The card's own network port, where it has one.")] | None = None
    pci_switches: Annotated[
        tuple[str, ...],
        Meta(description="PCI addresses of the bridges between the root and the card.", extra_json_schema=ATOMIC),
    ] = ()


class CardAbility(Fields, frozen=True, kw_only=True):
    """What a card can serve."""

    unhealthy: Annotated[bool, Meta(description="The driver reports a fault; it is not handed out.")] = written(False)
    logical_sliced: Annotated[LogicalSlicing, Meta(description="Slices made by software.")] | None = None
    physical_sliced: Annotated[PhysicalSlicing, Meta(description="Partitions made by hardware.")] | None = None


class Card(Fields, frozen=True, kw_only=True):
    """One accelerator."""

    id: Annotated[str, Meta(description="Identity that survives a restart: a UUID or a serial number.")]
    index: Annotated[Index, Meta(description="Number among the maker's cards on this node.")] = written(0)
    physical_indexes: Annotated[
        tuple[Index, ...],
        Meta(description="Other numbers of the card; what each means is the maker's.", extra_json_schema=ATOMIC),
    ] = ()
    topology: Annotated[CardTopology, Meta(description="Where the card sits in the node.")] | None = None
    status: Annotated[CardAbility, Meta(description="What the card can serve.")] | None = None


class Group(Fields, frozen=True, kw_only=True):
    """Equal cards of one maker."""

    id: Annotated[str, Meta(description="Model, as it appears in keys; with the manufacturer it names the group.")]
    manufacturer: Annotated[str, Meta(description="Maker of the cards.")]
    name: Annotated[str, Meta(description="Product name, as the driver spells it.")] = ""
    memory: (
        Annotated[Mib, Meta(description="Memory of a card, MiB; absent when the driver gives no figure.")] | None
    ) = None
    cores: Annotated[Index, Meta(description="Compute cores of a card.")] = written(0)
    driver_version: Annotated[str, Meta(description="Version of the driver.")] = ""
    runtime_version: Annotated[str, Meta(description="Newest version of the compute runtime that it serves.")] = ""
    compute_capability: Annotated[str, Meta(description="Version of the instruction set.")] = ""
    family: Annotated[str, Meta(description="Architecture.")] = ""
    accelerators: Annotated[tuple[Card, ...], Meta(description="The cards.", extra_json_schema=keyed("id"))] = ()
    accelerator_sliced_detail: (
        Annotated[SlicedDetail, Meta(description="What all cards together can be divided into.")] | None
    ) = None


class TakenCard(Fields, frozen=True, kw_only=True):
    """What is taken of a card."""

    id: Annotated[str, Meta(description="The card.")]
    index: Annotated[Index, Meta(description="Number among the maker's cards on this node.")] = written(0)
    mode: Annotated[
        int,
        Meta(
            ge=0,
            le=LAST_MODE,
            description="How it is used: 0 not, 1 exclusively, 2 shared, 3 sliced, 4 partitioned, 5 seen only.",
            extra_json_schema={**INT32, "default": 0},
        ),
    ] = written(0)
    remaining: Annotated[
        Count, Meta(description="Credits left, of 1600000 a card; absent is 0.", extra_json_schema={"default": 0})
    ] = written(0)
    allocated_slices: Annotated[Count, Meta(description="Slices in use.")] = 0
    allocated_profiles: Annotated[
        tuple[ProfileCount, ...], Meta(description="Partitions in use.", extra_json_schema=keyed("name"))
    ] = ()
    remaining_profiles: Annotated[
        tuple[ProfileCount, ...],
        Meta(description="Partitions that still fit, each profile by itself.", extra_json_schema=keyed("name")),
    ] = ()
    allocated: Annotated[Count, Meta(description="Credits that one container took; only in a Pod's record.")] = 0
    allocated_physical_profile: Annotated[
        str, Meta(description="Partition's profile as the driver spells it; only in a Pod's record.")
    ] = ""
    allocated_physical_placements: Annotated[
        tuple[Placement, ...],
        Meta(description="Where the partition lies; only in a Pod's record.", extra_json_schema=ATOMIC),
    ] = ()
    allocated_physical_id: Annotated[str, Meta(description="Identity of the partition; only in a Pod's record.")] = (
        field(name="allocatedPhysicalID", default="")
    )
    allocated_logical_placements: Annotated[
        tuple[Placement, ...],
        Meta(description="Where the slice lies; only in a Pod's record.", extra_json_schema=ATOMIC),
    ] = ()


class TakenGroup(Fields, frozen=True, kw_only=True):
    """What is taken of a group's cards."""

    id: Annotated[str, Meta(description="The group's model.")]
    manufacturer: Annotated[str, Meta(description="The group's maker.")]
    accelerators: Annotated[tuple[TakenCard, ...], Meta(description="Its cards.", extra_json_schema=keyed("id"))] = ()


class DevicesSpec(Fields, frozen=True, kw_only=True):
    """What the node has."""

    groups: Annotated[
        tuple[Group, ...],
        Meta(
            description="Accelerators: equal cards of one maker are one group.",
            extra_json_schema=keyed("id", "manufacturer"),
        ),
    ] = ()
    interfaces: Annotated[
        tuple[Interface, ...], Meta(description="Network interfaces.", extra_json_schema=keyed("name"))
    ] = ()


class DevicesStatus(Fields, frozen=True, kw_only=True):
    """What is taken."""

    groups: Annotated[
        tuple[TakenGroup, ...],
        Meta(description="Accelerators in use, by group.", extra_json_schema=keyed("id", "manufacturer")),
    ] = ()


class Devices(Fields, frozen=True, kw_only=True):
    """The accelerators and network interfaces of the node of the same name, and what is taken of them."""

    metadata: ObjectMeta
    spec: Annotated[DevicesSpec, Meta(description="What the node has. Written by its device managers.")] = DevicesSpec()
    status: Annotated[DevicesStatus, Meta(description="What Pods hold of it. Written by its device managers.")] = (
        DevicesStatus()
    )


DEVICES: Final = Kind(
    kind="Devices",
    plural="devices",
    struct=Devices,
    columns=(
        Column("Manufacturer", ".spec.groups[*].manufacturer", "Makers of the groups.", is_wide=True),
        Column("Product", ".spec.groups[*].name", "Product names of the groups.", is_wide=True),
        AGE,
    ),
)
