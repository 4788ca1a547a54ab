"""The elector: never two that write, whoever is paused, cut off or has a wrong clock."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import ClusterError, NotLeader
from engine.cluster.resources import CONFIG_MAPS, LEASES
from engine.errors import ContractError
from tests.fakes.faults import Faults, Storm
from tests.fakes.virtual import run
from tests.unit.cluster.worlds import Process, World, running

NAMESPACE = "gpustack-system"


def _settings(name: str) -> ElectorSettings:
    return ElectorSettings("worker", NAMESPACE, name)


class Candidate:
    """A process that writes five times a second while it leads."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.elector = Elector(process.client, _settings(process.name), report=self._report)
        self.client = process.client.gated(self.elector)
        self.led = 0
        self.refused = 0
        self.told: list[str] = []

    async def run(self) -> None:
        while True:
            with contextlib.suppress(NotLeader):
                await self.elector.run(self._lead)
            await self.process.sleep(1)

    async def _lead(self) -> None:
        self.led += 1
        while True:
            try:
                body = CONFIG_MAPS.body("state", NAMESPACE, data={self.process.name: str(self.process.monotonic())})
                await self.client.apply(CONFIG_MAPS, body, manager=self.process.name)
            except NotLeader:
                self.refused += 1
            except ClusterError:
                pass
            await self.process.sleep(0.2)

    def _report(self, what: str, _error: ClusterError | None) -> None:
        self.told.append(what)


def _writers(world: World) -> list[tuple[float, str]]:
    """Who wrote the guarded object, when."""
    return [(seen.at, seen.sender) for seen in world.server.writes() if "/configmaps/" in seen.path]


def _turns(world: World) -> list[str]:
    """The writers in order, repetitions left out."""
    turns: list[str] = []
    for _, sender in _writers(world):
        if turns[-1:] != [sender]:
            turns.append(sender)
    return turns


def _assert_apart(world: World) -> None:
    """Between the last write of one leader and the first of the next lies the time that nobody leads."""
    last: dict[str, float] = {}
    for at, sender in _writers(world):
        others = [when for other, when in last.items() if other != sender]
        if others and last.get(sender, 0.0) < max(others):
            gap = at - max(others)
            assert gap >= 5.0, f"{sender} wrote {gap:.1f} s after another"
        last[sender] = at


def _contest(scene: Callable[[World, Candidate, Candidate], Any], *, skew_seconds: float = 0.0) -> None:
    async def main() -> None:
        world = World()
        first = Candidate(world.process("first"))
        second = Candidate(world.process("second", skew_seconds=skew_seconds))
        async with running(first.run()):
            await asyncio.sleep(5)
            async with running(second.run()):
                await asyncio.sleep(20)
                assert first.elector.is_leader()
                assert not second.elector.is_leader()
                await scene(world, first, second)

    run(main())


def test_one_leads_and_the_other_waits() -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        await asyncio.sleep(300)
        assert _turns(world) == ["first"]
        assert (first.led, second.led) == (1, 0)
        lease = await world.client.get(LEASES, "worker", NAMESPACE)
        assert (lease.spec.holder_identity, lease.spec.lease_transitions) == ("first", 0)
        assert second.elector.holder == "first"

    _contest(scene)


@pytest.mark.parametrize("skew_seconds", [60.0, -60.0, 86_400.0])
def test_a_wrong_wall_clock_neither_steals_nor_loses_the_lease(skew_seconds: float) -> None:
    async def scene(world: World, first: Candidate, _second: Candidate) -> None:
        await asyncio.sleep(120)
        assert _turns(world) == ["first"]
        first.process.pause()
        await asyncio.sleep(40)
        assert _turns(world) == ["first", "second"]

    _contest(scene, skew_seconds=skew_seconds)


def test_a_wall_clock_that_jumps_changes_nothing() -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        for skew_seconds in (60.0, -60.0, 3600.0):
            first.process._clock.skew_seconds = skew_seconds
            second.process._clock.skew_seconds = -skew_seconds
            await asyncio.sleep(30)
        assert _turns(world) == ["first"]

    _contest(scene)


