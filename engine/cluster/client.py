"""The verbs: get, list, watch, create, apply, merge patch, update, delete, for any kind in `resources`.

Decides nothing about what to write, caches nothing. Objects go out as plain maps and come back as structs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal

import msgspec

from engine.cluster.caller import Caller
from engine.cluster.clock import SYSTEM_CLOCK, Chance, Clock, system_chance
from engine.cluster.counting import Call
from engine.cluster.decode import Page, WatchEvent, decode_object, decode_page
from engine.cluster.errors import BadRequest, Gone
from engine.cluster.gate import WriteGate
from engine.cluster.objects import Broken
from engine.cluster.resources import Resource, T
from engine.cluster.retry import PATIENT, RetryPolicy
from engine.cluster.transport import Request, Transport
from engine.cluster.watch import watch_events

PAGE: Final = 500
"""Objects a page; measured best among those tried for memory and time (5,000 nodes: 0.26 s, 62 MiB)."""
RESTARTS: Final = 2
"""How often a list whose continue token expired is begun anew in pages before it is asked for in one piece."""

IN_FLIGHT: Final = 32
"""Calls of one process under way at once. Chosen: a small API server is busy with 16, and a call behind 32 others is still
answered within a second where each takes 30 ms; more would only wait there, and a lease's renewal behind them."""

Propagation = Literal["Background", "Foreground", "Orphan"]

