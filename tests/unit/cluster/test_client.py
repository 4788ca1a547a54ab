"""The client: what is repeated and what is not, whole lists, and errors that say what happened."""

from __future__ import annotations

import asyncio

import pytest

from engine.cluster.client import EVERYTHING, IN_FLIGHT, guarded
from engine.cluster.errors import (
    AlreadyExists,
    ApiError,
    BadObject,
    BadRequest,
    ClusterError,
    Gone,
    NotFound,
    ServerFault,
    TooManyRequests,
    Unreachable,
    api_error,
)
from engine.cluster.resources import CONFIG_MAPS, NODES, RESOURCE_FLAVORS
from engine.cluster.retry import ONCE, Backoff, RetryPolicy
from engine.cluster.transport import Request
from tests.fakes.faults import Storm
from tests.fakes.virtual import half, run
from tests.unit.cluster.worlds import World, node

BODY = CONFIG_MAPS.body("m", "default", data={"a": "1"})


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_read_is_repeated_until_the_server_is_well(code: int) -> None:
    async def main() -> None:
        world = World()
        await world.client.create(CONFIG_MAPS, BODY, manager="t")
        world.server.faults.storm = Storm(code, left=3)
        assert (await world.client.get(CONFIG_MAPS, "m", "default")).data == {"a": "1"}
        world.server.faults.storm = Storm(code, left=4)
        with pytest.raises(ApiError) as error:
            await world.client.get(CONFIG_MAPS, "m", "default")
        assert error.value.status == code

    run(main())


def test_the_server_says_when_to_come_back() -> None:
    async def main() -> None:
        world = World()
        world.server.faults.storm = Storm(429, retry_after_seconds=5, left=1)
        began = world.clock.monotonic()
        await world.client.list(NODES)
        assert 5.0 <= world.clock.monotonic() - began <= 6.0

    run(main())


def test_a_wait_longer_than_ones_patience_is_left_to_the_caller() -> None:
    async def main() -> None:
        world = World()
        world.server.faults.storm = Storm(429, retry_after_seconds=60)
        began = world.clock.monotonic()
        with pytest.raises(TooManyRequests) as error:
            await world.client.list(NODES)
        assert error.value.retry_after_seconds == 60
        assert world.clock.monotonic() == began

    run(main())


def test_a_create_is_repeated_after_429_but_never_after_a_cut() -> None:
    async def main() -> None:
        world = World()
        world.server.faults.storm = Storm(429, left=2)
        await world.client.create(CONFIG_MAPS, BODY, manager="t")
        world.server.faults.storm = Storm(503, left=1)
        with pytest.raises(ServerFault):
            await world.client.create(CONFIG_MAPS, CONFIG_MAPS.body("n", "default"), manager="t")
        world.server.faults.lose_answers = 1
        with pytest.raises(Unreachable):
            await world.client.create(CONFIG_MAPS, CONFIG_MAPS.body("n", "default"), manager="t")
        with pytest.raises(AlreadyExists):
            await world.client.create(CONFIG_MAPS, CONFIG_MAPS.body("n", "default"), manager="t")

    run(main())


def test_an_apply_whose_answer_is_lost_is_repeated_without_a_second_change() -> None:
    async def main() -> None:
        world = World()
        world.server.faults.lose_answers = 1
        made = await world.client.apply(CONFIG_MAPS, BODY, manager="t")
        assert [seen.is_changed for seen in world.server.seen] == [True, False]
        assert made.data == {"a": "1"}

    run(main())


def test_a_deletion_is_repeated_only_when_it_names_the_uid() -> None:
    async def main() -> None:
        world = World()
        made = await world.client.create(CONFIG_MAPS, BODY, manager="t")
        world.server.faults.storm = Storm(503, left=1)
        with pytest.raises(ServerFault):
            await world.client.delete(CONFIG_MAPS, "m", "default")
        world.server.faults.storm = Storm(503, left=1)
        await world.client.delete(CONFIG_MAPS, "m", "default", uid=made.metadata.uid)
        assert world.server.get(CONFIG_MAPS, "m", "default") is None

    run(main())


def test_a_request_that_gets_no_answer_ends_in_time() -> None:
    async def main() -> None:
        world = World()
        world.server.faults.pause()
        began = world.clock.monotonic()
        with pytest.raises(Unreachable, match="none within 3 s"):
            await world.client.limited(3, ONCE).get(NODES, "a")
        assert world.clock.monotonic() - began == pytest.approx(3)
        stream = world.client.limited(3, ONCE).watch(NODES, resource_version="1", timeout_seconds=9)
        with pytest.raises(Unreachable):
            await anext(stream)

    run(main())


