"""Who we are to the API server: a token in a file that is rotated, a fixed header, or an exec plugin.

Client certificates are part of the TLS context (`engine.cluster.session`), not of this file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol

from engine.cluster.clock import Clock
from engine.cluster.errors import SettingsError

REREAD_SECONDS: Final = 60.0
"""The kubelet renews a projected token long before it ends (at 80 % of an hour or more); a minute is plenty."""


class Credentials(Protocol):
    """Gives the Authorization header."""

    async def authorization(self) -> str | None:
        """The header's value, None when the certificate says it all."""
        ...

    def refused(self) -> None:
        """The server answered 401: what is remembered is not to be used again."""
        ...


class FixedCredentials:
    """A header that never changes, or none."""

    def __init__(self, header: str | None = None) -> None:
        self._header = header

    async def authorization(self) -> str | None:
        return self._header

    def refused(self) -> None:
        """Nothing to renew."""


class TokenFile:
    """A service account token, read again every minute and after a 401."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._token = ""
        self._read_at = float("-inf")

    async def authorization(self) -> str | None:
        now = self._clock.monotonic()
        if not self._token or now - self._read_at >= REREAD_SECONDS:
            self._token = self._read()
            self._read_at = now
        return f"Bearer {self._token}"

    def refused(self) -> None:
        self._token = ""

    def _read(self) -> str:
        try:
            token = self._path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingsError(
                "the service account token cannot be read",
                where=str(self._path),
                why=error.strerror or str(error),
                remedy="mount the token (automountServiceAccountToken)",
            ) from error
        if not token:
            raise SettingsError("the service account token is empty", where=str(self._path))
        return token


class RenewedCredentials:
    """A header from a call that may take a while (an exec plugin). One call at a time, whoever asks.

    `fetch` gets True when the last answer was refused; it knows itself when its answer expires.
    """

    def __init__(self, fetch: Callable[[bool], Awaitable[str | None]]) -> None:
        self._fetch = fetch
        self._was_refused = False
        self._lock = asyncio.Lock()

    async def authorization(self) -> str | None:
        async with self._lock:
            header = await self._fetch(self._was_refused)
            self._was_refused = False
            return header

    def refused(self) -> None:
        self._was_refused = True
