"""Objects by version: what etcd and the watch cache are to an API server.

Objects in here are never changed in place. Knows nothing of verbs, managers or kinds' rules.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
Key = tuple[str, str]
"""Namespace, name."""


@dataclass(frozen=True)
class Change:
    """One write. `before` and `after` are None where there is nothing."""

    version: int
    kind: str
    before: Object | None
    after: Object | None


class Store:
    """The newest objects, the changes that led to them, and lists that are being paged through."""

    def __init__(self) -> None:
        self.version = 100
        self.compacted = 0
        self.objects: dict[str, dict[Key, Object]] = {}
        self.history: list[Change] = []
        self.snapshots: dict[tuple[str, int], list[Object]] = {}
        self.epoch = 0
        self._changed = asyncio.Event()

    def get(self, kind: str, key: Key) -> Object | None:
        return self.objects.get(kind, {}).get(key)

    def all(self, kind: str, namespace: str = "") -> list[Object]:
        """By namespace and name, as an API server lists."""
        found = self.objects.get(kind, {})
        return [found[key] for key in sorted(found) if not namespace or key[0] == namespace]

    def put(self, kind: str, key: Key, body: Object) -> Object:
        """Stores a body under a new version and gives it back with that version in it."""
        self.version += 1
        before = self.get(kind, key)
        stored = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        self.objects.setdefault(kind, {})[key] = stored
        self._log(Change(self.version, kind, before, stored))
        return stored

    def remove(self, kind: str, key: Key) -> Object:
        """Takes an object out; its last body carries the version of the deletion."""
        self.version += 1
        before = self.objects[kind].pop(key)
        last = {**before, "metadata": {**before["metadata"], "resourceVersion": str(self.version)}}
        self._log(Change(self.version, kind, last, None))
        return last

    def load(self, kind: str, bodies: list[Object]) -> None:
        """Many objects at once, without history: for benchmarks and long starts."""
        for body in bodies:
            self.version += 1
            metadata = body["metadata"] | {"resourceVersion": str(self.version)}
            key = (metadata.get("namespace", ""), metadata["name"])
            self.objects.setdefault(kind, {})[key] = body | {"metadata": metadata}
        self.compact()

    def compact(self) -> None:
        """Forgets all history and every list that is being paged through, as etcd does every five minutes."""
        self.compacted = self.version
        self.history.clear()
        self.snapshots.clear()
        self._wake()

    def cut_watches(self) -> None:
        """Ends every stream that began before now."""
        self.epoch += 1
        self._wake()

    def after(self, version: int) -> list[Change]:
        """The changes since a version, oldest first."""
        # Versions in history have no gaps, so the place is known.
        start = max(0, version - (self.version - len(self.history)))
        return self.history[start:]

    async def wait(self, seconds: float | None) -> bool:
        """Returns at the next change (True) or after so many seconds (False)."""
        changed = self._changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            return False
        return True

    def _log(self, change: Change) -> None:
        self.history.append(change)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
