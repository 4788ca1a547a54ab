"""Several workers at once, and clocks that jump: one writes at a time, and the end is that of an undisturbed run.

How the lease is kept and lost is shown in tests/unit/cluster; here it is what comes of it for the objects.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from engine.cluster.errors import NotLeader
from engine.cluster.resources import NODES
from tests.fakes.apiserver import Seen
from tests.fakes.faults import Faults
from tests.fakes.virtual import VirtualClock
from tests.unit.worker.faults_stage import ADMITTED, FaultStage, from_the_start, on, settled, survives, transport
from tests.unit.worker.photos import Photo, after_each_write, assert_same
from tests.unit.worker.queues_stage import A10G

pytestmark = pytest.mark.living

YEAR_SECONDS = 365 * 24 * 3600.0


class JumpingClock(VirtualClock):
    """One process's own clocks. Shape: `skew_seconds` is the time of day's, `slept_seconds` of both: a machine that slept."""

    slept_seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.slept_seconds


async def come_to_the_end(stage: FaultStage, seconds: float = 90) -> None:
    """From the middle of a full sync to what an undisturbed worker comes to."""
    await stage.wait(seconds)
    await stage.admit_all()
    await stage.wait(30)
    assert_same(settled(), Photo.of(stage.server))
    assert await stage.at_rest(600) == []


@pytest.mark.parametrize("writes", [12, 22, 35, 48, 62])
def test_a_leader_killed_in_the_middle_of_its_work_is_followed_by_another_once_its_lease_is_over(writes: int) -> None:
    async def main(stage: FaultStage) -> None:
        count, died_at = 0, 0.0
        stage.start("one", is_elected=True)

        def kill(_seen: Seen) -> None:
            nonlocal count, died_at
            count += 1
            if count == writes:
                died_at = stage.clock.monotonic()
                stage.kill("one")

        after_each_write(stage.server, "one", kill)
        await stage.wait(0.5)
        stage.start("two", is_elected=True)
        await come_to_the_end(stage)
        first = min(each.at for each in stage.server.writes("two") if "/leases/" not in each.path)
        assert max(each.at for each in stage.server.writes("one")) == died_at
        assert 5 < first - died_at < 20

    from_the_start(main)


def test_a_leader_that_is_paused_writes_nothing_when_it_wakes_under_another() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start("one", is_elected=True)
        await stage.wait(2)
        stage.start("two", is_elected=True)
        await stage.wait(1)
        own = pause(stage, "one")
        await stage.wait(30)
        own.resume()
        count = len(stage.server.writes("one"))
        await come_to_the_end(stage)
        assert len(stage.server.writes("one")) == count
        _, task = stage.workers.pop("one")
        with pytest.raises(NotLeader):
            await task

    from_the_start(main)


def test_leaders_that_follow_each_other_every_two_seconds_finish_a_migration_together() -> None:
    async def main(stage: FaultStage) -> None:
        for number in range(12):
            name = f"life-{number}"
            stage.start(name, is_elected=True)
            await stage.wait(2)
            if number == 2:
                await stage.mark("node-a10g", "false")
            if number == 7:
                assert stage.policy(A10G) == "HoldAndDrain"
                await stage.mark("node-a10g", "true")
            await stage.stop(name)
        stage.start("last", is_elected=True)
        await stage.wait(90)
        assert stage.admitted() == list(ADMITTED)
        assert "on-t4" not in stage.evictions()
        assert list(stage.quotas(A10G).values()) == ["1600k"]
        assert await stage.at_rest(600) == []

    on(settled(), main)


def test_two_workers_that_both_write_because_somebody_turned_the_election_off_do_not_fight() -> None:
    async def main(stage: FaultStage) -> None:
        stage.start("one")
        await stage.wait(0.3)
        stage.start("two")
        await come_to_the_end(stage)
        assert len(stage.server.writes("one")) + len(stage.server.writes("two")) < 250

    from_the_start(main)


@pytest.mark.parametrize("skew_seconds", [YEAR_SECONDS, -YEAR_SECONDS])
@pytest.mark.parametrize("is_elected", [True, False])
def test_a_time_of_day_that_jumps_by_a_year_changes_nothing(skew_seconds: float, is_elected: bool) -> None:
    async def happens(stage: FaultStage) -> None:
        clock = JumpingClock()
        start_with(stage, clock, is_elected=is_elected)
        await stage.wait(5)
        clock.skew_seconds = skew_seconds
        await touch(stage)
        await stage.wait(60)
        clock.skew_seconds = 0
        await touch(stage)

    survives(happens, is_started=False, rest_seconds=600)


@pytest.mark.parametrize("skew_seconds", [YEAR_SECONDS, -YEAR_SECONDS])
def test_a_full_sync_by_a_worker_whose_time_of_day_is_a_year_off_comes_to_the_same(skew_seconds: float) -> None:
    async def main(stage: FaultStage) -> None:
        clock = JumpingClock(skew_seconds)
        start_with(stage, clock, is_elected=True)
        await come_to_the_end(stage)

    from_the_start(main)


def test_a_machine_that_slept_for_an_hour_stops_leading_before_it_writes_and_begins_anew() -> None:
    async def main(stage: FaultStage) -> None:
        clock = JumpingClock()
        start_with(stage, clock, is_elected=True)
        await stage.wait(1.5)
        clock.slept_seconds = 3600
        count = len(stage.writes_of_workers())
        assert count > 0
        await stage.wait(10)
        _, task = stage.workers["engine"]
        assert isinstance(task.exception(), NotLeader)
        del stage.workers["engine"]
        assert not [each for each in stage.writes_of_workers() if each.startswith("engine ")]
        stage.start("anew", is_elected=True)
        await come_to_the_end(stage)

    from_the_start(main)


def start_with(stage: FaultStage, clock: VirtualClock, **options: bool) -> None:
    """A worker with clocks of its own."""
    worlds, stage.clock = stage.clock, clock
    stage.start(**options)
    stage.clock = worlds


def pause(stage: FaultStage, name: str) -> Faults:
    """As far as the API server can tell, the process is stopped."""
    own = Faults()
    own.pause()
    transport(stage.workers[name][0]).faults = own
    return own


async def touch(stage: FaultStage) -> None:
    """Something to do: a label that the worker keeps is taken off a Node."""
    with suppress(KeyError):
        patch = {"metadata": {"labels": {"topology.gpustack.ai/profile": None}}}
        await stage.admin.merge_patch(NODES, "node-cpu", patch, manager="kubectl")
        await stage.wait(5)
