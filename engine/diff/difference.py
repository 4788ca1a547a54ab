"""The difference between two plans as values: what is renamed, what comes and goes, what has another value.

Finds nothing (that is `compare`) and prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

GROUPS: Final = ("renamed", "gone", "new", "labels", "capacity", "quotas", "types", "injections", "conditions")
"""The parts of a difference, in the order in which they matter."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """What bears another name.

    Shape: `kind` is Resource, AcceleratorKey (which stands in label keys and in names), ResourceFlavor, InstanceType (its
    ClusterQueue has that name too), LocalQueue or Topology; `new` are several names where one thing becomes several; `nodes` are those it is about, sorted, empty for
    what belongs to no node.
    """

    kind: str
    old: str
    new: tuple[str, ...]
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Named:
    """What is there on one side only, and is no other's new name."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class OnNodes:
    """A label or an amount of capacity that differs. None: it is not there. Shape: `key` is the new one."""

    key: str
    old: str | None
    new: str | None
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of one object that differs, by path. None: it is not there."""

    kind: str
    name: str
    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Injected:
    """What a container of a mode gets otherwise. Shape: `products` are the kinds of cards, in the order met."""

    maker: str
    products: tuple[str, ...]
    mode: str
    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Told:
    """A condition that is there on one side only."""

    kind: str
    name: str
    reason: str
    message: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs; each part sorted, `labels` and `capacity` by key."""

    renamed: tuple[Renamed, ...] = ()
    gone: tuple[Named, ...] = ()
    new: tuple[Named, ...] = ()
    labels: tuple[OnNodes, ...] = ()
    capacity: tuple[OnNodes, ...] = ()
    quotas: tuple[Field, ...] = ()
    types: tuple[Field, ...] = ()
    injections: tuple[Injected, ...] = ()
    conditions: tuple[Told, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in GROUPS)

    def as_dict(self) -> dict[str, Any]:
        """The difference as plain data; every part is there, an empty one as an empty list."""
        return {name: [asdict(one) for one in getattr(self, name)] for name in GROUPS}


def leaf_changes(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Paths at which two plain values differ, with both values; None where there is none.

    Shape: maps go key by key; lists are compared as wholes, item by item: an item of one list only is on its own side.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            yield from leaf_changes(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(old, list) and isinstance(new, list):
        if old == new:
            return
        gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
        if not gone and not come:
            yield path, old, new  # another order
        for number in range(max(len(gone), len(come))):
            yield path, _nth(gone, number), _nth(come, number)
    elif old != new:
        if isinstance(old, (dict, list)) and new is None:
            yield from leaf_changes(old, type(old)(), path)
        elif isinstance(new, (dict, list)) and old is None:
            yield from leaf_changes(type(new)(), new, path)
        else:
            yield path, old, new


def _nth(items: list[Any], number: int) -> Any:
    return items[number] if number < len(items) else None
