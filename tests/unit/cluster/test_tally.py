"""What became of work is counted once each, under the right name, and what fails goes on failing."""

from __future__ import annotations

import asyncio

import pytest

from engine.cluster.counting import call_of
from engine.cluster.errors import Conflict, NotLeader
from engine.cluster.tally import BOUNDS_SECONDS, Done, Tally, tallied
from engine.cluster.transport import Request
from tests.fakes.virtual import VirtualClock, run


def test_a_bound_is_part_of_its_bucket_and_the_last_holds_all() -> None:
    tally = Tally()
    for seconds in (0.0, BOUNDS_SECONDS[0], BOUNDS_SECONDS[0] + 1e-9, 1000.0):
        tally.add(Done.UNCHANGED, seconds)
    within = tally.within()
    assert within[0] == (BOUNDS_SECONDS[0], 2)
    assert within[1] == (BOUNDS_SECONDS[1], 3)
    assert within[-2:] == [(BOUNDS_SECONDS[-1], 3), (float("inf"), 4)]
    assert tally.count == 4


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (Conflict("late", status=409), Done.CONFLICT),
        (NotLeader("no lease"), Done.HELD_BACK),
        (ValueError("a fault of ours"), Done.FAILED),
    ],
)
def test_a_failure_is_counted_by_its_kind_and_raised(error: Exception, done: Done) -> None:
    tally = Tally()

    async def work(_key: str) -> Done:
        await asyncio.sleep(2)
        raise error

    async def main() -> None:
        with pytest.raises(type(error)):
            await tallied(work, tally, VirtualClock())("key")

    run(main())
    assert {name: count for name, count in tally.results.items() if count} == {done: 1}
    assert tally.seconds == pytest.approx(2)


def test_a_pass_that_is_cancelled_is_not_counted() -> None:
    tally = Tally()

    async def work(_key: str) -> Done:
        await asyncio.sleep(3600)
        return Done.WRITTEN

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await tallied(work, tally, VirtualClock())("key")

    run(main())
    assert tally.count == 0


@pytest.mark.parametrize(
    ("method", "path", "verb", "resource"),
    [
        ("GET", "/api/v1/nodes", "list", "nodes"),
        ("GET", "/api/v1/nodes/a", "get", "nodes"),
        ("PATCH", "/api/v1/nodes/a/status", "patch", "nodes/status"),
        ("GET", "/api/v1/namespaces", "list", "namespaces"),
        ("GET", "/api/v1/namespaces/a", "get", "namespaces"),
        ("POST", "/api/v1/namespaces/a/secrets", "create", "secrets"),
        ("PUT", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/a/status", "update", "clusterqueues/status.kueue.x-k8s.io"),
        ("DELETE", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "delete", "leases.coordination.k8s.io"),
        ("GET", "/version", "get", ""),
        ("GET", "/apis", "get", ""),
        ("GET", "/", "get", ""),
    ],
)
def test_a_request_is_counted_by_verb_and_kind_and_never_by_object(
    method: str, path: str, verb: str, resource: str
) -> None:
    assert call_of(Request(method, path), "200") == (verb, resource, "200")


def test_watches_and_applies_are_told_from_lists_and_patches() -> None:
    assert call_of(Request("GET", "/api/v1/nodes", {"watch": "true"}), "200").verb == "watch"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    assert call_of(Request("PATCH", "/api/v1/nodes/a", headers=headers), "200").verb == "apply"
