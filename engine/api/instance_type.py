"""InstanceType: what a person may ask for, and how much of it there is.

The descriptors that older releases kept in `spec` (manufacturer, product, memory …) are in `status.detail`. How the views
are counted is the domain's; defaults beside `generalGroup` and labels are the webhook's.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from msgspec import Meta

from engine.api.base import ATOMIC, LONGEST_NAME, Fields, ObjectMeta, Quantity, defaulted, keyed, one_of, written
from engine.api.kind import Column, Kind
from engine.api.rule import NO, OBJECT, TEXT, Blame, Rule, all_of, unchanged
from engine.api.slicing import ProfileCount, SlicedDetail

GENERIC: Final = "generic"
LONGEST_DISPLAY_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1024
LONGEST_AMOUNT: Final = 64
"""Chosen: bounds the cost of the rules; no amount that means something is as long."""

_IS_ACCELERATED: Final = "self.?acceleratable.orValue(false)"
_HAS_UNIT: Final = "has(self.unitResources) && has(self.unitResources.{})"
_POSITIVE: Final = "matches('^0*[1-9][0-9]*$')"
_GIB: Final = "matches('^0*[1-9][0-9]*Gi$')"
_NOT_GIB: Final = 'must be a positive integer with a case-sensitive "Gi" suffix'
_FROZEN: Final = {
    "acceleratorGroup": TEXT,
    "generalGroup": TEXT,
    "acceleratable": NO,
    "os": TEXT,
    "arch": TEXT,
    "unitResources": OBJECT,
    "localStorage": TEXT,
}

Word = Annotated[str, Meta(max_length=LONGEST_NAME)]
Amount = Annotated[str, Meta(max_length=LONGEST_AMOUNT)]


class UnitResources(Fields, frozen=True, kw_only=True):
    """What comes with one accelerator, or with one CPU core where there is none."""

    cpu: Annotated[
        Amount, Meta(description="CPU cores, a whole number; 1 when the type has no accelerator. Required.")
    ] = ""
    ram: Annotated[Amount, Meta(description="Memory in whole Gi, such as 64Gi. Required.")] = ""


class InstanceTypeSpec(Fields, frozen=True, kw_only=True):
    """What is asked for."""

    RULES: ClassVar = (
        Rule(
            all_of(unchanged(field, empty) for field, empty in _FROZEN.items()),
            "is immutable except displayName, description and inactive",
            blame=Blame.FORBIDDEN,
        ),
        Rule(
            f"!{_IS_ACCELERATED} || self.?acceleratorGroup.orValue('') != ''",
            "must be specified when acceleratable is true",
            "acceleratorGroup",
            Blame.REQUIRED,
            on_create=True,
        ),
        Rule("self.?os.orValue('') != ''", "must be specified", "os", Blame.REQUIRED, on_create=True),
        Rule("self.?arch.orValue('') != ''", "must be specified", "arch", Blame.REQUIRED, on_create=True),
        Rule(
            f"!{_IS_ACCELERATED} || ({_HAS_UNIT.format('cpu')} && self.unitResources.cpu.{_POSITIVE})",
            "must be a positive integer with no unit suffix",
            "unitResources.cpu",
            on_create=True,
        ),
        Rule(
            f"{_IS_ACCELERATED} || ({_HAS_UNIT.format('cpu')} && self.unitResources.cpu == '1')",
            "must be 1 when acceleratable is false",
            "unitResources.cpu",
            on_create=True,
        ),
        Rule(
            f"{_HAS_UNIT.format('ram')} && self.unitResources.ram.{_GIB}", _NOT_GIB, "unitResources.ram", on_create=True
        ),
        Rule(f"has(self.localStorage) && self.localStorage.{_GIB}", _NOT_GIB, "localStorage", on_create=True),
    )

    display_name: Annotated[
        str, Meta(max_length=LONGEST_DISPLAY_NAME, description="Name for people. May be changed.")
    ] = ""
    description: Annotated[str, Meta(max_length=LONGEST_DESCRIPTION, description="What it is for. May be changed.")] = (
        ""
    )
    inactive: Annotated[bool, Meta(description="Stops new workloads and drains those that run. May be changed.")] = (
        False
    )
    accelerator_group: Annotated[
        Word,
        Meta(description="Accelerators it gives, `<manufacturer>-<model>`. Required when acceleratable. Immutable."),
    ] = ""
    general_group: Annotated[
        Word,
        Meta(
            min_length=1,
            description="CPUs it gives; `generic` is any. Immutable.",
            extra_json_schema=defaulted(GENERIC),
        ),
    ] = written(GENERIC)
    acceleratable: Annotated[bool, Meta(description="Whether it gives accelerators. Immutable.")] = written(False)
    os: Annotated[Word, Meta(description="Operating system, as kubernetes.io/os. Required, immutable.")] = ""
    arch: Annotated[Word, Meta(description="Architecture, as kubernetes.io/arch. Required, immutable.")] = ""
    unit_resources: Annotated[
        UnitResources, Meta(description="What comes with each accelerator or core. Required, immutable.")
    ] = UnitResources()
    local_storage: Annotated[
        Amount, Meta(description="Local storage of an instance in whole Gi, such as 100Gi. Required, immutable.")
    ] = ""


class View(Fields, frozen=True, kw_only=True):
    """How much there is, seen one way."""

    once_max_request: Annotated[Quantity, Meta(description="The most that one request can get now.")] = written("0")
    remaining: Annotated[Quantity, Meta(description="What is left over all nodes.")] = written("0")
    capacity: Annotated[Quantity, Meta(description="What there is over all nodes.")] = written("0")


class PartitionView(Fields, frozen=True, kw_only=True):
    """How many hardware partitions there are."""

    once_max_request: Annotated[Quantity, Meta(description="The most that one request can get now.")] = written("0")
    remaining: Annotated[Quantity, Meta(description="What is left over all nodes.")] = written("0")
    capacity: Annotated[Quantity, Meta(description="What there is over all nodes.")] = written("0")
    allocated_profiles: Annotated[
        tuple[ProfileCount, ...], Meta(description="Partitions in use, by profile.", extra_json_schema=keyed("name"))
    ] = ()
    remaining_profiles: Annotated[
        tuple[ProfileCount, ...],
        Meta(description="Partitions that still fit, each profile by itself.", extra_json_schema=keyed("name")),
    ] = ()


class Cache(Fields, frozen=True, kw_only=True):
    """A CPU's caches, bytes."""

    l1i: Annotated[str, Meta(description="Level 1, instructions.")] = ""
    l1d: Annotated[str, Meta(description="Level 1, data.")] = ""
    l2: Annotated[str, Meta(description="Level 2.")] = ""
    l3: Annotated[str, Meta(description="Level 3.")] = ""


