"""The API server in trouble under a worker at rest, and under one that only begins: the end is that of an undisturbed run.

What callers, informers and the elector do about each trouble is shown in tests/unit/cluster; here it is all of them at once.
"""

from __future__ import annotations

import pytest

from engine.cluster.resources import CLUSTER_QUEUES, INSTANCE_TYPES, NODES
from engine.cluster.transport import Request
from tests.fakes import verbs
from tests.fakes.apiserver import Kind, Object
from tests.fakes.faults import Storm
from tests.fakes.refusals import RefusalError
from tests.unit.worker.faults_stage import FaultStage, Happens, from_the_start, on, settled, survives
from tests.unit.worker.photos import Photo, assert_same
from tests.unit.worker.queues_stage import T4
from tests.unit.worker.stage import objects

pytestmark = pytest.mark.living

SHARED = (NODES, CLUSTER_QUEUES, INSTANCE_TYPES)


async def restarted(stage: FaultStage) -> None:
    """Twice, with a change in between, and the second time it has forgotten what it told before."""
    for _ in range(2):
        stage.server.restart()
        stage.server.faults.is_down = True
        await stage.wait(20)
        stage.server.faults.is_down = False
        await toggle_type(stage)
        stage.server.store.compact()


async def frozen(stage: FaultStage) -> None:
    """The store does not answer for longer than a call waits, as with etcd stopped."""
    stage.server.faults.pause()
    await stage.wait(45)
    stage.server.faults.resume()
    await stage.wait(5)


async def too_many(stage: FaultStage) -> None:
    """429 to everything, with a wish for time, then to every second call."""
    stage.server.faults.storm = Storm(429, retry_after_seconds=1)
    await stage.wait(15)
    stage.server.faults.storm = every_second(429)
    await toggle_type(stage)
    await stage.wait(20)
    stage.server.faults.storm = None


async def broken(stage: FaultStage) -> None:
    """500 to everything, then to every second call."""
    stage.server.faults.storm = Storm(500)
    await stage.wait(15)
    stage.server.faults.storm = every_second(500)
    await toggle_type(stage)
    await stage.wait(20)
    stage.server.faults.storm = None


async def answers_lost(stage: FaultStage) -> None:
    """Writes are carried out, and nobody is told."""
    stage.server.faults.lose_answers = 10
    await stage.wait(20)
    stage.server.faults.lose_answers = 0


async def watches_closed(stage: FaultStage) -> None:
    """Every watch ends as it begins."""
    stage.server.faults.close_watches_at_once = True
    stage.server.store.cut_watches()
    await toggle_type(stage)
    await stage.wait(20)
    stage.server.faults.close_watches_at_once = False


async def fought_over(stage: FaultStage) -> None:
    """Somebody writes Nodes, queues and types at the very moment when a worker is about to, four times a second each."""
    touched: dict[str, float] = {}

    def write_first(request: Request) -> None:
        now = stage.clock.monotonic()
        for resource in SHARED:
            prefix = resource.path() + "/"
            is_due = now - touched.get(request.path, 0.0) >= 0.25
            if request.method == "PATCH" and request.path.startswith(prefix) and is_due:
                touched[request.path] = now
                touch(stage, str(resource), request.path.removeprefix(prefix).partition("/")[0], str(now))

    stage.server.faults.before = write_first
    await toggle_type(stage)
    await stage.wait(20)
    assert touched
    stage.server.faults.before = lambda _request: None
    for resource in SHARED:
        for _, name in list(stage.server.store.objects.get(str(resource), {})):
            touch(stage, str(resource), name, None)


async def webhook_slow_then_failing(stage: FaultStage) -> None:
    """A validating webhook of somebody else's on our kinds: the API server waits for it, and at last gives up on it."""
    ours = "/apis/worker.gpustack.ai/"
    is_slow = True

    async def admit(request: Request) -> Storm | None:
        if request.method == "GET" or not request.path.startswith(ours):
            return None
        if is_slow:
            await stage.clock.sleep(9)
            return None
        await stage.clock.sleep(10)
        return Storm(500)

    stage.server.faults.admit = admit  # type: ignore[method-assign]
    await toggle_type(stage)
    await stage.wait(60)
    is_slow = False
    await toggle_type(stage)
    await stage.wait(120)
    del stage.server.faults.admit  # type: ignore[method-assign]


