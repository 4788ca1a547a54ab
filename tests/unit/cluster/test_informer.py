"""The informer under faults: its cache equals the server within 5 s of recovery, and it never loops without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.cluster.client import Selection
from engine.cluster.errors import Forbidden, Unauthorized
from engine.cluster.informer import Informer, InformerSettings, Trouble
from engine.cluster.objects import Node
from engine.cluster.resources import NODES
from tests.fakes import verbs
from tests.fakes.faults import Faults, Storm
from tests.fakes.virtual import run
from tests.unit.cluster.worlds import World, node, running

RECOVERY_SECONDS = 5.0


def _names(informer: Informer[Node]) -> list[str]:
    return [thing.metadata.name for thing in informer.cache]


def _equals(world: World, informer: Informer[Node]) -> bool:
    stored = {body["metadata"]["name"]: body["metadata"] for body in world.server.store.all("nodes")}
    cached = {thing.metadata.name: thing.metadata for thing in informer.cache}
    return stored.keys() == cached.keys() and all(
        stored[name]["resourceVersion"] == cached[name].resource_version for name in stored
    )


async def _change(world: World, number: int) -> None:
    """One object more, one changed, one less; past any fault of the test's own client."""
    kind = world.server.kind("nodes")
    verbs.create(world.server, kind, "", node(f"new-{number}"), "test")
    verbs.merge_patch(world.server, kind, ("", "a"), {"metadata": {"labels": {"n": str(number)}}}, "test", "")
    if number:
        verbs.delete(world.server, kind, ("", f"new-{number - 1}"), {})


def _world() -> World:
    world = World()
    world.server.store.load("nodes", [node("a"), node("b")])
    for body in world.server.store.all("nodes"):
        body["metadata"]["uid"] = f"uid-{body['metadata']['name']}"
    return world


def test_a_handler_is_told_before_and_after_of_every_change() -> None:
    async def main() -> None:
        world = _world()
        told: list[tuple[str | None, str | None]] = []
        informer = Informer(world.client, NODES)
        informer.add_handler(
            lambda before, after: told.append((before and before.metadata.name, after and after.metadata.name))
        )
        async with running(informer.run()):
            await informer.wait_synced()
            await _change(world, 0)
            await world.client.delete(NODES, "b")
            await asyncio.sleep(1)
        assert told == [(None, "a"), (None, "b"), (None, "new-0"), ("a", "a"), ("b", None)]
        late: list[Any] = []
        informer.add_handler(lambda before, after: late.append((before, after and after.metadata.name)))
        assert late == [(None, "a"), (None, "new-0")]

    run(main())


def test_a_restart_in_the_middle_of_a_watch_is_resumed_without_a_new_list() -> None:
    async def main() -> None:
        world = _world()
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await informer.wait_synced()
            for number in range(5):
                await _change(world, number)
                world.server.restart()
                await asyncio.sleep(RECOVERY_SECONDS)
                assert _equals(world, informer)
        assert informer.lists == 1

    run(main())


def test_a_server_that_was_away_and_forgot_is_listed_anew() -> None:
    async def main() -> None:
        world = _world()
        removed: list[str] = []
        informer = Informer(world.client, NODES)
        informer.add_handler(
            lambda before, after: removed.append(before.metadata.name) if before and not after else None
        )
        async with running(informer.run()):
            await informer.wait_synced()
            world.server.faults.is_down = True
            world.server.restart()
            await asyncio.sleep(300)
            await _change(world, 0)
            world.server.store.remove("nodes", ("", "b"))
            world.server.store.compact()
            world.server.faults.is_down = False
            await asyncio.sleep(RECOVERY_SECONDS)
            assert _equals(world, informer)
            assert removed == ["b"], "a deletion nobody saw is told after the list"
        assert informer.lists == 2

    run(main())


