"""Requests over a socket: one aiohttp session for one API server.

No retries, no decoding. The session trusts no environment (proxies, netrc): what a process talks to is in its arguments.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from engine.cluster.errors import Unreachable
from engine.cluster.session import Connection
from engine.cluster.transport import Request

CONNECT_SECONDS: Final = 10.0
KEEPALIVE_SECONDS: Final = 15
"""A peer that vanished without a word is noticed after 15 + 3 × 5 s."""
IDLE_SECONDS: Final = 60.0
"""How long an unused connection is kept: less than the 90 s of an API server, and so long that an answer that somebody waits
for seldom begins with a handshake."""


class HttpResponse:
    """An aiohttp response behind the door's seam."""

    def __init__(self, response: aiohttp.ClientResponse, where: str) -> None:
        self._response = response
        self._where = where

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self._response.headers.items()}

    async def read(self) -> bytes:
        try:
            return await self._response.read()
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(error, self._where) from error

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(error, self._where) from error

    def pause(self) -> None:
        if (transport := self._transport()) is not None:
            # TLS takes records on and on until its own buffer is full, which is 256 KiB unless it is told otherwise; each
            # would wake this process. What it has taken of a record it keeps elsewhere, so an empty buffer is no dead end.
            limit = getattr(transport, "set_read_buffer_limits", None)
            if limit is not None:
                limit(high=1, low=0)
            transport.pause_reading()

    def resume(self) -> None:
        if (transport := self._transport()) is not None:
            transport.resume_reading()

    def _transport(self) -> asyncio.Transport | None:
        """None once the connection was given back, or is lost."""
        connection = self._response.connection
        return None if connection is None else connection.transport

    def close(self) -> None:
        # A body read to its end lets the connection be used again; anything else must not.
        if self._response.content.at_eof():
            self._response.release()
        else:
            self._response.close()


class HttpTransport:
    """One session; use it as an async context manager, or close it."""

    def __init__(self, connection: Connection, *, user_agent: str = "engine") -> None:
        self._connection = connection
        connector = aiohttp.TCPConnector(
            # Watches are as many as kinds, and a client bounds its calls; a limit here would make a lease's renewal wait.
            limit=0,
            keepalive_timeout=IDLE_SECONDS,
            ssl=connection.ssl_context if connection.ssl_context is not None else True,
            socket_factory=_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            trust_env=False,
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": user_agent, "Accept": "application/json"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(self, request: Request) -> HttpResponse:
        headers = dict(request.headers)
        header = await self._connection.credentials.authorization()
        if header is not None:
            headers["Authorization"] = header
        url = self._connection.server + request.path
        try:
            response = await self._session.request(
                request.method,
                url,
                params=dict(request.query),
                data=request.body,
                headers=headers,
                allow_redirects=False,
                server_hostname=self._connection.server_name,
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(error, f"{request.method} {url}") from error
        if response.status == 401:
            self._connection.credentials.refused()
        return HttpResponse(response, f"{request.method} {url}")

    async def close(self) -> None:
        await self._session.close()


def _unreachable(error: BaseException, where: str) -> Unreachable:
    why = str(error) or type(error).__name__
    remedy = (
        "check the server's name and the certificate authority" if isinstance(error, aiohttp.ClientSSLError) else ""
    )
    return Unreachable("the API server gave no answer", where=where, why=why, remedy=remedy)


def _socket(info: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, _, _ = info
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    return made
