"""The answers of the in-memory API server: whole bodies and watches, with the faults that a connection may have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.cluster.errors import Unreachable
from tests.fakes.faults import Faults, open_gate
from tests.fakes.kinds import Kind
from tests.fakes.refusals import expired
from tests.fakes.selections import matches
from tests.fakes.store import Change, Store

Object = dict[str, Any]


class FakeResponse:
    """An answer whose body is produced as it is read."""

    def __init__(
        self, status: int, body: bytes | AsyncIterator[bytes], faults: Faults, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.headers = {"content-type": "application/json", **(headers or {})}
        self._body = body
        self._faults = faults
        self.is_closed = False

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        whole = self._body if isinstance(self._body, bytes) else None
        cut = self._faults.cut_for(None if whole is None else len(whole))
        sent = 0
        async for piece in self._pieces():
            if self.is_closed:
                return
            if cut is not None and sent + len(piece) >= cut:
                yield piece[: cut - sent]
                raise Unreachable("the connection was cut", why=f"after {cut} bytes")
            sent += len(piece)
            yield piece

    def pause(self) -> None:
        """A body is produced as it is read: what nobody reads waits anyway."""

    def resume(self) -> None:
        """Nothing was held back."""

    def close(self) -> None:
        self.is_closed = True

    async def _pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._source():
            size = self._faults.chunk_bytes or len(piece) or 1
            for at in range(0, len(piece), size):
                if self._faults.chunk_seconds:
                    await asyncio.sleep(self._faults.chunk_seconds)
                yield piece[at : at + size]

    async def _source(self) -> AsyncIterator[bytes]:
        if isinstance(self._body, bytes):
            yield self._body
            return
        async for piece in self._body:
            yield piece


@dataclass
class Watch:
    """One watch. `buffer` events of its kind behind, the server lets go of a slow reader, however far back it began."""

    store: Store
    kind: Kind
    api_version: str
    namespace: str
    labels: str
    fields: str
    version: str
    timeout_seconds: float
    has_bookmarks: bool
    bookmark_seconds: float
    faults: Faults
    buffer: int = 1000

    async def lines(self) -> AsyncIterator[bytes]:
        """The stream."""
        epoch = self.store.epoch
        cursor = int(self.version or 0)
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.timeout_seconds
        marks = loop.time() + self.bookmark_seconds
        if self.faults.close_watches_at_once:
            return
        if cursor == 0:
            cursor = self.store.version
            for body in self.store.all(self.kind.id, self.namespace):
                if matches(body, self.labels, self.fields):
                    yield self._line("ADDED", body)
        elif cursor < self.store.compacted:
            yield self._error(cursor)
            return
        has_begun = False
        while self.store.epoch == epoch:
            await open_gate(self.faults)
            if cursor < self.store.compacted:
                return
            changes = self.store.after(cursor)
            if has_begun and sum(change.kind == self.kind.id for change in changes) > self.buffer:
                return
            has_begun = True
            for change in changes:
                for line in self._event(change):
                    yield line
                cursor = change.version
                if self.store.epoch != epoch:
                    raise Unreachable("the connection was cut", why="the API server stopped")
            now = loop.time()
            if now >= ends:
                return
            if now >= marks and self.has_bookmarks:
                marks = now + self.bookmark_seconds
                cursor = max(cursor, self.store.version)
                yield self._bookmark(cursor)
            if cursor >= self.store.version:
                await self.store.wait(max(0.0, min(ends, marks if self.has_bookmarks else ends) - now))
        raise Unreachable("the connection was cut", why="the API server stopped")

    def _event(self, change: Change) -> Iterator[bytes]:
        if change.kind != self.kind.id:
            return
        was = change.before is not None and self._selects(change.before)
        is_now = change.after is not None and self._selects(change.after)
        if is_now:
            yield self._line("MODIFIED" if was else "ADDED", change.after or {})
        elif was:
            last = dict(change.before or {})
            last["metadata"] = last["metadata"] | {"resourceVersion": str(change.version)}
            yield self._line("DELETED", last)

    def _selects(self, body: Object) -> bool:
        if self.namespace and body["metadata"].get("namespace") != self.namespace:
            return False
        return matches(body, self.labels, self.fields)

    def _line(self, kind: str, body: Object) -> bytes:
        return msgspec.json.encode({"type": kind, "object": {**body, "apiVersion": self.api_version}}) + b"\n"

    def _bookmark(self, version: int) -> bytes:
        metadata = {"resourceVersion": str(version), "creationTimestamp": None}
        return self._line("BOOKMARK", {"kind": self.kind.resource.kind, "metadata": metadata})

    def _error(self, version: int) -> bytes:
        status = expired(f"too old resource version: {version} ({self.store.compacted})").status()
        return msgspec.json.encode({"type": "ERROR", "object": status}) + b"\n"
