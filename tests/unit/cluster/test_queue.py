"""The work queue: once each, one worker a key, slower retries, windows, and a graceful end."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from engine.cluster.errors import NotLeader, TooManyRequests
from engine.cluster.queue import NOT_LEADING_SECONDS, QueueClosed, QueueSettings, WorkQueue, run_workers
from tests.fakes.virtual import VirtualClock, run
from tests.unit.cluster.worlds import running


def _queue(**settings: float) -> WorkQueue[str]:
    return WorkQueue(VirtualClock(), QueueSettings(**settings))


def test_a_key_that_is_added_twice_is_worked_on_once() -> None:
    async def main() -> None:
        queue = _queue()
        for key in ("a", "b", "a"):
            queue.add(key)
        assert len(queue) == 2
        assert [await queue.get(), await queue.get()] == ["a", "b"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1000):
                await queue.get()

    run(main())


def test_a_key_in_work_is_given_to_nobody_else_and_comes_again_afterwards() -> None:
    async def main() -> None:
        queue = _queue()
        at_work: set[str] = set()
        count = {"a": 0, "b": 0}

        async def work(key: str) -> None:
            assert key not in at_work
            at_work.add(key)
            await asyncio.sleep(1)
            at_work.discard(key)
            count[key] += 1

        async with running(run_workers(queue, work, workers=4)):
            for _ in range(10):
                queue.add("a")
                queue.add("b")
                await asyncio.sleep(0.35)
            await queue.drain()
        assert count["a"] == count["b"]
        assert 3 <= count["a"] <= 5

    run(main())


def test_retries_wait_longer_each_time_up_to_the_cap_and_success_forgets() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock, QueueSettings(retry_base_seconds=1, retry_cap_seconds=5))
        at: list[float] = []

        async def work(_key: str) -> None:
            at.append(clock.monotonic())
            if len(at) < 6:
                raise ZeroDivisionError

        seen: list[tuple[str, type[Exception]]] = []
        queue.add("a")
        async with running(run_workers(queue, work, report=lambda key, error: seen.append((key, type(error))))):
            await asyncio.sleep(60)
            assert queue.failures("a") == 0
        gaps = [round(late - early) for early, late in itertools.pairwise(at)]
        assert gaps == [1, 2, 4, 5, 5]
        assert seen == [("a", ZeroDivisionError)] * 5

    run(main())


def test_a_retry_waits_as_long_as_the_server_asked() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock)
        at: list[float] = []

        async def work(_key: str) -> None:
            at.append(clock.monotonic())
            if len(at) == 1:
                raise TooManyRequests("busy", status=429, retry_after_seconds=30)

        queue.add("a")
        async with running(run_workers(queue, work)):
            await asyncio.sleep(60)
        assert at[1] - at[0] == pytest.approx(30)

    run(main())


def test_a_key_that_was_held_back_for_want_of_the_lease_is_not_tried_all_the_time() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock)
        at: list[float] = []

        async def work(_key: str) -> None:
            at.append(clock.monotonic())
            if len(at) == 1:
                raise NotLeader("this process does not lead")

        queue.add("a")
        async with running(run_workers(queue, work)):
            await asyncio.sleep(60)
        assert at[1] - at[0] == pytest.approx(NOT_LEADING_SECONDS)

    run(main())


def test_a_key_that_always_fails_does_not_hold_up_the_others() -> None:
    async def main() -> None:
        queue = _queue()
        done: list[str] = []

        async def work(key: str) -> None:
            if key == "bad":
                raise ZeroDivisionError
            done.append(key)

        async with running(run_workers(queue, work)):
            for key in ("bad", "a", "b"):
                queue.add(key)
            await asyncio.sleep(1)
        assert done == ["a", "b"]

    run(main())


def test_a_first_change_goes_out_at_once_and_a_burst_goes_out_as_one_at_the_windows_end() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock, QueueSettings(window_seconds=3))
        at: list[float] = []
        began = clock.monotonic()

        async def work(_key: str) -> None:
            at.append(round(clock.monotonic() - began, 2))

        async with running(run_workers(queue, work, workers=2)):
            for _ in range(50):
                queue.add("a")
                await asyncio.sleep(0.1)
            await asyncio.sleep(20)
            queue.add("a")
            await asyncio.sleep(10)
        assert at == [0.0, 3.0, 6.0, 25.0]

    run(main())


def test_windows_of_different_keys_are_apart() -> None:
    async def main() -> None:
        queue = _queue(window_seconds=3)
        queue.add("a")
        queue.done(await queue.get())
        queue.add("a")
        queue.add("b")
        assert await queue.get() == "b"

    run(main())


def test_a_change_during_work_waits_for_the_window_too() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock, QueueSettings(window_seconds=3))
        queue.add("a")
        key = await queue.get()
        began = clock.monotonic()
        queue.add("a")
        queue.done(key)
        assert await queue.get() == "a"
        assert clock.monotonic() - began == pytest.approx(3)

    run(main())


def test_windows_that_have_ended_are_forgotten() -> None:
    async def main() -> None:
        queue: WorkQueue[int] = WorkQueue(VirtualClock(), QueueSettings(window_seconds=1))
        for key in range(5000):
            queue.add(key)
            queue.done(await queue.get())
            await asyncio.sleep(0.01)
        assert len(queue._window_ends) < 2000

    run(main())


def test_of_two_delays_the_earlier_counts() -> None:
    async def main() -> None:
        clock = VirtualClock()
        queue: WorkQueue[str] = WorkQueue(clock)
        began = clock.monotonic()
        queue.add_after("a", 10)
        queue.add_after("a", 2)
        queue.add_after("a", 5)
        queue.add_after("b", 0)
        assert await queue.get() == "b"
        assert await queue.get() == "a"
        assert clock.monotonic() - began == pytest.approx(2)
        queue.done("a")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(100):
                await queue.get()

    run(main())


def test_a_delay_that_is_a_rounding_error_moves_time_on_nevertheless() -> None:
    async def main() -> None:
        queue = _queue()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        assert begun + 1e-14 == begun
        queue.add_after("a", 1e-14)
        assert await queue.get() == "a"
        assert loop.time() > begun

    run(main())


def test_a_delayed_key_that_falls_due_while_it_is_worked_on_comes_afterwards() -> None:
    async def main() -> None:
        queue = _queue()
        queue.add("a")
        await queue.get()
        queue.add_after("a", 1)
        waiting = asyncio.ensure_future(queue.get())
        await asyncio.sleep(5)
        assert not waiting.done()
        queue.done("a")
        assert await waiting == "a"

    run(main())


def test_draining_finishes_what_is_ready_and_takes_nothing_new() -> None:
    async def main() -> None:
        queue = _queue()
        done: list[str] = []

        async def work(key: str) -> None:
            await asyncio.sleep(5)
            done.append(key)

        for key in ("a", "b", "c"):
            queue.add(key)
        queue.add_after("later", 1)
        workers = asyncio.ensure_future(run_workers(queue, work, workers=2))
        await asyncio.sleep(0.1)
        drained = asyncio.ensure_future(queue.drain())
        await asyncio.sleep(0.1)
        queue.add("late")
        await drained
        await workers
        assert sorted(done) == ["a", "b", "c"]
        assert queue.is_idle
        with pytest.raises(QueueClosed):
            await queue.get()

    run(main())


def test_who_waits_for_the_queue_to_be_taken_goes_on_when_each_key_has_a_worker() -> None:
    async def main() -> None:
        queue = _queue()
        await queue.wait_taken()
        queue.add("a")
        queue.add("b")
        waiting = asyncio.ensure_future(queue.wait_taken())
        assert await queue.get() == "a"
        await asyncio.sleep(0)
        assert (queue.is_ready("a"), queue.is_ready("b"), waiting.done()) == (False, True, False)
        assert await queue.get() == "b"
        await waiting
        assert not queue.is_idle

    run(main())