@pytest.mark.parametrize("pause_seconds", [11.0, 16.0, 60.0, 600.0])
def test_a_process_that_wakes_after_its_time_does_not_write(pause_seconds: float) -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        first.process.pause()
        paused_at = first.process.monotonic()
        await asyncio.sleep(pause_seconds)
        first.process.resume()
        await asyncio.sleep(30)
        turns = _turns(world)
        # One answer to a request that was under way may still come, but nothing new after the deadline.
        late = [at for at, sender in _writers(world) if sender == "first" and paused_at + 0.1 < at]
        if pause_seconds > 20:
            assert turns == ["first", "second"]
            assert late == []
        assert first.refused + second.refused <= 2, "a writer is refused at most once before its work is cancelled"

    _contest(scene)


def test_no_two_ever_write_in_turns_shorter_than_the_lease() -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        for _ in range(6):
            for one in (first, second):
                one.process.pause()
                await asyncio.sleep(23)
                one.process.resume()
                await asyncio.sleep(7)
        turns = _turns(world)
        assert len(turns) >= 3
        _assert_apart(world)

    _contest(scene)


def test_a_leader_cut_off_from_the_server_stops_before_another_may_begin() -> None:
    async def scene(world: World, first: Candidate, _second: Candidate) -> None:
        first.process._transport.faults = Faults(is_down=True)
        cut_at = first.process.monotonic()
        while first.elector.is_leader():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.1)
        assert first.process.monotonic() - cut_at <= 10.1
        await asyncio.sleep(30)
        assert _turns(world) == ["first", "second"]
        assert "lost the lease" in first.told

    _contest(scene)


def test_a_server_that_takes_renewals_and_does_not_answer_ends_the_lead_in_time() -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        world.server.faults.pause()
        paused_at = first.process.monotonic()
        while first.elector.is_leader():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.1)
        assert first.process.monotonic() - paused_at <= 10.1
        await asyncio.sleep(60)
        assert not first.elector.is_leader()
        assert not second.elector.is_leader()
        world.server.faults.resume()
        await asyncio.sleep(60)
        assert first.elector.is_leader() != second.elector.is_leader()

    _contest(scene)


@pytest.mark.parametrize("storm", [Storm(429, 1), Storm(500), Storm(503)], ids=["429", "500", "503"])
def test_a_short_storm_does_not_cost_the_lead(storm: Storm) -> None:
    async def scene(world: World, first: Candidate, _second: Candidate) -> None:
        world.server.faults.storm = storm
        await asyncio.sleep(7)
        world.server.faults.storm = None
        await asyncio.sleep(60)
        assert first.elector.is_leader()
        assert _turns(world) == ["first"]

    _contest(scene)


def test_a_lost_answer_to_a_renewal_does_not_cost_the_lead() -> None:
    async def scene(world: World, first: Candidate, _second: Candidate) -> None:
        world.server.faults.lose_answers = 3
        await asyncio.sleep(60)
        assert first.elector.is_leader()
        assert _turns(world) == ["first"]

    _contest(scene)


def test_a_lease_somebody_else_touched_is_renewed() -> None:
    async def scene(world: World, _first: Candidate, _second: Candidate) -> None:
        for number in range(10):
            patch = {"metadata": {"annotations": {"a": str(number)}}}
            await world.client.merge_patch(LEASES, "worker", patch, manager="admin", namespace=NAMESPACE)
            await asyncio.sleep(1.7)
        assert _turns(world) == ["first"]

    _contest(scene)


def test_a_lease_that_is_deleted_under_its_leader_makes_no_second_one() -> None:
    async def scene(world: World, first: Candidate, second: Candidate) -> None:
        for _ in range(10):
            await world.client.delete(LEASES, "worker", NAMESPACE)
            await asyncio.sleep(7.3)
        assert first.elector.is_leader()
        assert not second.elector.is_leader()
        assert _turns(world) == ["first"]
        await world.client.delete(LEASES, "worker", NAMESPACE)
        first.process.pause()
        await asyncio.sleep(60)
        assert second.elector.is_leader()
        _assert_apart(world)

    _contest(scene)