@pytest.mark.parametrize("cut_at", [*range(1, 60, 7), *range(60, 1400, 61)])
def test_a_connection_cut_at_any_byte_loses_nothing(cut_at: int) -> None:
    async def main() -> None:
        world = _world()
        told: list[tuple[str, str]] = []
        informer = Informer(world.client, NODES)
        informer.add_handler(
            lambda before, after: told.append((after.metadata.name, after.metadata.resource_version)) if after else None
        )
        async with running(informer.run()):
            await informer.wait_synced()
            world.server.faults.cut_next_body_at = cut_at
            world.server.restart()
            await asyncio.sleep(1)
            for number in range(3):
                await _change(world, number)
            await asyncio.sleep(RECOVERY_SECONDS)
            assert _equals(world, informer)
        assert len(told) == len(set(told)), "nothing is told twice"

    run(main())


@pytest.mark.parametrize("cut_at", [10, 100, 400, 700])
def test_a_list_cut_at_any_byte_is_begun_anew(cut_at: int) -> None:
    async def main() -> None:
        world = _world()
        world.server.faults.cut_next_body_at = cut_at
        world.server.faults.cuts_at_most = 6
        informer = Informer(world.client, NODES, settings=InformerSettings(page=1))
        async with running(informer.run()):
            await informer.wait_synced()
            assert _equals(world, informer)

    run(main())


def test_events_in_tiny_pieces_arrive_whole() -> None:
    async def main() -> None:
        world = _world()
        world.server.faults.chunk_bytes = 3
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await informer.wait_synced()
            await _change(world, 0)
            await asyncio.sleep(1)
            assert _equals(world, informer)

    run(main())


def test_a_slow_reader_that_is_dropped_catches_up() -> None:
    async def main() -> None:
        world = _world()
        world.server.watch_buffer = 20
        world.transport.faults = Faults(chunk_seconds=0.05)
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await informer.wait_synced()
            for number in range(60):
                await _change(world, number)
                await asyncio.sleep(0.01)
            assert not _equals(world, informer)
            world.transport.faults.chunk_seconds = 0.0
            world.server.watch_buffer = 1000
            await asyncio.sleep(RECOVERY_SECONDS)
            assert _equals(world, informer)

    run(main())


def _down(world: World) -> None:
    world.server.faults.is_down = True


def _storm(code: int, retry_after: int | None = None) -> Callable[[World], None]:
    def begin(world: World) -> None:
        world.server.faults.storm = Storm(code, retry_after)

    return begin


def _closes(world: World) -> None:
    world.server.faults.close_watches_at_once = True


@pytest.mark.parametrize(
    "begin",
    [
        _down,
        _storm(500),
        _storm(503),
        _storm(503, 5),
        _storm(401),
        _storm(403),
        _storm(404),
        _storm(410),
        _storm(429, 1),
        _closes,
    ],
    ids=["down", "500", "503", "starting", "401", "403", "404", "410", "429", "closes at once"],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["from the start", "later"])
def test_trouble_makes_no_hot_loop_and_ends_within_5_s(begin: Callable[[World], None], is_first: bool) -> None:
    async def main() -> None:
        world = _world()
        requests = 0

        def count(_request: object) -> None:
            nonlocal requests
            requests += 1

        informer = Informer(world.client, NODES)
        world.server.faults.before = count
        if is_first:
            begin(world)
        async with running(informer.run()):
            if not is_first:
                await informer.wait_synced()
                begin(world)
                world.server.restart()
            requests = 0
            await asyncio.sleep(120)
            # A list may be repeated four times before the informer's own wait; a wait is 1.5 s here in the end.
            assert 10 <= requests <= 120 * 4
            await _change(world, 0)
            world.server.faults.is_down = False
            world.server.faults.storm = None
            world.server.faults.close_watches_at_once = False
            await asyncio.sleep(RECOVERY_SECONDS)
            assert informer.has_synced
            assert _equals(world, informer)

    run(main())


def test_an_endless_410_waits_longer_each_time() -> None:
    async def main() -> None:
        world = _world()
        world.server.faults.storm = Storm(410, selects=lambda request: "watch" in request.query)
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await asyncio.sleep(60)
            assert 15 <= informer.lists <= 60

    run(main())


