"""A watch: bytes in any pieces to events in order.

No limit on a line's length (an event of a large object is over 1 MB), no reconnecting: that is the informer's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from engine.cluster.caller import Caller
from engine.cluster.decode import WatchEvent, decode_event
from engine.cluster.errors import Status, Unreachable, status_error
from engine.cluster.resources import T
from engine.cluster.transport import Request

BURST_BYTES: Final = 64 * 1024
"""A piece of this size is part of a burst, which is read on without a rest: it would only become longer. Chosen: as much as a
response holds at once."""


class LineSplitter:
    """Pieces in, whole lines out; what is left when a stream ends was cut and is dropped."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes. Cost: linear in the bytes, however small the pieces."""
        first, *rest = piece.split(b"\n")
        self._pieces.append(first)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces = [rest[-1]]
        return [line for line in lines if line]


async def watch_events(
    caller: Caller, request: Request, struct: type[T], idle_seconds: float, rest_seconds: float = 0.0
) -> AsyncGenerator[WatchEvent[T], None]:
    """The events of one watch request. Raises: Gone, ApiError, Unreachable, BadObject (the stream is garbage).

    Cost: with `rest_seconds` an event is told at once and those of so long after it together: a process that is woken for one
    event at a time needs several times as long for each.
    """
    where = f"watch {request.path}"
    response = await caller.open(request)
    try:
        splitter = LineSplitter()
        chunks = response.chunks()
        while True:
            try:
                # The server sends a bookmark about once a minute, so silence means that nobody is there.
                async with asyncio.timeout(idle_seconds):
                    piece = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise Unreachable("a watch went silent", where=where, why=f"nothing for {idle_seconds:g} s") from error
            for line in splitter.feed(piece):
                event = decode_event(line, struct, where)
                if isinstance(event, Status):
                    raise status_error(event, where)
                yield event
            if rest_seconds and len(piece) < BURST_BYTES:
                response.pause()
                await caller.clock.sleep(rest_seconds)
                response.resume()
    finally:
        response.close()
