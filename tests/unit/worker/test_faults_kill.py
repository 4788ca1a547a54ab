"""A worker killed right after any of its writes: another one that begins then comes to where the first would have come.

As by SIGKILL: nothing is tidied up, nothing is remembered. What a process does in its last moments is not shown here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache

import pytest

from engine.cluster.resources import INSTANCE_TYPES, RESOURCE_FLAVORS, WORKLOADS
from tests.fakes.apiserver import Seen
from tests.fakes.kueue_workloads import is_admitted
from tests.unit.worker.faults_stage import GPU, FaultStage, bare, on, settled
from tests.unit.worker.photos import Photo, after_each_write, differences
from tests.unit.worker.queues_stage import GENERIC, T4

pytestmark = pytest.mark.living

CUSTOM = "t4-12c128g"
REST_SECONDS = 60.0
"""Longer than anything waits: a queue that is being deleted is looked at every 15 s, a refused plan every 30 s."""


async def full_sync(stage: FaultStage) -> None:
    """From machines to entrances: the worker only just begins."""


async def type_deleted(stage: FaultStage) -> None:
    """A type with an admitted Workload goes, and is not made anew."""
    await stage.admin.delete(INSTANCE_TYPES, CUSTOM)


async def derived_type_deleted(stage: FaultStage) -> None:
    """A type with an admitted Workload goes, and its pool gets another."""
    await stage.admin.delete(INSTANCE_TYPES, T4)


async def node_leaves(stage: FaultStage) -> None:
    """Two queues have to drain: the node's cards and its CPU are in use."""
    await stage.mark("node-a10g", "false")


async def node_returns(stage: FaultStage) -> None:
    """Drained queues are filled and open again, and their Workloads are admitted again."""
    await stage.mark("node-a10g", "true")


@cache
def with_custom_type() -> Photo:
    """A type of a person's, with a Workload of its own in its queue."""

    async def main(stage: FaultStage) -> Photo:
        stage.start()
        spec = {
            "acceleratable": True,
            "acceleratorGroup": "nvidia-tesla-t4",
            "os": "linux",
            "arch": "amd64",
            "unitResources": {"cpu": "12", "ram": "128Gi"},
            "localStorage": "200Gi",
        }
        await stage.admin.create(INSTANCE_TYPES, INSTANCE_TYPES.body(CUSTOM, spec=spec), manager="kubectl")
        await stage.wait(20)
        await stage.workload("on-custom", stage.door(CUSTOM), GPU, "2")
        await stage.wait(20)
        assert stage.says("on-custom", "Admitted")
        return Photo.of(stage.server)

    found: Photo = on(settled(), main)
    return found


@dataclass(frozen=True)
class Story:
    """What happens to whom. Shape: `writes` are at least to be seen, or the story would show nothing."""

    begins: Callable[[], Photo]
    happens: Callable[[FaultStage], Awaitable[None]]
    writes: int


def drained() -> Photo:
    return told(LEAVING)[-1]


def admitted_in(photo: Photo) -> set[str]:
    return {name for (_, name), body in photo.objects[str(WORKLOADS)].items() if is_admitted(body)}


SYNC = Story(bare, full_sync, 60)
LEAVING = Story(settled, node_leaves, 20)
STORIES = {
    "full-sync": SYNC,
    "type-deleted": Story(with_custom_type, type_deleted, 4),
    "derived-type-deleted": Story(settled, derived_type_deleted, 10),
    "node-leaves": LEAVING,
    "node-returns": Story(drained, node_returns, 15),
}
PARTS = {"full-sync": 6, "node-leaves": 2, "node-returns": 2}
"""How many tests share the writes of a story, so that they run beside each other."""


@cache
def told(story: Story) -> list[Photo]:
    """The cluster after each write of an undisturbed worker, and at last when all is quiet."""

    async def main(stage: FaultStage) -> list[Photo]:
        photos: list[Photo] = []
        if story is not SYNC:
            stage.start()
            await stage.wait(5)
        after_each_write(stage.server, "engine", lambda _seen: photos.append(Photo.of(stage.server)))
        if story is SYNC:
            stage.start()
        await story.happens(stage)
        await stage.wait(REST_SECONDS)
        return [*photos, Photo.of(stage.server)]

    found: list[Photo] = on(story.begins(), main)
    return found


def heir(photo: Photo) -> Photo:
    """What another worker comes to that begins on a photograph."""

    async def main(stage: FaultStage) -> Photo:
        stage.start("heir")
        await stage.wait(REST_SECONDS)
        assert await stage.at_rest(60) == []
        return Photo.of(stage.server)

    found: Photo = on(photo, main)
    return found


@pytest.mark.parametrize(("name", "part"), [(name, part) for name in STORIES for part in range(PARTS.get(name, 1))])
def test_a_worker_killed_after_any_write_leaves_what_another_brings_to_the_same_end(name: str, part: int) -> None:
    *photos, end = told(STORIES[name])
    assert len(photos) >= STORIES[name].writes
    found = {
        at: differences(end, heir(photos[at]), with_owners=True) for at in range(part, len(photos), PARTS.get(name, 1))
    }
    assert {at: lines for at, lines in found.items() if lines} == {}


def test_an_undisturbed_end_is_what_the_stories_say() -> None:
    """Without this, all could agree on an end that is none."""
    sync = told(SYNC)[-1].objects
    assert len(sync[str(RESOURCE_FLAVORS)]) == 7
    assert len(sync[str(INSTANCE_TYPES)]) == 3
    left = drained()
    assert len(left.objects[str(RESOURCE_FLAVORS)]) == 5
    assert ("", CUSTOM) not in told(STORIES["type-deleted"])[-1].objects[str(INSTANCE_TYPES)]
    for name in ("derived-type-deleted", "node-returns"):
        end = told(STORIES[name])[-1]
        moved = (str(WORKLOADS), f"clusterqueues.kueue.x-k8s.io /{GENERIC} status.flavors")
        differs = [each for each in differences(settled(), end) if not each.startswith(moved)]
        assert differs == [], "all is as before but Workloads, which say that they were evicted, and where they are"
        assert admitted_in(end) == {"on-a10g", "on-cpu", "on-t4"}
    assert admitted_in(left) == {"on-t4", "on-cpu"}, "the CPU's Workload has moved to another node"


def test_workers_that_die_after_every_fourth_write_get_there_one_after_the_other() -> None:
    async def main(stage: FaultStage) -> Photo:
        lives = 0

        def begin() -> None:
            nonlocal lives
            lives += 1
            name, left = f"life-{lives}", [4]

            def die(_seen: Seen) -> None:
                left[0] -= 1
                if left[0] == 0:
                    stage.kill(name)
                    begin()

            after_each_write(stage.server, name, die)
            stage.start(name)

        begin()
        await stage.wait(REST_SECONDS)
        assert lives >= 15
        return Photo.of(stage.server)

    assert differences(told(SYNC)[-1], on(bare(), main)) == []
