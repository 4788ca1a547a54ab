"""An API server in memory, at the seam below `engine.cluster.client`: bytes in, bytes out.

Does what the contract suite (tests/contract) asks of a real one; a difference found there is fixed here. No authentication,
no schemas: `admit` takes functions that change or refuse a body, as webhooks do.
"""

from __future__ import annotations

import base64
import bisect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec

from engine.cluster.clock import Clock
from engine.cluster.errors import Unreachable
from engine.cluster.resources import Resource
from engine.cluster.transport import Request
from tests.fakes import verbs
from tests.fakes.faults import Faults
from tests.fakes.garbage import collect
from tests.fakes.kinds import Kind, default_kinds
from tests.fakes.managers import Known
from tests.fakes.refusals import RefusalError, bad_request, expired, no_such_path, not_found
from tests.fakes.selections import matches
from tests.fakes.store import Object, Store
from tests.fakes.streams import FakeResponse, Watch

Admission = Callable[[Kind, Object, Object | None], Object]
"""(kind, body, what is stored) -> body; may raise RefusalError."""


@dataclass(frozen=True)
class Seen:
    """A request that was carried out, for asking afterwards who wrote what and when."""

    at: float
    sender: str
    method: str
    path: str
    manager: str
    code: int
    is_changed: bool


@dataclass(frozen=True)
class Target:
    """What a path names."""

    kind: Kind
    version: str
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> tuple[str, str]:
        return (self.namespace, self.name)


