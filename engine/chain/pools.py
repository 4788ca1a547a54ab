"""Pools: which flavors are in each, and what a type made from the pool would be shown as.

Only for making types: what feeds a queue is decided by labels (`matching`), so that people's types are served alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.chain.book import FlavorEntry
from engine.chain.changes import Condition
from engine.sections.pool import Pool

KIND = "InstanceType"


@dataclass(frozen=True, slots=True)
class PoolView:
    """A pool as its flavors describe it: the least product, and the maker of the cards."""

    pool: Pool
    product: str | None
    manufacturer: str | None


class Pools:
    """The pools that have flavors."""

    def __init__(self) -> None:
        self._members: dict[str, dict[str, FlavorEntry]] = {}
        self._of_flavor: dict[str, str] = {}

    def put(self, flavor: str, entry: FlavorEntry | None) -> set[str]:
        """The flavor is in its entry's pool now, or gone. Returns pools that gained a flavor or changed."""
        before = self._of_flavor.pop(flavor, None)
        if before is not None:
            del self._members[before][flavor]
            if not self._members[before]:
                del self._members[before]
        if entry is None:
            return set()
        self._of_flavor[flavor] = entry.pool.name
        self._members.setdefault(entry.pool.name, {})[flavor] = entry
        return {entry.pool.name}

    def names(self) -> list[str]:
        """The pools that have flavors, sorted."""
        return sorted(self._members)

    def flavors(self, name: str) -> list[str]:
        """The flavors of a pool, sorted."""
        return sorted(self._members.get(name, ()))

    def pool_of(self, flavor: str) -> str | None:
        """The pool that a flavor is in."""
        return self._of_flavor.get(flavor)

    def view(self, name: str) -> PoolView | None:
        """The pool, or None when no flavor is in it.

        Shape: of pools that differ under one name, the least is taken (`differ` says so).
        """
        members = self._members.get(name)
        if not members:
            return None
        entries = members.values()
        pool = min((entry.pool for entry in entries), key=_order)
        cards = [entry.fields.accelerator for entry in entries if entry.fields.accelerator is not None]
        if pool.acceleratable:
            products = [card.product for card in cards]
        else:
            products = [entry.fields.cpu.name for entry in entries if entry.fields.cpu.name]
        return PoolView(pool, min(products, default=None), min((card.manufacturer for card in cards), default=None))

    def condition(self, name: str) -> Condition | None:
        """Pools of this name that are not one pool."""
        members = self._members.get(name, {})
        pools = {entry.pool for entry in members.values()}
        if len(pools) <= 1:
            return None
        shown = " and ".join(f'"{flavor}"' for flavor in sorted(members)[:2])
        return Condition(KIND, name, "PoolsDiffer", f"flavors such as {shown} describe this pool differently")


def _order(pool: Pool) -> tuple[object, ...]:
    return pool.acceleratable, pool.general_group, pool.accelerator_group or "", pool.os, pool.arch, pool.base
