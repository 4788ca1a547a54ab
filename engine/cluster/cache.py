"""The objects of one kind as last seen, with indexes.

Reads only: an informer writes it. Answers are ordered by key, so that what is planned from them does not depend on arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic

from engine.cluster.objects import Broken
from engine.cluster.resources import ObjectKey, T, key_of
from engine.cluster.sharing import share

Indexer = Callable[[T], Iterable[Hashable]]
"""The values under which an object is found in an index."""


class Cache(Generic[T]):
    """Objects by key. An object that cannot be read keeps its last readable state and is named in `broken`."""

    def __init__(self) -> None:
        self._things: dict[ObjectKey, T] = {}
        self._indexers: dict[str, Indexer[T]] = {}
        self._indexes: dict[str, dict[Hashable, set[ObjectKey]]] = {}
        self.broken: dict[ObjectKey, Broken] = {}

    def add_index(self, name: str, indexer: Indexer[T]) -> None:
        """An index over everything here now and later."""
        self._indexers[name] = indexer
        self._indexes[name] = {}
        for key, thing in self._things.items():
            self._file(name, key, None, thing)

    def get(self, name: str, namespace: str = "") -> T | None:
        """One object."""
        return self._things.get(ObjectKey(namespace, name))

    def keys(self) -> list[ObjectKey]:
        """All keys, sorted."""
        return sorted(self._things)

    def __iter__(self) -> Iterator[T]:
        return iter([self._things[key] for key in sorted(self._things)])

    def __len__(self) -> int:
        return len(self._things)

    def by_index(self, name: str, value: Hashable) -> list[T]:
        """The objects under a value, by key."""
        return [self._things[key] for key in sorted(self._indexes[name].get(value, ()))]

    def index_values(self, name: str) -> set[Hashable]:
        """The values of an index under which something stands."""
        return set(self._indexes[name])

    def put(self, thing: T) -> T | None:
        """The informer's: enters an object, gives what it replaces.

        Shape: an object that is there already stays the very one that others have taken parts of; a watch repeats what the
        answer to a write has told. Of one that has changed, what is equal is taken over from the state before.
        """
        key = key_of(thing)
        self.broken.pop(key, None)
        before = self._things.get(key)
        if before == thing:
            return before
        share(thing, before)  # type: ignore[arg-type]  # whatever is decoded is a struct
        self._things[key] = thing
        for name in self._indexers:
            self._file(name, key, before, thing)
        return before

    def remove(self, key: ObjectKey) -> T | None:
        """The informer's: takes an object out."""
        self.broken.pop(key, None)
        before = self._things.pop(key, None)
        if before is not None:
            for name in self._indexers:
                self._file(name, key, before, None)
        return before

    def _file(self, name: str, key: ObjectKey, before: T | None, after: T | None) -> None:
        """Puts a key where its object belongs now."""
        index, indexer = self._indexes[name], self._indexers[name]
        old = set() if before is None else set(indexer(before))
        new = set() if after is None else set(indexer(after))
        for value in old - new:
            keys = index[value]
            keys.discard(key)
            if not keys:
                del index[value]
        for value in new - old:
            index.setdefault(value, set()).add(key)
