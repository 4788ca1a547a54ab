"""What the chain holds of each kind, and what one apply changed of it.

Compares fields with fields; who looks at which objects again is the chain's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from engine.chain.changes import Changed, Condition

KINDS: Final = (
    "Node",
    "Topology",
    "ResourceFlavor",
    "InstanceTypeFlavor",
    "InstanceType",
    "ClusterQueue",
    "LocalQueue",
)
"""Kinds in the order in which they come about. `Node` stands for all objects of one node."""


class Journal:
    """The objects last said, and what differs since."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
        self._set: dict[str, dict[str, Any]] = {}
        self._gone: dict[str, set[str]] = {}

    def of(self, kind: str) -> Mapping[str, Any]:
        """All objects of a kind, by name."""
        return self._said[kind]

    def sorted(self, kind: str) -> Iterator[Any]:
        """All objects of a kind, sorted by name."""
        said = self._said[kind]
        return (said[name] for name in sorted(said))

    def say(self, kind: str, names: Iterable[str], fields: Callable[[str], Any]) -> None:
        """These objects are as `fields` has them now; None: there is none."""
        said = self._said[kind]
        for name in names:
            now = fields(name)
            before = said.get(name)
            if now is None:
                if before is not None:
                    del said[name]
                    self._set.get(kind, {}).pop(name, None)
                    self._gone.setdefault(kind, set()).add(name)
            elif now != before:
                said[name] = now
                self._set.setdefault(kind, {})[name] = now
                self._gone.get(kind, set()).discard(name)

    def take(self, conditions: Iterable[Condition]) -> Changed:
        """What changed since the last take, and nothing after that."""
        objects = {
            kind: {name: self._set[kind][name] for name in sorted(self._set[kind])}
            for kind in KINDS
            if self._set.get(kind)
        }
        removed = {kind: tuple(sorted(self._gone[kind])) for kind in KINDS if self._gone.get(kind)}
        self._set, self._gone = {}, {}
        return Changed(objects, removed, tuple(sorted(conditions)))
