"""What the flavors come to: pools, rows of the catalogue, and what each type is fed with and adds up to.

The chain's own counters, fed by the fleet with flavors and by the types part with types. Whether an object for any of
it is on the cluster is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.chain.book import FlavorBook, FlavorEntry
from engine.chain.catalogue import Catalogue
from engine.chain.changes import Condition
from engine.chain.fields import CatalogueRow
from engine.chain.flavors import FlavorIndex
from engine.chain.matching import Matching
from engine.chain.pools import Pools, PoolView
from engine.chain.tally import TypeTally
from engine.worker.asking import Keys

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Touched:
    """Names of what may differ after a change. Shape: a pool's, its type's and its queue's name are one text."""

    flavors: frozenset[str] = _NONE
    topologies: frozenset[str] = _NONE
    pools: frozenset[str] = _NONE
    rows: frozenset[str] = _NONE
    types: frozenset[str] = _NONE
    nodes: frozenset[str] = _NONE


class Supply:
    """The pools, rows and types. It reads the fleet's index and book, and never changes them."""

    def __init__(self, index: FlavorIndex) -> None:
        self._index = index
        self._book: FlavorBook | None = None
        self._pools = Pools()
        self._catalogue = Catalogue()
        self._matching = Matching()
        self._tallies: dict[str, TypeTally] = {}
        self.pools_touched: set[str] = set()
        self.rows_touched: set[str] = set()
        self.types_touched: set[str] = set()

    def read(self, book: FlavorBook) -> None:
        """Flavors are looked up in this book from now on."""
        self._book = book

    def put_flavor(self, name: str) -> None:
        """The flavor of that name is another one now, new, or gone."""
        entry = self.entry(name)
        self.types_touched.update(self._matching.queues(name))
        self.rows_touched |= self._catalogue.put(name, None if entry is None else entry.row)
        before = self._pools.pool_of(name)
        self.pools_touched |= self._pools.put(name, entry) | ({before} if before else set())
        if entry is None:
            self._matching.drop_flavor(name)
        else:
            self._matching.put_flavor(name, entry.fields.labels)
            self.types_touched.update(self._matching.queues(name))

    def touch_flavor(self, name: str) -> None:
        """Cards behind the flavor are taken or free, and no field of it differs."""
        self.types_touched.update(self._matching.queues(name))

    def put_type(self, name: str, selector: Mapping[str, str]) -> None:
        """A type is there and takes flavors by these labels; by none, it is fed with nothing."""
        self._matching.put_queue(name, selector)
        self._tallies.setdefault(name, TypeTally())

    def drop_type(self, name: str) -> None:
        """A type is gone."""
        self._matching.drop_queue(name)
        self._tallies.pop(name, None)

    def selector(self, name: str) -> Mapping[str, str] | None:
        """The labels by which a type takes flavors; None when it is not here."""
        return self._matching.selector(name)

    def entry(self, flavor: str) -> FlavorEntry | None:
        """What Nodes come to, of the flavor of that name."""
        return self._book.entry(flavor) if self._book else None

    def feeding(self, name: str) -> list[FlavorEntry]:
        """The flavors that feed a type, by name, whether or not they are on the cluster yet."""
        return [entry for flavor in self._matching.flavors(name) if (entry := self.entry(flavor))]

    def fed_by(self, flavor: str) -> list[str]:
        """The types that a flavor feeds, sorted."""
        return self._matching.queues(flavor)

    def tally(self, name: str) -> TypeTally:
        """What the Nodes behind a type add up to. Cost: the distinct shares of each flavor are compared."""
        tally = self._tallies.get(name) or TypeTally()
        fed = {entry.fields.key for entry in self.feeding(name) if entry.fields.accelerator is not None}
        for key in tally.keys() - fed:
            tally.put(key, {})
        for key in fed:
            tally.put(key, self._index.groups[key].shares)
        return tally

    def pool(self, name: str) -> PoolView | None:
        """A pool as its flavors describe it; None when no flavor is in it."""
        return self._pools.view(name)

    def pool_names(self) -> list[str]:
        """All pools that have flavors."""
        return self._pools.names()

    def pool_flavors(self, name: str) -> list[str]:
        """The names of a pool's flavors, sorted."""
        return self._pools.flavors(name)

    def pool_condition(self, name: str) -> Condition | None:
        """Where flavors disagree about a pool."""
        return self._pools.condition(name)

    def row(self, name: str) -> tuple[CatalogueRow | None, Condition | None]:
        """A row of the catalogue, and a condition where flavors disagree about it."""
        return self._catalogue.row(name)

    def row_names(self) -> list[str]:
        """All rows that flavors show."""
        return self._catalogue.names()

    def conditions(self) -> list[Condition]:
        """Where flavors disagree. Cost: looks at every pool and row."""
        rows = (self.row(name)[1] for name in self.row_names())
        pools = map(self.pool_condition, self.pool_names())
        return [each for each in (*pools, *rows) if each is not None]


def selector_of(labels: Mapping[str, str], keys: Keys) -> dict[str, str]:
    """The labels by which a type or a queue takes flavors. Shape: empty when it names neither cards nor a CPU.

    Source: specification 20 §5.2.
    """
    features = {
        key: value
        for key, value in labels.items()
        if value == "true" and key.startswith((keys.acceleratable, keys.general))
    }
    kind = labels.get(keys.is_acceleratable)
    if kind is None and not features:
        return {}
    plain = {key: labels[key] for key in (keys.os, keys.arch, keys.is_acceleratable) if labels.get(key)}
    return plain | features
