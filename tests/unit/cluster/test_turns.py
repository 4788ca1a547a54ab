"""Turns: one at a time for a key, different keys beside each other, and nothing kept afterwards."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from engine.cluster.turns import Turns
from tests.fakes.virtual import VirtualClock, run


def test_turns_of_one_key_come_one_after_another_and_those_of_others_beside_them() -> None:
    async def main() -> None:
        clock, turns = VirtualClock(), Turns()
        told: list[tuple[str, float]] = []

        async def work(key: str, name: str) -> None:
            async with turns.of(key):
                await clock.sleep(1)
                told.append((name, clock.monotonic()))

        began = clock.monotonic()
        await asyncio.gather(work("a", "first"), work("a", "second"), work("b", "other"))
        assert [(name, at - began) for name, at in told] == [("first", 1), ("other", 1), ("second", 2)]
        assert len(turns) == 0

    run(main())


def test_a_turn_that_fails_or_is_given_up_lets_the_next_one_begin() -> None:
    async def main() -> None:
        clock, turns = VirtualClock(), Turns()

        async def fail() -> None:
            async with turns.of("a"):
                await clock.sleep(1)
                raise ValueError

        async def wait() -> None:
            async with turns.of("a"):
                await clock.sleep(9)

        failing, waiting = asyncio.ensure_future(fail()), asyncio.ensure_future(wait())
        await clock.sleep(0.5)
        waiting.cancel()
        with suppress(ValueError):
            await failing
        async with turns.of("a"):
            assert len(turns) == 1
        assert len(turns) == 0

    run(main())
