"""What one node adds to the chain: the frozen value that grouping, flavors and pools are made of.

It holds no node name, UUID, hostname or PCI address, so that two nodes of one kind contribute equal values and an
unchanged node is recognised by comparing one value. What labels say is as read back from the node's final labels.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.domain.views import CardSummary
from engine.sections.contributes import FlavorShare
from engine.sections.cpu import CpuIdentity, Detail
from engine.sections.topology import Profile

__all__ = ["CpuIdentity", "Detail", "FlavorShare", "GroupShare", "NodeContribution", "Profile"]


@dataclass(frozen=True, slots=True)
class GroupShare:
    """One accelerator key on the node, described as the node's labels describe it.

    Shape: `memory` and `cores` are label texts (`24Gi`, `10240`); `count` is the label's, unreadable cards included;
    `sliceable`: some card of the key has logical slices; `summary` what the four views count on this
    node, None while no driver has stated the cards behind the label. What the type's detail sums:
    `logical_slices` and `cores_overcommit` of the group, `partition_ceilings` as (published profile, instances, MiB).
    """

    key: str
    manufacturer: str
    product: str
    family: str | None
    memory: str | None
    cores: str
    count: int
    sliceable: bool = False
    compute_capability: str | None = None
    driver_version: str | None = None
    runtime_version: str | None = None
    summary: CardSummary | None = None
    logical_slices: int = 0
    cores_overcommit: bool = False
    partition_ceilings: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeContribution:
    """All that one node adds; equal for equal nodes and hashable.

    Shape: `managed` is the label's value; `cores` whole cores; `shares` which flavors it feeds (none while unmanaged);
    `groups` sorted by key.
    """

    os: str
    arch: str
    managed: str | None
    profile: Profile | None
    cpu: CpuIdentity
    cores: int
    accelerated: bool
    shares: tuple[FlavorShare, ...] = ()
    groups: tuple[GroupShare, ...] = ()