def test_so_many_calls_are_under_way_at_once_and_a_limited_one_waits_for_none_of_them() -> None:
    async def main() -> None:
        world = World()
        sent: list[Request] = []
        world.server.faults.before = sent.append
        world.server.faults.pause()
        asked = [asyncio.ensure_future(world.client.get(NODES, "a")) for _ in range(IN_FLIGHT + 9)]
        watching = asyncio.ensure_future(anext(world.client.watch(NODES, resource_version="1", timeout_seconds=9)))
        renewing = asyncio.ensure_future(world.client.limited(4, ONCE).get(NODES, "a"))
        await world.clock.sleep(1)
        # Those that wait have sent nothing; a watch and a lease's renewal have.
        assert len(sent) == IN_FLIGHT + 2
        world.server.faults.resume()
        told = await asyncio.gather(*asked, renewing, return_exceptions=True)
        assert {type(each) for each in told} == {NotFound}
        watching.cancel()

    run(main())


def test_a_watch_that_goes_silent_is_given_up() -> None:
    async def main() -> None:
        world = World()
        world.server.bookmark_seconds = 1e9
        stream = world.client.watch(NODES, resource_version="150", timeout_seconds=10_000, idle_seconds=90)
        with pytest.raises(Unreachable, match="silent"):
            await anext(stream)

    run(main())


def test_a_list_whose_token_keeps_expiring_is_asked_for_in_one_piece() -> None:
    async def main() -> None:
        world = World()
        world.server.store.load("nodes", [node(name) for name in "abcde"])
        limits: list[str] = []

        def forget(request: Request) -> None:
            limits.append(request.query.get("limit", ""))
            if "continue" in request.query:
                world.server.store.compact()

        world.server.faults.before = forget
        found = await world.client.list(NODES, EVERYTHING, limit=2)
        assert len(found.items) == 5
        assert limits == ["2", "2", "2", "2", ""]
        world.server.faults.storm = Storm(410)
        with pytest.raises(Gone):
            await world.client.list(NODES)

    run(main())


def test_a_list_keeps_what_can_be_read_and_names_what_cannot() -> None:
    async def main() -> None:
        world = World()
        bad = {"metadata": {"name": "bad", "labels": {"a": 1}}}
        world.server.store.load("nodes", [node("a"), bad, node("z")])
        found = await world.client.list(NODES)
        assert [thing.metadata.name for thing in found.items] == ["a", "z"]
        assert [(each.name, "labels" in each.why) for each in found.broken] == [("bad", True)]
        with pytest.raises(BadObject, match="cannot be read"):
            await world.client.get(NODES, "bad")

    run(main())


def test_an_update_without_a_version_is_not_sent() -> None:
    async def main() -> None:
        world = World()
        with pytest.raises(BadRequest, match="overwrites"):
            await world.client.update(RESOURCE_FLAVORS, RESOURCE_FLAVORS.body("f"), manager="t")
        assert world.server.seen == []

    run(main())


def test_a_guard_leaves_the_patch_it_was_given_alone() -> None:
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {}}
    assert guarded(patch, "7") == {"metadata": {"labels": {"a": "b"}, "resourceVersion": "7"}, "spec": {}}
    assert guarded({"spec": {}}, "7") == {"spec": {}, "metadata": {"resourceVersion": "7"}}
    assert guarded(patch, "") == patch
    assert patch == {"metadata": {"labels": {"a": "b"}}, "spec": {}}


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = api_error(
        403, b'{"kind":"Status","reason":"Forbidden","message":"nodes is forbidden","code":403}', "GET /x"
    )
    assert str(error) == "GET /x: nodes is forbidden; grant the right to the account this process runs as"
    assert api_error(502, b"<html>bad gateway</html>", "GET /x").what == "<html>bad gateway</html>"
    assert isinstance(api_error(502, b"", "x"), ServerFault)
    assert type(api_error(418, b"{}", "x")) is ApiError
    busy = api_error(429, b'{"details":{"retryAfterSeconds":7}}', "x")
    assert isinstance(busy, TooManyRequests)
    assert busy.retry_after_seconds == 7


def test_waits_grow_are_jittered_and_have_a_cap() -> None:
    backoff = Backoff(lambda: 0.999, base_seconds=0.2, cap_seconds=4)
    waits = [round(backoff.next_seconds(), 1) for _ in range(7)]
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 4.0, 4.0]
    backoff.reset()
    assert backoff.next_seconds() < 0.2
    unlucky = Backoff(lambda: 0.0)
    assert unlucky.next_seconds() > 0, "jitter is never no wait at all"
    assert 30 < Backoff(half).next_seconds(30) < 31


def test_a_client_that_is_limited_keeps_its_gate() -> None:
    async def main() -> None:
        world = World()

        class Shut:
            def check(self) -> float:
                raise BadRequest("shut", status=0)

        client = world.client.gated(Shut()).limited(1, RetryPolicy(attempts=1))
        with pytest.raises(ClusterError, match="shut"):
            await client.create(CONFIG_MAPS, BODY, manager="t")
        await client.list(NODES)
        await asyncio.sleep(0)

    run(main())