def test_a_server_that_takes_requests_and_does_not_answer_is_left_and_found_again() -> None:
    async def main() -> None:
        world = _world()
        troubles: list[Trouble] = []
        informer = Informer(world.client, NODES, report=troubles.append)
        async with running(informer.run()):
            await informer.wait_synced()
            world.server.faults.pause()
            await asyncio.sleep(600)
            assert troubles
            await _change(world, 0)
            world.server.faults.resume()
            await asyncio.sleep(RECOVERY_SECONDS)
            assert _equals(world, informer)

    run(main())


def test_one_object_that_cannot_be_read_does_not_block_the_others() -> None:
    async def main() -> None:
        world = _world()
        broken = node("bad")
        broken["status"] = {"capacity": "maybe"}
        world.server.store.load("nodes", [broken])
        troubles: list[Trouble] = []
        informer = Informer(world.client, NODES, report=troubles.append)
        async with running(informer.run()):
            await informer.wait_synced()
            assert _names(informer) == ["a", "b"]
            assert [key.name for key in informer.cache.broken] == ["bad"]
            assert "capacity" in informer.cache.broken[next(iter(informer.cache.broken))].why

            world.server.store.put("nodes", ("", "a"), {**node("a"), "status": {"capacity": 3}})
            await world.client.merge_patch(NODES, "b", {"metadata": {"labels": {"x": "y"}}}, manager="t")
            await asyncio.sleep(1)
            assert _names(informer) == ["a", "b"], "the last state that could be read stays"
            assert len(informer.cache.broken) == 2
            assert (informer.lists, informer.watches) == (1, 1), "nothing was asked for again"

            world.server.store.put("nodes", ("", "a"), node("a"))
            world.server.store.remove("nodes", ("", "bad"))
            await asyncio.sleep(1)
            assert not informer.cache.broken
        assert [trouble.what for trouble in troubles] == ["an object cannot be read"] * 2

    run(main())


def test_a_handler_that_fails_is_reported_and_the_others_are_told() -> None:
    async def main() -> None:
        world = _world()
        troubles: list[Trouble] = []
        told: list[str] = []
        informer = Informer(world.client, NODES, report=troubles.append)

        def fails(_before: object, _after: object) -> None:
            raise ZeroDivisionError

        informer.add_handler(fails)
        informer.add_handler(lambda _before, after: told.append(after.metadata.name) if after else None)
        async with running(informer.run()):
            await informer.wait_synced()
        assert told == ["a", "b"]
        assert [type(trouble.error) for trouble in troubles] == [ZeroDivisionError] * 2

    run(main())


def test_a_refusal_is_reported_as_what_it_is() -> None:
    async def main() -> None:
        world = _world()
        for code, error in ((401, Unauthorized), (403, Forbidden)):
            world.server.faults.storm = Storm(code)
            troubles: list[Trouble] = []
            informer = Informer(world.client, NODES, report=troubles.append)
            async with running(informer.run()):
                await asyncio.sleep(3)
            assert {type(trouble.error) for trouble in troubles} == {error}

    run(main())


def test_fifty_thousand_objects_survive_a_restart_and_a_relist() -> None:
    async def main() -> None:
        world = World()
        world.server.store.load("nodes", [node(f"n{number:05}") for number in range(50_000)])
        informer = Informer(world.client, NODES)
        informer.cache.add_index("first", lambda thing: [thing.metadata.name[:2]])
        async with running(informer.run()):
            await informer.wait_synced()
            assert len(informer.cache) == 50_000
            assert len(informer.cache.by_index("first", "n1")) == 10_000
            before = informer.cache.get("n00001")
            for number in range(100):
                world.server.store.remove("nodes", ("", f"n{number:05}"))
            world.server.store.compact()
            world.server.restart()
            await asyncio.sleep(RECOVERY_SECONDS)
            assert _equals(world, informer)
            assert before is not None
            assert len(informer.cache) == 49_900

    run(main())


