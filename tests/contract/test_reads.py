"""Get, list, paging, watch, bookmarks and 410: what informers stand on."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from engine.cluster.client import Selection
from engine.cluster.decode import WatchEvent
from engine.cluster.errors import BadRequest, Gone, NotFound
from engine.cluster.objects import Owned
from engine.cluster.resources import CONFIG_MAPS, NODES, Resource
from tests.contract.servers import WIDGETS, Bench, Server


async def _make(bench: Bench, *names: str, **labels: str) -> None:
    for name in names:
        body = bench.widget(name, metadata={"labels": labels} if labels else {}, spec={"text": name})
        await bench.client.create(WIDGETS, body, manager="contract")


@contextlib.asynccontextmanager
async def _watching(
    bench: Bench, version: str, selection: Selection | None = None, seconds: int = 20, rest_seconds: float = 0.0
) -> AsyncIterator[list[WatchEvent[Owned]]]:
    seen: list[WatchEvent[Owned]] = []

    async def follow() -> None:
        stream = bench.client.watch(
            WIDGETS,
            selection or bench.here,
            resource_version=version,
            timeout_seconds=seconds,
            rest_seconds=rest_seconds,
        )
        async with contextlib.aclosing(stream) as events:
            async for event in events:
                seen.append(event)  # noqa: PERF401 - others look while it grows

    task = asyncio.create_task(follow())
    try:
        yield seen
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _count(seen: list[WatchEvent[Owned]], count: int) -> bool:
    return len([each for each in seen if each.kind != "BOOKMARK"]) >= count


def _told(seen: list[WatchEvent[Owned]]) -> list[tuple[str, str]]:
    return [(each.kind, each.thing.metadata.name) for each in seen if each.thing is not None]


def test_an_object_that_was_created_is_read_back_with_uid_version_and_generation(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a", color="red")
        found = await bench.client.get(WIDGETS, "a", bench.namespace)
        assert found.spec == {"text": "a"}
        assert found.metadata.labels == {"color": "red"}
        assert (found.metadata.generation, found.metadata.namespace) == (1, bench.namespace)
        assert found.metadata.uid
        assert int(found.metadata.resource_version) > 0

    server.run(test)


def test_a_missing_object_and_a_missing_kind_are_not_found(server: Server) -> None:
    async def test(bench: Bench) -> None:
        with pytest.raises(NotFound) as missing:
            await bench.client.get(WIDGETS, "nobody", bench.namespace)
        assert missing.value.reason == "NotFound"
        nothing = Resource("contract.engine.dev", "v1", "gadgets", "Gadget", is_namespaced=True, struct=Owned)
        with pytest.raises(NotFound):
            await bench.client.list(nothing)

    server.run(test)


def test_a_list_comes_in_pages_of_one_version_sorted_by_name(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, *(f"w{number}" for number in range(7)))
        pages = [page async for page in bench.client.pages(WIDGETS, bench.here, limit=3)]
        assert [len(page.items) for page in pages] == [3, 3, 1]
        assert [bool(page.token) for page in pages] == [True, True, False]
        assert len({page.resource_version for page in pages}) == 1
        names = [thing.metadata.name for page in pages for thing in page.items]
        assert names == [f"w{number}" for number in range(7)]

    server.run(test)


def test_a_later_page_does_not_see_what_was_written_after_the_first(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a", "b", "c")
        names: list[str] = []
        async for page in bench.client.pages(WIDGETS, bench.here, limit=2):
            names += [thing.metadata.name for thing in page.items]
            if page.token:
                await bench.client.delete(WIDGETS, "c", bench.namespace)
                await _make(bench, "d")
        assert names == ["a", "b", "c"]

    server.run(test)


def test_a_continue_token_of_a_forgotten_version_is_gone(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a", "b", "c")
        pages = bench.client.pages(WIDGETS, bench.here, limit=2)
        page = await anext(pages)
        await pages.aclose()
        token = json.loads(base64.urlsafe_b64decode(page.token + "=="))
        old = base64.urlsafe_b64encode(json.dumps(token | {"rv": 1}).encode()).rstrip(b"=").decode()
        bench.compact()
        with pytest.raises(Gone):
            await anext(bench.client.pages(WIDGETS, bench.here, limit=2, token=old))
        assert len((await bench.client.list(WIDGETS, bench.here, limit=2)).items) == 3

    server.run(test)


def test_selectors_choose_by_label_and_by_name(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a", "b", color="red")
        await _make(bench, "c", color="blue")
        await _make(bench, "d")

        async def names(labels: str = "", fields: str = "") -> list[str]:
            found = await bench.client.list(WIDGETS, Selection(bench.namespace, labels, fields))
            return [thing.metadata.name for thing in found.items]

        assert await names("color=red") == ["a", "b"]
        assert await names("color!=red") == ["c", "d"]
        assert await names("color in (red,blue)") == ["a", "b", "c"]
        assert await names("color,color notin (red)") == ["c"]
        assert await names("!color") == ["d"]
        assert await names(fields="metadata.name=c") == ["c"]
        with pytest.raises(BadRequest):
            await names(fields="spec.text=a")

    server.run(test)


def test_a_watch_tells_what_happened_after_its_version_in_order(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "before")
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        async with _watching(bench, version) as seen:
            await _make(bench, "a")
            patched = await bench.client.merge_patch(
                WIDGETS, "a", {"spec": {"text": "new"}}, manager="contract", namespace=bench.namespace
            )
            await bench.client.delete(WIDGETS, "a", bench.namespace)
            await bench.eventually(lambda: _count(seen, 3))
        assert _told(seen) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
        versions = [int(each.resource_version) for each in seen]
        assert versions == sorted(versions)
        assert seen[1].resource_version == patched.metadata.resource_version
        assert versions[2] > versions[1], "a deletion has a version of its own"

    server.run(test)


def test_a_watch_resumes_from_the_version_of_any_event(server: Server) -> None:
    async def test(bench: Bench) -> None:
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        async with _watching(bench, version) as seen:
            await _make(bench, "a", "b", "c")
            await bench.eventually(lambda: _count(seen, 3))
        async with _watching(bench, seen[0].resource_version) as again:
            await bench.eventually(lambda: _count(again, 2))
        assert _told(again) == [("ADDED", "b"), ("ADDED", "c")]

    server.run(test)


def test_a_watch_with_a_selector_tells_when_an_object_leaves_and_enters_it(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a", color="red")
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        async with _watching(bench, version, Selection(bench.namespace, "color=red")) as seen:
            for color in ("blue", "red"):
                patch = {"metadata": {"labels": {"color": color}}}
                await bench.client.merge_patch(WIDGETS, "a", patch, manager="contract", namespace=bench.namespace)
            await bench.eventually(lambda: _count(seen, 2))
        assert _told(seen) == [("DELETED", "a"), ("ADDED", "a")]

    server.run(test)


def test_bookmarks_come_and_carry_a_version_to_resume_from(server: Server) -> None:
    async def test(bench: Bench) -> None:
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        stream = bench.client.watch(WIDGETS, bench.here, resource_version=version, timeout_seconds=90)
        async with contextlib.aclosing(stream) as events:
            mark = await anext(events)
        assert mark.kind == "BOOKMARK"
        assert mark.thing is None
        assert int(mark.resource_version) >= int(version)

    server.run(test)


def test_a_watch_ends_by_itself_after_the_time_asked_for(server: Server) -> None:
    async def test(bench: Bench) -> None:
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        loop = asyncio.get_running_loop()
        began = loop.time()
        stream = bench.client.watch(WIDGETS, bench.here, resource_version=version, timeout_seconds=2)
        async with contextlib.aclosing(stream) as events:
            assert [event async for event in events if event.kind != "BOOKMARK"] == []
        assert 1.0 <= loop.time() - began <= 10.0

    server.run(test)


def test_a_watch_that_rests_tells_every_change_in_its_order_small_ones_and_bursts(server: Server) -> None:
    async def test(bench: Bench) -> None:
        version = (await bench.client.list(WIDGETS, bench.here)).resource_version
        # Beyond a record of TLS, a socket's buffer, and what is told without a rest.
        sizes = [1, 100, 20_000, 90_000, 90_000, 90_000, 90_000, 7, 300, 15_000, 1]
        names = [f"w-{at:02}" for at in range(len(sizes))]
        async with _watching(bench, version, seconds=60, rest_seconds=0.1) as seen:
            for name, size in zip(names, sizes, strict=True):
                await bench.client.create(WIDGETS, bench.widget(name, spec={"text": size * "x"}), manager="contract")
            await bench.eventually(lambda: _count(seen, len(names)))
            # A stream that was at rest for long goes on by the same connection.
            await asyncio.sleep(0.5)
            await _make(bench, "z")
            await bench.eventually(lambda: _count(seen, len(names) + 1))
        assert _told(seen) == [("ADDED", name) for name in [*names, "z"]]

    server.run(test)


def test_a_watch_from_a_forgotten_version_is_gone(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _make(bench, "a")
        bench.compact()
        stream = bench.client.watch(WIDGETS, bench.here, resource_version="1", timeout_seconds=5)
        with pytest.raises(Gone):
            async with contextlib.aclosing(stream) as events:
                await anext(events)

    server.run(test)


def test_the_same_object_is_seen_in_its_namespace_only(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await bench.client.create(CONFIG_MAPS, CONFIG_MAPS.body("a", bench.namespace, data={"k": "v"}), manager="c")
        assert (await bench.client.get(CONFIG_MAPS, "a", bench.namespace)).data == {"k": "v"}
        with pytest.raises(NotFound):
            await bench.client.get(CONFIG_MAPS, "a", "default")
        everywhere = await bench.client.list(CONFIG_MAPS)
        assert [each.metadata.namespace for each in everywhere.items if each.metadata.name == "a"] == [bench.namespace]

    server.run(test)


def test_a_node_is_written_without_status_loss(server: Server) -> None:
    async def test(bench: Bench) -> None:
        name = bench.prefix
        bench.later(lambda: bench.client.delete(NODES, name))
        await bench.client.create(NODES, NODES.body(name), manager="c")
        await bench.client.merge_patch(
            NODES, name, {"status": {"capacity": {"cpu": "4", "x.dev/y": "3"}}}, manager="c", subresource="status"
        )
        node = await bench.client.merge_patch(NODES, name, {"metadata": {"labels": {"a": "b"}}}, manager="c")
        assert node.status.capacity == {"cpu": "4", "x.dev/y": "3"}
        assert node.metadata.labels["a"] == "b"

    server.run(test)