class ApiServer:
    """One cluster's API. `faults` are its own troubles."""

    def __init__(self, clock: Clock, kinds: Iterable[Kind] | None = None, *, namespaces: Iterable[str] = ()) -> None:
        self.clock = clock
        self.store = Store()
        self.faults = Faults()
        self.seen: list[Seen] = []
        self.admissions: list[Admission] = []
        self.bookmark_seconds = 60.0
        self.watch_buffer = 1000
        self.collects_garbage = True
        self.known: dict[str, tuple[str, Known]] = {}
        """By uid: the version last written, and who owns what in it."""
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        for kind in kinds if kinds is not None else default_kinds():
            self.serve(kind)
        for name in ("default", "kube-system", "gpustack-system", *namespaces):
            verbs.create(self, self.kind("namespaces"), "", {"metadata": {"name": name}}, "setup")

    def serve(self, kind: Kind) -> None:
        """Begin to serve a kind, as after a CRD was created."""
        for version in kind.versions:
            self._kinds[(kind.resource.group, version, kind.resource.plural)] = kind

    def stop_serving(self, resource: Resource[Any]) -> None:
        """As after a CRD was deleted: its objects are gone too."""
        for at in [at for at in self._kinds if (at[0], at[2]) == (resource.group, resource.plural)]:
            del self._kinds[at]
        for key in list(self.store.objects.get(str(resource), {})):
            self.store.remove(str(resource), key)
        self.store.cut_watches()

    def kind(self, kind_id: str) -> Kind:
        """By `str(resource)`."""
        return next(kind for kind in self._kinds.values() if kind.id == kind_id)

    def kinds(self) -> list[Kind]:
        """All that are served, once each."""
        return list({kind.id: kind for kind in self._kinds.values()}.values())

    def get(self, resource: Resource[Any], name: str, namespace: str = "") -> Object | None:
        """What is stored, for a test to look at."""
        return self.store.get(str(resource), (namespace, name))

    def writes(self, sender: str = "") -> list[Seen]:
        """The requests that changed something."""
        return [seen for seen in self.seen if seen.is_changed and (not sender or seen.sender == sender)]

    def restart(self) -> None:
        """Cuts every connection; the store stays."""
        self.store.cut_watches()

    async def handle(self, request: Request, sender: str, faults: Faults) -> FakeResponse:
        """One request. Raises: Unreachable."""
        for each in {id(self.faults): self.faults, id(faults): faults}.values():
            storm = await each.admit(request)
            if storm is not None:
                answer = RefusalError(storm.code, "TooManyRequests" if storm.code == 429 else "", "not now").status()
                after = storm.retry_after_seconds
                headers = {} if after is None else {"retry-after": str(after)}
                return FakeResponse(storm.code, json.dumps(answer).encode(), faults, headers)
        version = self.store.version
        try:
            found = self._answer(request, faults)
            code = 201 if request.method == "POST" else 200
        except RefusalError as refusal:
            found, code = refusal.status(), refusal.code
        is_changed = self.store.version != version
        manager = request.query.get("fieldManager", "")
        self.seen.append(Seen(self.clock.monotonic(), sender, request.method, request.path, manager, code, is_changed))
        if is_changed and self.collects_garbage:
            collect(self, self.store.after(version))
        if faults.loses_answer(request):
            raise Unreachable("the API server gave no answer", where=request.path, why="the connection was cut")
        if isinstance(found, Watch):
            return FakeResponse(200, found.lines(), faults)
        return FakeResponse(code, msgspec.json.encode(found), faults)

    def _answer(self, request: Request, faults: Faults) -> Object | Watch:
        target = self._target(request.path)
        kind, manager = target.kind, request.query.get("fieldManager") or "unknown"
        body: Object = msgspec.json.decode(request.body) if request.body else {}
        match request.method:
            case "GET" if target.name:
                stored = self.store.get(kind.id, target.key)
                if stored is None:
                    raise not_found(kind.id, target.name)
                return _served(stored, target)
            case "GET" if request.query.get("watch") in {"true", "1"}:
                return self._watch(request, target, faults)
            case "GET":
                return self._list(request, target)
            case "POST":
                return _served(verbs.create(self, kind, target.namespace, body, manager), target)
            case "PUT":
                return _served(verbs.update(self, kind, target.key, body, manager, target.subresource), target)
            case "PATCH":
                return _served(self._patch(request, target, body, manager), target)
            case "DELETE":
                return verbs.delete(self, kind, target.key, body)
        raise RefusalError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")

    def _patch(self, request: Request, target: Target, body: Object, manager: str) -> Object:
        media = request.headers.get("Content-Type", "")
        if media.startswith("application/apply-patch"):
            if not request.query.get("fieldManager"):
                raise bad_request(
                    "PatchOptions.meta.k8s.io is invalid: fieldManager: Required value: is required for apply patch"
                )
            is_forced = request.query.get("force") == "true"
            return verbs.apply(self, target.kind, target.key, body, manager, target.subresource, is_forced=is_forced)
        if media.startswith("application/merge-patch"):
            return verbs.merge_patch(self, target.kind, target.key, body, manager, target.subresource)
        raise RefusalError(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {media}")

    def _list(self, request: Request, target: Target) -> Object:
        query = request.query
        labels, fields = query.get("labelSelector", ""), query.get("fieldSelector", "")
        limit = int(query.get("limit") or 0)
        start, version = 0, self.store.version
        if query.get("continue"):
            token = json.loads(base64.urlsafe_b64decode(query["continue"] + "=="))
            version = token["rv"]
            snapshot = self.store.snapshots.get((target.kind.id, version))
            if snapshot is None:
                raise expired("The provided continue parameter is too old to display a consistent list result")
            start = bisect.bisect_left(snapshot, token["start"], key=_place)
        else:
            snapshot = self.store.all(target.kind.id)
            if limit and len(snapshot) > limit:
                self.store.snapshots[(target.kind.id, version)] = snapshot
        chosen: list[Object] = []
        metadata: Object = {"resourceVersion": str(version)}
        for at in range(start, len(snapshot)):
            body = snapshot[at]
            if target.namespace and body["metadata"].get("namespace") != target.namespace:
                continue
            if not matches(body, labels, fields):
                continue
            if limit and len(chosen) == limit:
                token = {"v": "meta.k8s.io/v1", "rv": version, "start": _place(body)}
                metadata["continue"] = base64.urlsafe_b64encode(json.dumps(token).encode()).rstrip(b"=").decode()
                if not (labels or fields or target.namespace):
                    metadata["remainingItemCount"] = len(snapshot) - at
                break
            chosen.append(body)
        api_version = _api_version(target)
        kind = f"{target.kind.resource.kind}List"
        return {"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": chosen}

    def _watch(self, request: Request, target: Target, faults: Faults) -> Watch:
        query = request.query
        return Watch(
            store=self.store,
            kind=target.kind,
            api_version=_api_version(target),
            namespace=target.namespace,
            labels=query.get("labelSelector", ""),
            fields=query.get("fieldSelector", ""),
            version=query.get("resourceVersion", ""),
            timeout_seconds=float(query.get("timeoutSeconds") or 1800),
            has_bookmarks=query.get("allowWatchBookmarks") == "true",
            bookmark_seconds=self.bookmark_seconds,
            faults=faults,
            buffer=self.watch_buffer,
        )

    def _target(self, path: str) -> Target:
        parts = [unquote(part) for part in path.strip("/").split("/")]
        if parts[0] == "api":
            group, version, *rest = "", *parts[1:]
        elif parts[0] == "apis" and len(parts) > 2:
            group, version, *rest = parts[1:]
        else:
            raise no_such_path(path)
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces":
            _, namespace, *rest = rest
            if rest[0] in {"status", "finalize"}:
                rest, namespace = ["namespaces", namespace, rest[0]], ""
        kind = self._kinds.get((group, version, rest[0])) if rest else None
        if kind is None:
            raise no_such_path(path)
        name, subresource = (*rest[1:], "", "")[:2]
        if subresource and not (subresource == "status" and kind.has_status):
            raise no_such_path(path)
        return Target(kind, version, namespace, name, subresource)


def _api_version(target: Target) -> str:
    group = target.kind.resource.group
    return f"{group}/{target.version}" if group else target.version


def _place(body: Object) -> list[str]:
    """Where an object stands in a list: in a token a real server has its key in the store here."""
    return [body["metadata"].get("namespace", ""), body["metadata"]["name"]]


def _served(body: Object, target: Target) -> Object:
    return {**body, "apiVersion": _api_version(target), "kind": target.kind.resource.kind}


class FakeTransport:
    """`engine.cluster.transport.Transport` of one process, with the server's troubles, or its own in `faults`."""

    def __init__(self, server: ApiServer, sender: str = "test") -> None:
        self.server = server
        self.sender = sender
        self.faults: Faults | None = None
        self.is_closed = False

    async def request(self, request: Request) -> FakeResponse:
        return await self.server.handle(request, self.sender, self.faults or self.server.faults)

    async def close(self) -> None:
        self.is_closed = True