def test_what_an_answer_said_is_known_at_once_and_a_late_watch_does_not_undo_it() -> None:
    async def main() -> None:
        world = _world()
        informer = Informer(world.client, NODES)
        told: list[dict[str, str]] = []
        async with running(informer.run()):
            await informer.wait_synced()
            await asyncio.sleep(1)
            informer.add_handler(lambda _before, after: told.append(after.metadata.labels if after else {}))
            told.clear()
            kind = world.server.kind("nodes")
            for number in ("1", "2"):
                verbs.merge_patch(world.server, kind, ("", "a"), {"metadata": {"labels": {"n": number}}}, "test", "")
            # The watch has told neither yet; it tells both later.
            informer.learn(msgspec.convert(world.server.get(NODES, "a"), Node))
            assert told == [{"n": "2"}]
            await asyncio.sleep(60)
            assert _equals(world, informer)
        assert told == [{"n": "2"}]

    run(main())


def test_an_answer_about_an_object_that_has_gone_since_brings_nothing_back() -> None:
    async def main() -> None:
        world = _world()
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await informer.wait_synced()
            written = await world.client.merge_patch(NODES, "a", {"metadata": {"labels": {"n": "1"}}}, manager="t")
            await world.client.delete(NODES, "a")
            await asyncio.sleep(10)
            informer.learn(written)
            assert _names(informer) == ["b"]

    run(main())


def test_an_object_that_was_just_made_is_known_at_once_and_goes_when_the_watch_says_so() -> None:
    async def main() -> None:
        world = _world()
        informer, named = (
            Informer(world.client, NODES),
            Informer(world.client, NODES, Selection(fields="metadata.name=a")),
        )
        told: list[str] = []
        async with running(informer.run()), running(named.run()):
            await informer.wait_synced()
            await named.wait_synced()
            informer.add_handler(lambda _before, after: told.append(after.metadata.name if after else "gone"))
            told.clear()
            made = await world.client.create(NODES, NODES.body("c"), manager="t")
            await world.client.delete(NODES, "c")
            if "c" not in _names(informer):  # the watch is behind
                informer.learn(made)
                assert _names(informer) == ["a", "b", "c"]
            named.learn(made)
            assert _names(named) == ["a"], "it watches one name alone"
            await asyncio.sleep(10)
            assert _names(informer) == ["a", "b"]
            informer.learn(made)
            assert _names(informer) == ["a", "b"], "it has come and gone"
        assert told == ["c", "gone"]

    run(main())


def test_whoever_reads_no_versions_is_not_told_of_a_heartbeat() -> None:
    async def main() -> None:
        world = _world()
        informer = Informer(world.client, NODES)
        all_told: list[str] = []
        told: list[str] = []
        async with running(informer.run()):
            await informer.wait_synced()
            informer.add_handler(lambda _before, after: all_told.append("a" if after else ""))
            informer.add_handler(lambda _before, after: told.append("a" if after else ""), of_versions=False)
            all_told.clear()
            told.clear()
            beat = {"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "12:00"}]}}
            await world.client.merge_patch(NODES, "a", beat, manager="t", subresource="status")
            await asyncio.sleep(1)
            assert (len(all_told), len(told)) == (1, 0), "its condition is new, and nobody reads it"
            beat["status"]["conditions"][0]["lastHeartbeatTime"] = "12:10"
            await world.client.merge_patch(NODES, "a", beat, manager="t", subresource="status")
            await asyncio.sleep(1)
            assert (len(all_told), len(told)) == (2, 0)
            more = {"status": {"capacity": {"cpu": "8"}}}
            await world.client.merge_patch(NODES, "a", more, manager="t", subresource="status")
            await asyncio.sleep(1)
            assert (len(all_told), len(told)) == (3, 1)
            assert _equals(world, informer)

    run(main())


def test_a_store_that_was_set_back_is_believed() -> None:
    async def main() -> None:
        world = _world()
        informer = Informer(world.client, NODES)
        async with running(informer.run()):
            await informer.wait_synced()
            known = informer.cache.get("a")
            assert known is not None
            ahead = msgspec.structs.replace(
                known, metadata=msgspec.structs.replace(known.metadata, resource_version="999999999")
            )
            informer.learn(ahead)
            world.server.store.compact()
            world.server.faults.close_watches_at_once = True
            world.server.restart()
            await asyncio.sleep(1)
            world.server.faults.close_watches_at_once = False
            informer._version = None
            await asyncio.sleep(30)
            assert _equals(world, informer)

    run(main())