async def webhook_refusing(stage: FaultStage) -> None:
    """It says no to every type, while cards are taken and given back."""
    refused = 0

    def refuse(kind: Kind, body: Object, _before: Object | None) -> Object:
        nonlocal refused
        if kind.resource.plural == "instancetypes":
            refused += 1
            raise RefusalError(403, "Forbidden", 'admission webhook "policy.acme.com" denied the request: no')
        return body

    stage.server.admissions.append(refuse)
    device = next(each.devices for each in objects("walkthrough") if each.name == "node-t4-b")
    assert device is not None
    free = device["status"]["groups"]
    await stage.take("node-t4-b", [{**each, "accelerators": taken(each["accelerators"])} for each in free])
    await stage.wait(60)
    assert 1 < refused < 60, "it is tried again, at a bearable pace"
    await stage.take("node-t4-b", free)
    await stage.wait(5)
    stage.server.admissions.remove(refuse)


TROUBLES: dict[str, Happens] = {
    each.__name__: each
    for each in (
        restarted,
        frozen,
        too_many,
        broken,
        answers_lost,
        watches_closed,
        fought_over,
        webhook_slow_then_failing,
        webhook_refusing,
    )
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_worker_at_rest_comes_through(trouble: str) -> None:
    survives(TROUBLES[trouble], seconds=90)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_worker_that_begins_in_the_middle_of_it_comes_to_the_same_end(trouble: str) -> None:
    async def main(stage: FaultStage) -> None:
        stage.start()
        await stage.wait(1.3)
        assert 0 < len(stage.writes_of_workers()) < 65, "in the middle"
        await TROUBLES[trouble](stage)
        await stage.wait(90)
        await stage.admit_all()
        await stage.wait(20)
        assert_same(settled(), Photo.of(stage.server))
        assert await stage.at_rest() == []

    from_the_start(main)


def test_while_everything_fails_a_worker_asks_at_a_bearable_pace() -> None:
    """No hot loop: 20 watches, each tried again every few seconds, and no write but one that is due."""

    async def main(stage: FaultStage) -> None:
        asked = 0

        def count(_request: Request) -> None:
            nonlocal asked
            asked += 1

        stage.start()
        await stage.wait(5)
        stage.server.faults.before = count
        for storm in (Storm(500), Storm(429), Storm(410), Storm(401), Storm(404)):
            stage.server.faults.storm = storm
            stage.server.restart()
            asked = 0
            await stage.wait(100)
            assert asked < 100 * 30, f"{asked} requests in 100 s of {storm.code}"

    on(settled(), main)


def taken(cards: list[Object]) -> list[Object]:
    return [card | {"mode": 1, "remaining": 0} for card in cards]


def every_second(code: int) -> Storm:
    turn = 0

    def selects(_request: Request) -> bool:
        nonlocal turn
        turn += 1
        return turn % 2 == 0

    return Storm(code, selects=selects)


async def toggle_type(stage: FaultStage) -> None:
    """Something to do: an admin holds a type, and lets it go. Only what would be admitted anew could notice."""
    for value in (True, None):
        if stage.server.get(INSTANCE_TYPES, T4) is not None:
            kind = stage.server.kind(str(INSTANCE_TYPES))
            verbs.merge_patch(stage.server, kind, ("", T4), {"spec": {"inactive": value}}, "kubectl", "")
        await stage.wait(5)


def touch(stage: FaultStage, kind: str, name: str, value: str | None) -> None:
    patch = {"metadata": {"annotations": {"somebody/else": value}}}
    verbs.merge_patch(stage.server, stage.server.kind(kind), ("", name), patch, "kubectl", "")
