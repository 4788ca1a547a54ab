"""Photographs of a cluster in memory: what stands in its store at a moment, and what two of them differ in.

What a process held in memory is not in them, so a worker that begins on one is the heir of a process that was killed then.
No assertions here but that they are the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.fakes.apiserver import ApiServer, Seen
from tests.fakes.store import Key, Object

_PASSING = ("uid", "resourceVersion", "generation", "creationTimestamp")
_PASSING_OF_CONDITIONS = ("lastTransitionTime", "observedGeneration")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LEFT_OUT = ("events.events.k8s.io", "leases.coordination.k8s.io")


@dataclass(frozen=True)
class Photo:
    """A store as it was. Shape: objects are never changed in place, so the maps around them are copied and they are not."""

    seconds: float
    version: int
    objects: dict[str, dict[Key, Object]]

    @classmethod
    def of(cls, server: ApiServer) -> Photo:
        found = {kind: dict(objects) for kind, objects in server.store.objects.items()}
        return cls(server.clock.monotonic(), server.store.version, found)

    def hang(self, server: ApiServer) -> None:
        """The server has all of it and nothing else, and time goes on from then."""
        loop: Any = asyncio.get_running_loop()
        loop.advance(max(0.0, self.seconds - loop.time()))
        store = server.store
        store.objects = {kind: dict(objects) for kind, objects in self.objects.items()}
        store.version = store.compacted = self.version
        store.history.clear()


def after_each_write(server: ApiServer, sender: str, act: Callable[[Seen], None]) -> None:
    """`act` is called right after each write of this sender was carried out, before anything else happens."""
    handle = server.handle

    async def watched(*arguments: Any) -> Any:
        count = len(server.seen)
        answer = await handle(*arguments)
        for each in server.seen[count:]:
            if each.is_changed and each.sender == sender:
                act(each)
        return answer

    server.handle = watched  # type: ignore[method-assign]


def differences(before: Photo, after: Photo, *, with_owners: bool = False) -> list[str]:
    """Where two photographs differ in what counts, a line each; times, versions and UIDs do not.

    Shape: `with_owners` also in who wrote which field last.
    """
    found: list[str] = []
    for kind in sorted(before.objects.keys() | after.objects.keys()):
        if kind in _LEFT_OUT:
            continue
        was, now = before.objects.get(kind, {}), after.objects.get(kind, {})
        found += [f"{kind} {'/'.join(key)} is gone" for key in sorted(was.keys() - now.keys())]
        found += [f"{kind} {'/'.join(key)} is new" for key in sorted(now.keys() - was.keys())]
        for key in sorted(was.keys() & now.keys()):
            if was[key] is not now[key]:
                bodies = [lasting(each[key], with_owners=with_owners) for each in (was, now)]
                found += [f"{kind} {'/'.join(key)} {each}" for each in _differ(*bodies)]
    return found


def assert_same(before: Photo, after: Photo) -> None:
    """Raises: AssertionError: with a line for each difference."""
    found = differences(before, after)
    if found:
        raise AssertionError("\n".join(["not as before:", *found]))


def lasting(body: Object, *, with_owners: bool = False) -> Object:
    """An object without what differs from one life of it to the next."""
    metadata = {key: value for key, value in body["metadata"].items() if key not in _PASSING}
    metadata["managedFields"] = {
        " ".join([each["manager"], each["operation"], each.get("subresource", "")]): _without_uids(each["fieldsV1"])
        for each in metadata.get("managedFields") or ()
        if with_owners
    }
    owners = metadata.get("ownerReferences") or ()
    metadata["ownerReferences"] = [{key: value for key, value in each.items() if key != "uid"} for each in owners]
    made = {**body, "metadata": metadata}
    status = body.get("status")
    if isinstance(status, dict):
        made["status"] = {key: _conditions(value) for key, value in status.items()}
    return made


def _without_uids(fields: Any) -> Any:
    return json.loads(_UID.sub("uid", json.dumps(fields)))


def _conditions(value: Any) -> Any:
    """Conditions and states of checks: as a set, without their times."""
    if not isinstance(value, list) or not any(
        isinstance(each, dict) and "lastTransitionTime" in each for each in value
    ):
        return value
    bare = [{key: each[key] for key in each if key not in _PASSING_OF_CONDITIONS} for each in value]
    return sorted(bare, key=lambda each: json.dumps(each, sort_keys=True))


def _differ(was: Any, now: Any, at: str = "") -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            yield from _differ(was.get(key), now.get(key), f"{at}.{key}" if at else key)
    elif was != now:
        yield f"{at}: was {was!r}, is {now!r}"
