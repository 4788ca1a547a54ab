"""The NodeFeatures and Nodes as last seen, what vanished and when, and what passes left behind: a neighbourhood on demand.

Waits for nothing and writes nothing; told of changes by whoever watches, with the time of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

from engine.features.bookkeeping import read_nfd
from engine.features.neighbourhood import NO_MEMORY, Gone, Memory, Neighbourhood
from engine.features.objects import FeatureObject, NodeView
from engine.features.presence import is_spent

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Permission:
    """What a standing against a real NFD allows; see `foreign`."""

    may_write: bool = True
    may_adopt: bool = True


class FeatureBook:
    """All Nodes and what asks something of them. Every change answers with the Nodes it concerns, sorted."""

    def __init__(self, absence_grace_seconds: float) -> None:
        self.listed_seconds: float | None = None
        self.permission = Permission()
        self._grace_seconds = absence_grace_seconds
        self._nodes: dict[str, NodeView] = {}
        self._objects: dict[str, dict[Key, FeatureObject]] = {}
        self._targets: dict[Key, str] = {}
        self._gone: dict[str, dict[Key, Gone]] = {}
        self._memory: dict[str, Memory] = {}
        self._alike: WeakValueDictionary[int, Memory] = WeakValueDictionary()
        self._direct: dict[str, Mapping[str, str]] = {}

    def nodes(self) -> list[str]:
        """All Nodes by name."""
        return sorted(self._nodes)

    def put_object(self, seen: FeatureObject) -> list[str]:
        """An object is there, or has changed. It leaves the Node it was for before at once: that was said, not lost."""
        key = (seen.namespace, seen.name)
        before = self._targets.get(key)
        if before is not None:
            known = self._objects[before][key]
            if known == seen or _is_older(seen.resource_version, known.resource_version):
                return []
        if before is not None and before != seen.target:
            self._drop(before, key)
        if seen.target:
            self._targets[key] = seen.target
            self._objects.setdefault(seen.target, {})[key] = seen
            self._gone.get(seen.target, {}).pop(key, None)
        return sorted(name for name in {before, seen.target} if name and name in self._nodes)

    def remove_object(self, namespace: str, name: str, now_seconds: float) -> list[str]:
        """An object vanished."""
        key = (namespace, name)
        target = self._targets.get(key)
        if target is None:
            return []
        vanished = self._objects[target][key]
        self._drop(target, key)
        if target in self._nodes:
            self._gone.setdefault(target, {})[key] = Gone(vanished, now_seconds)
        return [target] if target in self._nodes else []

    def put_node(self, seen: NodeView) -> list[str]:
        """A Node is there, or has changed; a heartbeat changes nothing here but the version to write against."""
        before = self._nodes.get(seen.name)
        if before is not None and _is_older(seen.resource_version, before.resource_version):
            return []
        self._nodes[seen.name] = seen
        if before is not None and before.uid != seen.uid:
            self._forget(seen.name)
        elif before is not None and _says_the_same(before, seen):
            return []
        return [seen.name]

    def remove_node(self, name: str) -> None:
        """A Node is gone, and with it everything remembered of it."""
        self._nodes.pop(name, None)
        self._forget(name)

    def put_direct_labels(self, name: str, labels: Mapping[str, str]) -> list[str]:
        """Labels that the worker puts on a Node itself."""
        if self._direct.get(name, {}) == labels:
            return []
        self._direct[name] = dict(labels)
        return [name] if name in self._nodes else []

    def node(self, name: str) -> NodeView | None:
        """A Node."""
        return self._nodes.get(name)

    def objects(self, name: str) -> tuple[FeatureObject, ...]:
        """The objects that are for a Node now."""
        return tuple(self._objects.get(name, {}).values())

    def neighbourhood(self, name: str, now_seconds: float) -> Neighbourhood | None:
        """What a pass over a Node may see; None for a Node that is not there."""
        node = self._nodes.get(name)
        if node is None:
            return None
        here = self.objects(name)
        gone = self._gone.get(name, {})
        for key in [key for key, each in gone.items() if is_spent(each, here, now_seconds, self._grace_seconds)]:
            del gone[key]
        return Neighbourhood(
            node=node,
            objects=here,
            now_seconds=now_seconds,
            gone=tuple(gone[key] for key in sorted(gone)),
            listed_seconds=self.listed_seconds,
            may_write=self.permission.may_write,
            may_adopt=self.permission.may_adopt,
            direct_labels=self._direct.get(name, {}),
            memory=self._memory.get(name, NO_MEMORY),
        )

    def remember(self, name: str, memory: Memory) -> None:
        """What a pass left behind, once its actions are done. Cost: 3 kB for all Nodes of a kind together."""
        if name in self._nodes:
            # By a hash and no more: where every Node is unlike, keys that hold labels would cost what they should save.
            kind = hash((memory.owned, tuple(memory.labels.items())))
            alike = self._alike.setdefault(kind, memory)
            self._memory[name] = alike if alike == memory else memory

    def _drop(self, target: str, key: Key) -> None:
        del self._targets[key]
        objects = self._objects[target]
        del objects[key]
        if not objects:
            del self._objects[target]

    def _forget(self, name: str) -> None:
        self._gone.pop(name, None)
        self._memory.pop(name, None)


def nfd_has_written(before: NodeView, after: NodeView) -> bool:
    """Whether a change of a Node can only be a real NFD's: its lists gained a key, and we only ever take some out."""
    if before.annotations == after.annotations:
        return False
    old, new = read_nfd(before.annotations), read_nfd(after.annotations)
    return not (new.labels <= old.labels and new.annotations <= old.annotations)


def _is_older(seen: str, known: str) -> bool:
    """A watch tells late what the answer to a write has told already."""
    return seen.isdecimal() and known.isdecimal() and int(seen) < int(known)


def _says_the_same(before: NodeView, after: NodeView) -> bool:
    # Tuples look first whether a map is the same one, as it is after a heartbeat; maps themselves do not.
    return (before.labels, before.annotations) == (after.labels, after.annotations)
