"""One call to the API server: headers, time limit, repeats, and errors of this package.

Knows no kinds. A call is repeated when that can do no harm: any method after 429 (the server did not begin), reads, applies
and guarded writes after a cut connection or a 5xx. A create is not: it may have happened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.cluster.clock import Chance, Clock
from engine.cluster.counting import UNANSWERED, Call, call_of
from engine.cluster.errors import Busy, ClusterError, TooManyRequests, Unreachable, api_error
from engine.cluster.gate import WriteGate
from engine.cluster.retry import PATIENT, Backoff, RetryPolicy
from engine.cluster.transport import Request, Response, Transport


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer, read to its end."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Caller:
    """Everything a call needs beside the request. Counter: `calls`, each attempt; those made from this one share it.

    Shape: `room` bounds how many calls are under way at once; None for one that must not queue up behind others.
    """

    transport: Transport
    clock: Clock
    chance: Chance
    policy: RetryPolicy = PATIENT
    timeout_seconds: float = 30.0
    gate: WriteGate | None = None
    calls: Counter[Call] = field(default_factory=Counter)
    room: asyncio.Semaphore | None = None

    async def call(self, request: Request, *, is_repeatable: bool) -> Answer:
        """The answer's body. Raises: ApiError, Unreachable, NotLeader."""
        backoff = Backoff(self.chance, base_seconds=self.policy.base_seconds, cap_seconds=self.policy.cap_seconds)
        attempt = 1
        while True:
            try:
                if self.room is None:
                    return await self._once(request)
                async with self.room:
                    return await self._once(request)
            except (Busy, Unreachable) as error:
                if attempt >= self.policy.attempts or not (is_repeatable or isinstance(error, TooManyRequests)):
                    raise
                wait_seconds = backoff.next_seconds(retry_after(error))
                if wait_seconds > self.policy.patience_seconds:
                    raise
            attempt += 1
            await self.clock.sleep(wait_seconds)

    async def open(self, request: Request) -> Response:
        """The head of a streamed answer; the caller closes it. Raises: ApiError, Unreachable."""
        where = _where(request)
        try:
            async with asyncio.timeout(self.timeout_seconds):
                response = await self._sent(replace(request, is_stream=True))
                if response.status < 300:
                    return response
                try:
                    body = await response.read()
                finally:
                    response.close()
        except TimeoutError as error:
            raise _too_slow(where, self.timeout_seconds) from error
        raise api_error(response.status, body, where, _retry_after_header(response.headers))

    async def _once(self, request: Request) -> Answer:
        where = _where(request)
        limit_seconds = self.timeout_seconds
        if self.gate is not None and request.method != "GET":
            # A write must not be under way when somebody else may lead.
            limit_seconds = min(limit_seconds, self.gate.check())
        try:
            async with asyncio.timeout(limit_seconds):
                response = await self._sent(request)
                try:
                    body = await response.read()
                finally:
                    response.close()
        except TimeoutError as error:
            raise _too_slow(where, limit_seconds) from error
        if response.status < 300:
            return Answer(response.status, body)
        raise api_error(response.status, body, where, _retry_after_header(response.headers))

    async def _sent(self, request: Request) -> Response:
        code = UNANSWERED
        try:
            response = await self.transport.request(request)
            code = str(response.status)
        finally:
            self.calls[call_of(request, code)] += 1
        return response


def retry_after(error: ClusterError) -> float | None:
    """What the server asked for, if it did."""
    return error.retry_after_seconds if isinstance(error, Busy) else None


def _where(request: Request) -> str:
    return f"{request.method} {request.path}"


def _too_slow(where: str, seconds: float) -> Unreachable:
    return Unreachable("the API server gave no answer", where=where, why=f"none within {seconds:g} s")


def _retry_after_header(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "")
    return float(text) if text.isdigit() else None
