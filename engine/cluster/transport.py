"""How a request travels: the seam below everything else in this package.

`engine.cluster.http` sends it over a socket; the tests' in-memory API server answers it in place. Nothing here retries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `path` starts with a slash; query values are not yet quoted."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    is_stream: bool = False


class Response(Protocol):
    """The answer. Header names are lower case."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    async def read(self) -> bytes:
        """The whole body. Raises: Unreachable: the connection was cut."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises: Unreachable: the connection was cut."""
        ...

    def pause(self) -> None:
        """Take nothing off the wire until `resume`: what comes waits there, and is taken in one go."""
        ...

    def resume(self) -> None:
        """Read on."""
        ...

    def close(self) -> None:
        """Give the connection up; may be called twice."""
        ...


class Transport(Protocol):
    """Carries requests to one API server."""

    async def request(self, request: Request) -> Response:
        """The answer's head. Raises: Unreachable."""
        ...

    async def close(self) -> None:
        """Release sockets."""
        ...
