"""Network interfaces of a node, as Devices lists them.

Which of them carry RDMA and what that means for a Pod is decided elsewhere.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.api.base import ATOMIC, Count, Fields, one_of


class Link(Fields, frozen=True, kw_only=True):
    """Whether the link carries traffic."""

    state: Annotated[
        str,
        Meta(description="`ok`, `unverified` or `failed`.", extra_json_schema=one_of("ok", "unverified", "failed")),
    ] = ""
    reason: Annotated[str, Meta(description="Why it is not ok.")] = ""
    first_seen_time: Annotated[
        str, Meta(description="When the state began.", extra_json_schema={"format": "date-time"})
    ] = ""


class VirtualFunction(Fields, frozen=True, kw_only=True):
    """A virtual function of an interface."""

    name: Annotated[str, Meta(description="Interface name.")]
    pci_bus_id: Annotated[str, Meta(description="PCI address.")] = ""
    numa_affinity: Annotated[str, Meta(description="NUMA nodes near it.")] = ""
    cpu_affinity: Annotated[str, Meta(description="CPUs near it, as a list of ranges.")] = ""
    mtu: Annotated[Count, Meta(description="Largest packet, bytes.")] = 0
    up: Annotated[bool, Meta(description="It is up.")] = False
    rdma: Annotated[bool, Meta(description="It has an RDMA device.")] = False
    rdma_device: Annotated[str, Meta(description="Name of its RDMA device.")] = ""
    link: Annotated[Link, Meta(description="Whether the link carries traffic.")] | None = None


class Interface(Fields, frozen=True, kw_only=True):
    """A network interface."""

    name: Annotated[str, Meta(description="Interface name.")]
    bus: Annotated[str, Meta(description="Bus it sits on.")] = ""
    pci_bus_id: Annotated[str, Meta(description="PCI address.")] = ""
    pci_root_id: Annotated[str, Meta(description="PCI address of the outermost bridge above it.")] = ""
    pci_switches: Annotated[
        tuple[str, ...],
        Meta(description="PCI addresses of the bridges between the root and it.", extra_json_schema=ATOMIC),
    ] = ()
    pci_vendor: Annotated[str, Meta(description="PCI vendor, hexadecimal.")] = ""
    pci_device: Annotated[str, Meta(description="PCI device, hexadecimal.")] = ""
    numa_affinity: Annotated[str, Meta(description="NUMA nodes near it.")] = ""
    cpu_affinity: Annotated[str, Meta(description="CPUs near it, as a list of ranges.")] = ""
    mtu: Annotated[Count, Meta(description="Largest packet, bytes.")] = 0
    up: Annotated[bool, Meta(description="It is up.")] = False
    virtual: Annotated[bool, Meta(description="No hardware is behind it.")] = False
    rdma: Annotated[bool, Meta(description="It has an RDMA device.")] = False
    rdma_device: Annotated[str, Meta(description="Name of its RDMA device.")] = ""
    sriov: Annotated[bool, Meta(description="It can be split into virtual functions.")] = False
    virtual_functions: Annotated[
        tuple[VirtualFunction, ...], Meta(description="Its virtual functions.", extra_json_schema=ATOMIC)
    ] = ()
    link: Annotated[Link, Meta(description="Whether the link carries traffic.")] | None = None
