"""Things that go wrong between a client and an API server, switched on by a test.

One `Faults` a server; a transport of its own (`FakeTransport`) can have further ones, for one process of several.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.cluster.errors import Unreachable
from engine.cluster.transport import Request


@dataclass
class Storm:
    """Answers every request that is selected with a status instead of doing it. `left` None: until taken away."""

    code: int
    retry_after_seconds: int | None = None
    left: int | None = None
    selects: Callable[[Request], bool] = lambda _request: True


@dataclass
class Faults:
    """All off at first."""

    is_down: bool = False
    storm: Storm | None = None
    cut_next_body_at: int | None = None
    """The next body that is at least this long ends in a cut connection after so many bytes."""
    cuts_at_most: int = 1
    lose_answers: int = 0
    """So many writes are carried out, but their answers never arrive."""
    close_watches_at_once: bool = False
    chunk_bytes: int = 0
    """Bodies come in pieces of this size."""
    chunk_seconds: float = 0.0
    """A slow reader: the time between two pieces."""
    before: Callable[[Request], None] = lambda _request: None
    """May raise, to stop a process at a point of its work."""
    _is_open: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._is_open.set()

    def pause(self) -> None:
        """The server takes requests and does not answer them."""
        self._is_open.clear()

    def resume(self) -> None:
        """What waited is answered now."""
        self._is_open.set()

    async def admit(self, request: Request) -> Storm | None:
        """Before a request is handled. Raises: Unreachable."""
        self.before(request)
        await self._is_open.wait()
        if self.is_down:
            raise Unreachable("the API server gave no answer", where=request.path, why="connection refused")
        storm = self.storm
        if storm is None or not storm.selects(request):
            return None
        if storm.left is not None:
            storm.left -= 1
            if storm.left <= 0:
                self.storm = None
        return storm

    def loses_answer(self, request: Request) -> bool:
        """This answer never arrives."""
        if request.method == "GET" or not self.lose_answers:
            return False
        self.lose_answers -= 1
        return True

    def cut_for(self, length: int | None) -> int | None:
        """Where the body is cut, if it is. `length` None: a stream."""
        at = self.cut_next_body_at
        if at is None or (length is not None and length <= at):
            return None
        self.cuts_at_most -= 1
        if self.cuts_at_most <= 0:
            self.cut_next_body_at, self.cuts_at_most = None, 1
        return at


async def open_gate(faults: Faults) -> None:
    """Waits while the server is paused."""
    await faults._is_open.wait()
