"""How cards are divided: slices made by software, partitions made by hardware, counts of either.

Shared by Devices and InstanceType.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.api.base import ATOMIC, Count, Fields, Mib, keyed, written


class LogicalSlicing(Fields, frozen=True, kw_only=True):
    """Slices made by software."""

    count: Annotated[Count, Meta(description="Most slices at once; 0 when it cannot be sliced.")] = written(0)
    cores_percentage_overcommit: Annotated[
        bool, Meta(description="Whether the compute shares of all slices may add up to more than 100 %.")
    ] = written(False)


class Placement(Fields, frozen=True, kw_only=True):
    """A place on the card that an instance takes."""

    start: Annotated[Count, Meta(description="First position.")] = written(0)
    length: Annotated[Count, Meta(description="Positions taken.")] = written(0)


class PhysicalProfile(Fields, frozen=True, kw_only=True):
    """A size of hardware partition that the card offers."""

    name: Annotated[str, Meta(description="Profile, in the spelling that resource names use.")]
    memory_mib: Annotated[Mib, Meta(description="Memory of an instance, MiB.")] = 0
    compute_slices: Annotated[Count, Meta(description="Compute slices of an instance.")] = written(0)
    memory_slices: Annotated[Count, Meta(description="Memory slices of an instance.")] = written(0)
    count: Annotated[Count, Meta(description="Most instances of this profile on an empty card.")] = written(0)
    placements: Annotated[
        tuple[Placement, ...], Meta(description="Places where an instance may begin.", extra_json_schema=ATOMIC)
    ] = ()


class PhysicalSlicing(Fields, frozen=True, kw_only=True):
    """Partitions made by hardware."""

    count: Annotated[Count, Meta(description="Most partitions at once; 0 when the card is not partitioned.")] = written(
        0
    )
    profiles: Annotated[
        tuple[PhysicalProfile, ...], Meta(description="Profiles on offer.", extra_json_schema=keyed("name"))
    ] = ()


class ProfileTotal(Fields, frozen=True, kw_only=True):
    """A profile over all cards of a group."""

    name: Annotated[str, Meta(description="Profile, in the spelling that resource names use.")]
    count: Annotated[Count, Meta(description="Most instances over all cards.")] = written(0)
    memory_mib: Annotated[Mib, Meta(description="Memory of an instance, MiB.")] = 0


class PhysicalTotal(Fields, frozen=True, kw_only=True):
    """Partitions over all cards of a group."""

    count: Annotated[Count, Meta(description="Most partitions over all cards.")] = written(0)
    profiles: Annotated[
        tuple[ProfileTotal, ...], Meta(description="Profiles on offer.", extra_json_schema=keyed("name"))
    ] = ()


class SlicedDetail(Fields, frozen=True, kw_only=True):
    """Slices and partitions over all cards of a group or pool."""

    logical: Annotated[LogicalSlicing, Meta(description="Slices made by software.")] | None = None
    physical: Annotated[PhysicalTotal, Meta(description="Partitions made by hardware.")] | None = None


class ProfileCount(Fields, frozen=True, kw_only=True):
    """How many of a profile."""

    name: Annotated[str, Meta(description="Profile, in the spelling that resource names use.")]
    count: Annotated[Count, Meta(description="How many.")] = written(0)
