"""Which PCI functions of a host are accelerators of a maker that has a pack.

Says nothing about what a driver can do with them: a card that no library answers for is known, and serves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.domain.facts import PciFunction


@dataclass(frozen=True, slots=True)
class PciMatch:
    """One row of an identity's `pci`: a vendor with class prefixes, device ids or both, less the exceptions."""

    vendor: str
    class_prefixes: tuple[str, ...]
    devices: frozenset[str]
    exceptions: frozenset[str]

    def matches(self, function: PciFunction) -> bool:
        """Whether a function is one of these; a row that names neither a class nor a device matches nothing."""
        if function.vendor != self.vendor or function.device in self.exceptions:
            return False
        if not self.class_prefixes and not self.devices:
            return False
        in_class = not self.class_prefixes or function.class_code.startswith(self.class_prefixes)
        return in_class and (not self.devices or function.device in self.devices)


def pci_matches(identities: Iterable[Mapping[str, Any]]) -> tuple[PciMatch, ...]:
    """The rows of all makers' identities."""
    return tuple(
        PciMatch(
            vendor=row["vendor"],
            class_prefixes=tuple(row.get("classPrefixes") or ()),
            devices=frozenset(row.get("devices") or ()),
            exceptions=frozenset(row.get("except") or ()),
        )
        for identity in identities
        for row in identity.get("pci") or ()
    )


def has_known_device(functions: Iterable[PciFunction], matches: tuple[PciMatch, ...]) -> bool:
    """Whether one of the functions is a known accelerator."""
    return any(match.matches(function) for function in functions for match in matches)
