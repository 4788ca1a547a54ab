"""What Workloads were promised and do not hold yet: from the verdict until the ledger shows that it was taken.

The ledger counts and names nobody, so what is taken on a node goes to its oldest promise of that kind. A card that somebody
takes without a Workload can therefore hide a promise; the other way, that a promise stays after it was kept, does not happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from engine.cluster.resources import ObjectKey
from engine.domain.demand import Demand
from engine.domain.holdings import Holding
from engine.domain.room import Load

Reach = Callable[[str], Collection[str]]
"""The nodes of a flavor."""


@dataclass(slots=True)
class _Promise:
    """Shape: `left` goes with `loads`, and says how much of each is not taken yet."""

    since: str
    loads: tuple[Load, ...]
    left: list[int]
    held: Counter[tuple[str, Holding]] = field(default_factory=Counter)


class Promises:
    """By Workload."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._made: dict[ObjectKey, _Promise] = {}
        self._open: set[ObjectKey] = set()
        self._held: Counter[tuple[str, Holding]] = Counter()

    @property
    def is_kept(self) -> bool:
        """Everything that was promised is held."""
        return not self._open

    def since(self, key: ObjectKey) -> str | None:
        """The reservation that a Workload's promise is about; None where it has none."""
        found = self._made.get(key)
        return None if found is None else found.since

    def make(self, key: ObjectKey, since: str, loads: Iterable[Load]) -> None:
        """A promise that is being made: nothing of it can be in a ledger."""
        self.drop(key)
        kept = tuple(loads)
        self._made[key] = _Promise(since, kept, [each.grants for each in kept])
        if kept:
            self._open.add(key)

    def meet(
        self, key: ObjectKey, since: str, loads: Iterable[Load], held: Callable[[str], Mapping[Holding, int]]
    ) -> None:
        """A promise that somebody made: what is held on its nodes and is no other promise's is its own.

        Shape: `held` gives what is held on a node. The oldest is to be met first.
        """
        self.make(key, since, loads)
        for at, load in enumerate(self._made[key].loads):
            holding = holding_of(load)
            for node in self._nodes(load):
                spare = held(node).get(holding, 0) - self._held[node, holding]
                self._settle(key, at, node, spare)

    def drop(self, key: ObjectKey) -> None:
        """Nothing is promised to a Workload any more."""
        gone = self._made.pop(key, None)
        self._open.discard(key)
        if gone is not None:
            self._held -= gone.held

    def clear(self) -> None:
        """Nothing is known."""
        self._made.clear()
        self._open.clear()
        self._held.clear()

    def take(self, node: str, taken: Mapping[Holding, int]) -> None:
        """So much was taken on a node."""
        for holding, count in taken.items():
            left = count
            for key, promise in self._by_age():
                for at, load in enumerate(promise.loads):
                    if self._is_of(load, node, holding):
                        left -= self._settle(key, at, node, left)

    def outstanding(
        self, but: ObjectKey, nodes: Mapping[str, Collection[str]], ahead: Mapping[str, Mapping[Holding, int]]
    ) -> list[Load]:
        """What others were promised on these nodes, given by flavor, and do not hold, the oldest first.

        Shape: `ahead` is what was taken on nodes beyond what `take` was told of.
        """
        beyond = {(node, holding): count for node, taken in ahead.items() for holding, count in taken.items() if count}
        loads: list[Load] = []
        for key, promise in self._by_age():
            for load, left in zip(promise.loads, promise.left, strict=True):
                grants = left
                for (node, holding), count in beyond.items():
                    if count and self._is_of(load, node, holding):
                        kept = min(grants, count)
                        beyond[node, holding] = count - kept
                        grants -= kept
                if grants > 0 and key != but and _is_on(load, nodes):
                    loads.append(replace(load, grants=grants))
        return loads

    def _settle(self, key: ObjectKey, at: int, node: str, count: int) -> int:
        promise = self._made[key]
        settled = min(count, promise.left[at])
        if settled <= 0:
            return 0
        what = (node, holding_of(promise.loads[at]))
        promise.left[at] -= settled
        promise.held[what] += settled
        self._held[what] += settled
        if not any(promise.left):
            self._open.discard(key)
        return settled

    def _is_of(self, load: Load, node: str, holding: Holding) -> bool:
        if holding_of(load) != holding:
            return False
        return node == load.node or (load.node is None and node in self._reach(load.flavor))

    def _nodes(self, load: Load) -> Iterable[str]:
        return self._reach(load.flavor) if load.node is None else (load.node,)

    def _by_age(self) -> list[tuple[ObjectKey, _Promise]]:
        return sorted(((key, self._made[key]) for key in self._open), key=lambda each: (each[1].since, each[0]))


def holding_of(load: Load) -> Holding:
    """What of a ledger a load comes to be."""
    return Holding(load.scope.key, load.family, load.profile)


def nodes_of(demands: Iterable[Demand], reach: Mapping[str, Collection[str]]) -> dict[str, Collection[str]]:
    """The nodes that demands are about, by flavor: all of the flavor's unless Kueue has chosen some."""
    found: dict[str, Collection[str]] = {}
    for each in demands:
        named = {ask.node for ask in each.asks if ask.node is not None}
        is_anywhere = any(ask.node is None for ask in each.asks)
        known = found.get(each.flavor, ())
        if each.flavor in reach:
            found[each.flavor] = reach[each.flavor] if is_anywhere else {*known, *named}
    return found


def _is_on(load: Load, nodes: Mapping[str, Collection[str]]) -> bool:
    if load.node is None:
        return load.flavor in nodes
    return any(load.node in each for each in nodes.values())