@pytest.mark.parametrize("latency_seconds", [0.01, 0.3, 1.5])
def test_many_that_begin_together_over_a_slow_network_agree_on_one(latency_seconds: float) -> None:
    async def main() -> None:
        world = World()
        candidates = [Candidate(world.process(f"p{number}")) for number in range(5)]
        for candidate in candidates:
            candidate.process.latency_seconds = latency_seconds
        async with contextlib.AsyncExitStack() as stack:
            for candidate in candidates:
                await stack.enter_async_context(running(candidate.run()))
            await asyncio.sleep(60)
            assert [candidate.elector.is_leader() for candidate in candidates].count(True) == 1
            assert len(_turns(world)) == 1
            leader = next(candidate for candidate in candidates if candidate.elector.is_leader())
            leader.process.pause()
            await asyncio.sleep(60)
            assert [candidate.elector.is_leader() for candidate in candidates].count(True) == 1
            assert len(_turns(world)) == 2
            _assert_apart(world)

    run(main())


def test_a_lease_given_to_somebody_else_by_hand_is_lost_at_the_next_renewal() -> None:
    async def scene(world: World, first: Candidate, _second: Candidate) -> None:
        patch = {"spec": {"holderIdentity": "admin"}}
        await world.client.merge_patch(LEASES, "worker", patch, manager="admin", namespace=NAMESPACE)
        await asyncio.sleep(4)
        assert not first.elector.is_leader()
        assert "lost the lease" in first.told

    _contest(scene)


def test_stopping_releases_the_lease_so_that_the_next_begins_at_once() -> None:
    async def main() -> None:
        world = World()
        second = Candidate(world.process("second"))
        async with running(Candidate(world.process("first")).run()):
            await asyncio.sleep(5)
            waiting = asyncio.ensure_future(second.run())
            await asyncio.sleep(5)
        stopped_at = second.process.monotonic()
        while not second.elector.is_leader():  # noqa: ASYNC110 - looked at from outside
            await asyncio.sleep(0.05)
        assert second.process.monotonic() - stopped_at < 3
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        lease = await world.client.get(LEASES, "worker", NAMESPACE)
        assert lease.spec.holder_identity == ""

    run(main())


def test_the_lead_ends_when_the_work_dies_and_its_error_is_raised() -> None:
    async def main() -> None:
        world = World()
        elector = Elector(world.client, _settings("only"))

        async def dies() -> None:
            await asyncio.sleep(12)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await elector.run(dies)
        assert not elector.is_leader()
        assert (await world.client.get(LEASES, "worker", NAMESPACE)).spec.holder_identity == ""

    run(main())


def test_the_lead_ends_when_the_work_is_done() -> None:
    async def main() -> None:
        world = World()
        elector = Elector(world.client, _settings("only"))

        async def works() -> None:
            await asyncio.sleep(30)
            assert elector.check() > 5

        await elector.run(works)
        with pytest.raises(NotLeader, match="lease"):
            elector.check()

    run(main())


def test_at_rest_only_the_lease_is_written() -> None:
    async def main() -> None:
        world = World()
        elector = Elector(world.client, _settings("only"))
        async with running(elector.run(lambda: asyncio.sleep(1000))):
            await asyncio.sleep(100)
            assert {seen.path for seen in world.server.seen if seen.is_changed} == {
                f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/worker",
                f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases",
            }

    run(main())


def test_a_gated_write_is_cut_short_where_the_lead_ends() -> None:
    async def main() -> None:
        world = World()

        class Gate:
            def check(self) -> float:
                return 1.5

        world.server.faults.pause()
        began = world.clock.monotonic()
        with pytest.raises(ClusterError, match=r"none within 1\.5 s"):
            await world.client.gated(Gate()).create(CONFIG_MAPS, CONFIG_MAPS.body("a", "default"), manager="t")
        assert world.clock.monotonic() - began == pytest.approx(1.5)

    run(main())


def test_times_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ContractError, match="do not fit"):
        ElectorSettings("l", "n", "i", lease_seconds=10, renew_deadline_seconds=10)
    with pytest.raises(ContractError, match="tried again"):
        ElectorSettings("l", "n", "i", retry_seconds=7)