class CpuDetail(Fields, frozen=True, kw_only=True):
    """What a CPU is."""

    manufacturer: Annotated[str, Meta(description="Maker.")] = ""
    product: Annotated[str, Meta(description="Product name.")] = ""
    family: Annotated[str, Meta(description="Family.")] = ""
    physical_cores: Annotated[str, Meta(description="Cores of a package.")] = ""
    threads_per_physical_core: Annotated[str, Meta(description="Hardware threads of a core.")] = ""
    logical_cores: Annotated[str, Meta(description="Hardware threads of a package.")] = ""
    stepping: Annotated[str, Meta(description="Stepping.")] = ""
    clock_speed: Annotated[str, Meta(description="Base clock, Hz.")] = ""
    max_clock_speed: Annotated[str, Meta(description="Highest clock, Hz.")] = ""
    cache_line: Annotated[str, Meta(description="Cache line, bytes.")] = ""
    cache: Annotated[Cache, Meta(description="Caches, bytes.")] | None = None


class TypeDetail(CpuDetail, frozen=True, kw_only=True):
    """What the accelerator is; without one, what the CPU is."""

    memory: Annotated[str, Meta(description="Memory of an accelerator, such as 24Gi.")] = ""
    cores: Annotated[str, Meta(description="Compute cores of an accelerator.")] = ""
    compute_capability: Annotated[str, Meta(description="Version of the accelerator's instruction set.")] = ""
    sliced_detail: Annotated[SlicedDetail, Meta(description="What the accelerators can be divided into.")] | None = None
    cpu: (
        Annotated[CpuDetail, Meta(description="The CPU beside the accelerator, when types are told apart by CPU.")]
        | None
    ) = None
    runtime_version: Annotated[str, Meta(description="The oldest of runtimeVersions.")] = ""
    runtime_versions: Annotated[
        tuple[str, ...],
        Meta(description="Versions of the compute runtime on the nodes, ascending.", extra_json_schema=ATOMIC),
    ] = ()


