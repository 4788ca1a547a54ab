"""What goes first: others wait while urgent keys do, and not for ever."""

from __future__ import annotations

import asyncio

from engine.cluster.actions import Action
from engine.cluster.client import Client
from engine.cluster.queue import WorkQueue
from engine.cluster.writers import Writer
from engine.worker.log import silent
from engine.worker.loop import Controller, Work
from engine.worker.urgent import PATIENCE_SECONDS, Urgent
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.virtual import VirtualClock, half, run


def test_nobody_waits_where_nothing_urgent_is_led_or_waits() -> None:
    async def main() -> None:
        urgent = Urgent()
        urgent.add(lambda: None)
        urgent.add(lambda: WorkQueue[str](VirtualClock()))
        await urgent.give_way()

    run(main())


def test_others_go_on_when_the_last_urgent_key_has_its_worker() -> None:
    async def main() -> None:
        first, second = WorkQueue[str](VirtualClock()), WorkQueue[str](VirtualClock())
        urgent = Urgent()
        urgent.add(lambda: first)
        urgent.add(lambda: second)
        first.add("a")
        second.add("b")
        waiting = asyncio.ensure_future(urgent.give_way())
        await first.get()
        await asyncio.sleep(0)
        assert not waiting.done()
        await second.get()
        await waiting

    run(main())


def test_a_key_that_goes_on_to_the_next_urgent_queue_is_waited_for_there_too() -> None:
    async def main() -> None:
        first, second = WorkQueue[str](VirtualClock()), WorkQueue[str](VirtualClock())
        urgent = Urgent()
        urgent.add(lambda: first)
        urgent.add(lambda: second)
        first.add("a")
        waiting = asyncio.ensure_future(urgent.give_way())
        await asyncio.sleep(0)
        second.add(await first.get())
        await asyncio.sleep(1)
        assert not waiting.done()
        await second.get()
        await waiting

    run(main())


def test_keys_that_never_cease_to_be_urgent_hold_nobody_up_for_good() -> None:
    async def main() -> None:
        queue, urgent = WorkQueue[str](VirtualClock()), Urgent()
        urgent.add(lambda: queue)
        queue.add("a")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await urgent.give_way()
        assert loop.time() - begun >= PATIENCE_SECONDS
        assert len(queue) == 1

    run(main())


def test_a_controller_that_gives_way_looks_at_nothing_before_its_turn() -> None:
    async def main() -> None:
        clock, queue, urgent = VirtualClock(), WorkQueue[str](VirtualClock()), Urgent()
        urgent.add(lambda: queue)
        looked: list[str] = []

        def observe(key: str) -> str:
            looked.append(key)
            return key

        def plan(_seen: str) -> list[Action]:
            return []

        client = Client(FakeTransport(ApiServer(clock), "engine"), clock=clock, chance=half)
        work = Work("late", lambda: ["node"], observe, plan, gives_way_to=urgent)
        controller = Controller(work, Writer(client), lambda *_: None, clock, silent())
        queue.add("label")
        leading = asyncio.ensure_future(controller.lead())
        await clock.sleep(1)
        assert looked == []
        await queue.get()
        await clock.sleep(0.1)
        assert looked == ["node"]
        leading.cancel()

    run(main())