_JSON = {"Content-Type": "application/json"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
# The API server reads an apply body as YAML, of which JSON is a part.
_APPLY = {"Content-Type": "application/apply-patch+yaml"}


@dataclass(frozen=True, slots=True)
class Selection:
    """What part of a kind a list or watch covers. Empty texts select everything."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""

    def query(self) -> dict[str, str]:
        """As query parameters."""
        given = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: text for key, text in given.items() if text}


EVERYTHING: Final = Selection()


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A whole list as of `resource_version`."""

    items: tuple[T, ...]
    broken: tuple[Broken, ...]
    resource_version: str


class Client:
    """The API server, verb by verb. Raises in every verb: ApiError, Unreachable, BadObject; in writes also NotLeader."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock = SYSTEM_CLOCK,
        chance: Chance = system_chance,
        policy: RetryPolicy = PATIENT,
        timeout_seconds: float = 30.0,
        gate: WriteGate | None = None,
    ) -> None:
        room = asyncio.Semaphore(IN_FLIGHT)
        self._caller = Caller(transport, clock, chance, policy, timeout_seconds, gate, room=room)

    @property
    def clock(self) -> Clock:
        return self._caller.clock

    @property
    def chance(self) -> Chance:
        return self._caller.chance

    @property
    def calls(self) -> Mapping[Call, int]:
        """How often the server was asked what, by this client and those made from it."""
        return self._caller.calls

    def gated(self, gate: WriteGate) -> Client:
        """The same client, whose every write asks the gate first."""
        return self._like(replace(self._caller, gate=gate))

    def limited(self, timeout_seconds: float, policy: RetryPolicy) -> Client:
        """The same client with another time limit and another patience; its calls wait for no others."""
        return self._like(replace(self._caller, timeout_seconds=timeout_seconds, policy=policy, room=None))

    async def get(self, resource: Resource[T], name: str, namespace: str = "") -> T:
        """One object, read from the store."""
        request = Request("GET", resource.path(name, namespace))
        answer = await self._caller.call(request, is_repeatable=True)
        return decode_object(answer.body, resource.struct, request.path)

    async def get_map(self, resource: Resource[Any], name: str, namespace: str = "") -> dict[str, Any]:
        """One object with every field, for read-modify-update."""
        answer = await self._caller.call(Request("GET", resource.path(name, namespace)), is_repeatable=True)
        found: dict[str, Any] = msgspec.json.decode(answer.body)
        return found

    async def pages(
        self, resource: Resource[T], selection: Selection = EVERYTHING, *, limit: int = PAGE, token: str = ""
    ) -> AsyncGenerator[Page[T], None]:
        """The list from `token` on, page by page, all as of one resourceVersion. Raises: Gone: the token expired."""
        path, query = resource.path(namespace=selection.namespace), selection.query()
        if limit:
            query["limit"] = str(limit)
        if token:
            query["continue"] = token
        while True:
            answer = await self._caller.call(Request("GET", path, query), is_repeatable=True)
            page = decode_page(answer.body, resource.struct, path)
            yield page
            if not page.token:
                return
            query["continue"] = page.token

    async def list(self, resource: Resource[T], selection: Selection = EVERYTHING, *, limit: int = PAGE) -> Listing[T]:
        """The whole list; begun anew when its continue token expires, in one piece at last."""
        for attempt in range(RESTARTS + 1):
            items: list[T] = []
            broken: list[Broken] = []
            version = ""
            try:
                async for page in self.pages(resource, selection, limit=limit if attempt < RESTARTS else 0):
                    items += page.items
                    broken += page.broken
                    version = page.resource_version
            except Gone:
                if attempt == RESTARTS:
                    raise
                continue
            return Listing(tuple(items), tuple(broken), version)
        raise AssertionError  # the last attempt returned or raised

    def watch(
        self,
        resource: Resource[T],
        selection: Selection = EVERYTHING,
        *,
        resource_version: str,
        timeout_seconds: int,
        idle_seconds: float = 120.0,
        rest_seconds: float = 0.0,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Changes after `resource_version`, bookmarks included, until the server ends it (after `timeout_seconds`).

        Shape: with `rest_seconds` changes that come so soon after one are told together.
        Raises: Gone: the version is too old; Unreachable: cut, or nothing came for `idle_seconds`.
        """
        query = selection.query() | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
        }
        request = Request("GET", resource.path(namespace=selection.namespace), query)
        return watch_events(self._caller, request, resource.struct, idle_seconds, rest_seconds)

    async def create(self, resource: Resource[T], body: Mapping[str, Any], *, manager: str) -> T:
        """A new object; a `generateName` is allowed. Raises: AlreadyExists. Never repeated after a cut connection."""
        path = resource.path(namespace=_namespace(body))
        return await self._write("POST", path, {"fieldManager": manager}, _JSON, body, resource, is_repeatable=False)

    async def apply(
        self, resource: Resource[T], body: Mapping[str, Any], *, manager: str, force: bool = True, subresource: str = ""
    ) -> T:
        """Server-side apply: `body` is all that this manager wants. Raises: ApplyConflict unless `force`."""
        path = resource.path(body["metadata"]["name"], _namespace(body), subresource)
        query = {"fieldManager": manager, "force": "true" if force else "false"}
        return await self._write("PATCH", path, query, _APPLY, body, resource, is_repeatable=True)

    async def merge_patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Mapping[str, Any],
        *,
        manager: str,
        namespace: str = "",
        resource_version: str = "",
        subresource: str = "",
    ) -> T:
        """RFC 7386; `resource_version` makes it fail with Conflict when somebody wrote since."""
        path = resource.path(name, namespace, subresource)
        query = {"fieldManager": manager}
        return await self._write(
            "PATCH", path, query, _MERGE, guarded(patch, resource_version), resource, is_repeatable=True
        )

    async def update(self, resource: Resource[T], body: Mapping[str, Any], *, manager: str, subresource: str = "") -> T:
        """Replaces an object; `body` must be all of it, with the resourceVersion it was read at. Raises: Conflict."""
        metadata = body["metadata"]
        path = resource.path(metadata["name"], _namespace(body), subresource)
        if not metadata.get("resourceVersion"):
            raise BadRequest("an update without resourceVersion overwrites what others wrote", where=path, status=400)
        return await self._write("PUT", path, {"fieldManager": manager}, _JSON, body, resource, is_repeatable=True)

    async def delete(
        self,
        resource: Resource[Any],
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        """Begins a deletion; finalizers may hold it. With `uid`, never another object of the same name."""
        preconditions = {key: text for key, text in (("uid", uid), ("resourceVersion", resource_version)) if text}
        body: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
        if preconditions:
            body["preconditions"] = preconditions
        request = Request("DELETE", resource.path(name, namespace), headers=_JSON, body=msgspec.json.encode(body))
        # Without a uid a repeat could hit a successor of the same name.
        await self._caller.call(request, is_repeatable=bool(uid))

    def _like(self, caller: Caller) -> Client:
        made = object.__new__(Client)
        made._caller = caller
        return made

    async def _write(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: Mapping[str, Any],
        resource: Resource[T],
        *,
        is_repeatable: bool,
    ) -> T:
        request = Request(method, path, query, headers, msgspec.json.encode(body))
        answer = await self._caller.call(request, is_repeatable=is_repeatable)
        return decode_object(answer.body, resource.struct, path)


def guarded(patch: Mapping[str, Any], resource_version: str) -> dict[str, Any]:
    """A merge patch that applies to one version of the object only."""
    if not resource_version:
        return dict(patch)
    return {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": resource_version}}


def _namespace(body: Mapping[str, Any]) -> str:
    found: str = body["metadata"].get("namespace", "")
    return found
