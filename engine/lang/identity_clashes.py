"""What two makers may not share: the PCI devices they match and the resource name they give their cards.

Looks at identities only, after overlays and overrides; one pack alone is never wrong here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from msgspec import Struct

from engine.lang.diagnostics import Diagnostics, Related
from engine.lang.packs import Pack
from engine.lang.section import Owner
from engine.lang.source import Place
from engine.lang.tree import Map, Node, Scalar, Seq


class _Match(Struct, frozen=True):
    """One entry of `identity.pci`."""

    pack: Pack
    place: Place
    vendor: str
    classes: tuple[str, ...]
    devices: tuple[str, ...]
    excluded: tuple[str, ...]


def report_clashes(packs: Iterable[Pack], diagnostics: Diagnostics) -> None:
    """Report each pair of makers that claim one PCI device or one resource name."""
    makers = sorted((pack for pack in packs if pack.kind == Owner.MANUFACTURER), key=lambda pack: pack.name)
    _report_devices([match for pack in makers for match in _matches(pack)], diagnostics)
    homes: dict[str, tuple[Pack, Place]] = {}
    for pack in makers:
        resource = _identity(pack, "resource")
        if not isinstance(resource, Scalar):
            continue
        first, place = homes.setdefault(resource.text, (pack, resource.place))
        if first is not pack:
            diagnostics.error(
                "RP522",
                f"{first.name} and {pack.name} both name their cards {resource.text}",
                resource.place,
                help="give one of them another `identity.resource`",
                related=(Related(f"the resource of {first.name}", place),),
            )


def _report_devices(matches: list[_Match], diagnostics: Diagnostics) -> None:
    for one, other in combinations(matches, 2):
        shared = "" if one.pack is other.pack or one.vendor != other.vendor else _shared(one, other)
        if shared:
            diagnostics.error(
                "RP521",
                f"{one.pack.name} and {other.pack.name} both match PCI devices of vendor {one.vendor} {shared}",
                other.place,
                help="narrow one of them: a longer class prefix, `devices`, or `except`",
                related=(Related(f"the match of {one.pack.name}", one.place),),
            )


def _shared(one: _Match, other: _Match) -> str:
    """What both match, in words; empty when nothing.

    A device id says nothing of its class, so a class on one side and a device on the other may meet unless it is excluded.
    """
    for mine in one.classes:
        for theirs in other.classes:
            if mine.startswith(theirs) or theirs.startswith(mine):
                return f"and class {max(mine, theirs, key=len)}"
    for first, second in ((one, other), (other, one)):
        for device in first.devices:
            if device in first.excluded or device in second.excluded:
                continue
            if second.classes or device in second.devices:
                return f"and device {device}"
    return ""


def _matches(pack: Pack) -> Iterable[_Match]:
    pci = _identity(pack, "pci")
    for item in pci.items if isinstance(pci, Seq) else ():
        vendor = item.get("vendor") if isinstance(item, Map) else None
        if isinstance(item, Map) and isinstance(vendor, Scalar):
            yield _Match(
                pack,
                vendor.place,
                vendor.text,
                _texts(item.get("classPrefixes")),
                _texts(item.get("devices")),
                _texts(item.get("except")),
            )


def _identity(pack: Pack, key: str) -> Node | None:
    identity = pack.spec.get("identity")
    return identity.value.get(key) if identity is not None and isinstance(identity.value, Map) else None


def _texts(node: Node | None) -> tuple[str, ...]:
    return tuple(item.text for item in node.items if isinstance(item, Scalar)) if isinstance(node, Seq) else ()
