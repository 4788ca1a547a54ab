"""The testbed's own client of the API server: JSON in and out, nothing cached, nothing clever.

Tests use it to set the scene and to look behind the back of the code under test, so it shares nothing with that code.
Threads may share one client; each has its own connection. Connections are made inside the run's network.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from tests.cluster.errors import ClusterError

MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"
JSON: Final = "application/json"

TIMEOUT_SECONDS: Final = 30.0
_BROKEN: Final = (http.client.RemoteDisconnected, http.client.CannotSendRequest, ConnectionError, ssl.SSLEOFError)

Object = dict[str, Any]


class Network(Protocol):
    """Whatever can put this thread into the run's network."""

    def entered(self) -> AbstractContextManager[None]: ...


class ApiError(ClusterError):
    """The API server said no."""

    def __init__(self, status: int, reason: str, message: str, asked: str) -> None:
        super().__init__(f"{asked}: {status} {reason}: {message}")
        self.status = status
        self.reason = reason


class Api:
    """One user's view of the API server."""

    def __init__(
        self, network: Network, port: int, context: ssl.SSLContext, *, token: str | None = None, agent: str = "testbed"
    ) -> None:
        self._network = network
        self._port = port
        self._context = context
        self._headers = {"Accept": JSON, "User-Agent": agent}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._own = threading.local()
        self._open: set[http.client.HTTPSConnection] = set()
        self._watches: set[http.client.HTTPSConnection] = set()

    def another(self) -> Api:
        """The same user, with connections of its own."""
        made = Api(self._network, self._port, self._context)
        made._headers = self._headers
        return made

    def get(self, path: str, **query: Any) -> Object:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Object, **query: Any) -> Object:
        return self.request("POST", path, body, query=query)

    def put(self, path: str, body: Object, **query: Any) -> Object:
        return self.request("PUT", path, body, query=query)

    def patch(self, path: str, body: Any, kind: str = MERGE, **query: Any) -> Object:
        return self.request("PATCH", path, body, kind=kind, query=query)

    def apply(self, path: str, body: Object, manager: str = "testbed") -> Object:
        """Server-side apply, with force."""
        return self.patch(path, body, APPLY, fieldManager=manager, force="true")

    def make_or_patch(self, collection: str, manifest: Object) -> Object:
        """Made, or patched when it is there; status is left out of a patch."""
        try:
            return self.post(collection, manifest)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
        changed = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "status")}
        return self.patch(f"{collection}/{manifest['metadata']['name']}", changed)

    def delete(self, path: str, body: Object | None = None, **query: Any) -> Object:
        return self.request("DELETE", path, body, query=query)

    def find(self, path: str, **query: Any) -> Object | None:
        """An object, or None when it is not there."""
        try:
            return self.get(path, **query)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def text(self, path: str) -> str:
        """The answer as it comes, for `/readyz` and `/metrics`."""
        return self._exchange("GET", path, None, JSON, {}).decode()

    def request(
        self, method: str, path: str, body: Any = None, *, kind: str = JSON, query: dict[str, Any] | None = None
    ) -> Object:
        """Raises: ApiError: any status from 400. OSError, HTTPException: the server could not be reached."""
        answer = self._exchange(method, path, body, kind, query or {})
        return json.loads(answer) if answer else {}

    def watch(self, path: str, *, timeout_seconds: float = 300.0, **query: Any) -> Iterator[tuple[str, Object]]:
        """(type, object) of each event until the server or the time ends it.

        Raises: ApiError: also for an ERROR event, such as 410.
        """
        connection = self._connect(timeout_seconds)
        self._watches.add(connection)
        try:
            query = {"watch": "1", "timeoutSeconds": int(timeout_seconds), **query}
            connection.request("GET", f"{path}?{urlencode(query)}", headers=self._headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise _error(response.status, response.read(), f"WATCH {path}")
            with suppress(TimeoutError):
                while line := response.readline():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        told = event["object"]
                        raise ApiError(told.get("code", 0), told.get("reason", ""), told.get("message", ""), path)
                    yield event["type"], event["object"]
        finally:
            self._open.discard(connection)
            self._watches.discard(connection)
            connection.close()

    def close(self) -> None:
        """All connections, of all threads; what waits on one is told that it is lost."""
        for connection in tuple(self._open):
            if connection.sock is not None:
                with suppress(OSError), socket.socket(fileno=os.dup(connection.sock.fileno())) as same:
                    same.shutdown(socket.SHUT_RDWR)
        for connection in tuple(self._open - self._watches):  # a watch closes its own, once it has noticed
            self._open.discard(connection)
            connection.close()

    def _exchange(self, method: str, path: str, body: Any, kind: str, query: dict[str, Any]) -> bytes:
        target = f"{path}?{urlencode(query)}" if query else path
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        headers = {**self._headers, "Content-Type": kind} if data is not None else self._headers
        for attempt in (1, 2):
            connection = getattr(self._own, "connection", None)
            is_fresh = connection is None
            if connection is None:
                connection = self._own.connection = self._connect(TIMEOUT_SECONDS)
            try:
                connection.request(method, target, data, headers)
                response = connection.getresponse()
                answer = response.read()
            except _BROKEN:
                self._drop()
                if is_fresh or attempt == 2:  # one that was kept open may have been closed since
                    raise
                continue
            except BaseException:
                self._drop()
                raise
            if response.status >= 400:
                raise _error(response.status, answer, f"{method} {path}")
            return answer
        raise AssertionError

    def _drop(self) -> None:
        """This thread's connection."""
        connection, self._own.connection = self._own.connection, None
        self._open.discard(connection)
        connection.close()

    def _connect(self, timeout_seconds: float) -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, timeout=timeout_seconds, context=self._context
        )
        self._open.add(connection)
        with self._network.entered():
            connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _error(status: int, answer: bytes, asked: str) -> ApiError:
    try:
        told = json.loads(answer)
        return ApiError(status, told.get("reason", ""), told.get("message", ""), asked)
    except (ValueError, AttributeError):
        return ApiError(status, "", answer.decode("utf-8", "replace").strip()[:500], asked)