class TypeColumns(Fields, frozen=True, kw_only=True):
    """Cells of the table that are made of several fields."""

    unit_storage: Annotated[str, Meta(description="CPU, memory and storage of a unit: 8/64Gi/100Gi.")] = ""
    accelerator: Annotated[
        str, Meta(description="Most at once and remaining: exclusive, shared, sliced, partitioned.")
    ] = ""
    cpu: Annotated[str, Meta(description="Most CPU cores at once and remaining.")] = ""
    partitions: Annotated[str, Meta(description="Partitions that still fit, `profile:count` with commas.")] = ""


class InstanceTypeStatus(Fields, frozen=True, kw_only=True):
    """How much there is."""

    phase: Annotated[
        str,
        Meta(
            description="Whether it takes workloads: Activating, Active, Inactive or Draining.",
            extra_json_schema=one_of("Activating", "Active", "Inactive", "Draining"),
        ),
    ] = ""
    phase_message: Annotated[str, Meta(description="Why the phase is what it is.")] = ""
    entrance: Annotated[str, Meta(description="LocalQueue to name in a Pod's label kueue.x-k8s.io/queue-name.")] = ""
    accelerator: Annotated[View, Meta(description="Whole cards.")] | None = None
    accelerator_shared: Annotated[View, Meta(description="Shares, ten a card.")] | None = None
    accelerator_sliced: Annotated[View, Meta(description="Slices, in percent of a card.")] | None = None
    accelerator_partitioned: Annotated[PartitionView, Meta(description="Hardware partitions.")] | None = None
    cpu: Annotated[View, Meta(description="CPU cores; 0 for a type with accelerators.")] | None = None
    detail: Annotated[TypeDetail, Meta(description="What is behind it; empty until a node backs it.")] | None = None
    columns: Annotated[TypeColumns, Meta(description="Cells of its table.")] | None = None


class InstanceType(Fields, frozen=True, kw_only=True):
    """What a person may ask for: a model of accelerator or CPU with its share of CPU, memory and storage."""

    metadata: ObjectMeta
    spec: Annotated[InstanceTypeSpec, Meta(description="What it gives.")]
    status: Annotated[InstanceTypeStatus, Meta(description="How much of it there is. Written by the worker.")] = (
        InstanceTypeStatus()
    )


INSTANCE_TYPE: Final = Kind(
    kind="InstanceType",
    plural="instancetypes",
    struct=InstanceType,
    short_names=("instype",),
    columns=(
        Column("Entrance", ".status.entrance", "LocalQueue that workloads name."),
        Column("Unit(CPU/RAM)/Storage", ".status.columns.unitStorage", "CPU, memory and storage of a unit."),
        Column(
            "Accelerator(EX/SH/SL/PT)",
            ".status.columns.accelerator",
            "Most at once and remaining: exclusive, shared, sliced, partitioned.",
        ),
        Column("CPU", ".status.columns.cpu", "Most CPU cores at once and remaining."),
        Column("Phase", ".status.phase", "Whether it takes workloads."),
        Column("Partitions", ".status.columns.partitions", "Partitions that still fit, by profile.", is_wide=True),
    ),
)
