"""Actions carried out: compared first, in order, and stopped by the first that fails."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.actions import (
    Action,
    Apply,
    Create,
    Delete,
    EmitEvent,
    MergePatch,
    ObjectReference,
    Update,
    reference,
    target,
)
from engine.cluster.decode import decode_object
from engine.cluster.errors import ClusterError, Conflict, NotLeader
from engine.cluster.events import EventRecorder
from engine.cluster.informer import Informer
from engine.cluster.objects import Owned
from engine.cluster.ownership import add_finalizer, is_owned_by, owner_reference, remove_finalizer
from engine.cluster.resources import EVENTS, NODES, RESOURCE_FLAVORS, HasMeta, ObjectKey, Resource
from engine.cluster.writers import Result, Writer
from tests.fakes.faults import Storm
from tests.fakes.virtual import run
from tests.unit.cluster.worlds import World, node, running

KEY = ObjectKey("", "f")


def _flavor(**labels: str) -> dict[str, Any]:
    return RESOURCE_FLAVORS.body("f", spec={"nodeLabels": labels})


async def _write(writer: Writer, *actions: Action) -> list[Result]:
    return [outcome.result for outcome in await writer.apply_actions(actions)]


def test_nothing_is_sent_for_what_the_cache_shows_as_it_should_be() -> None:
    async def main() -> None:
        world = World()
        informer = Informer(world.client, RESOURCE_FLAVORS)

        def lookup(_resource: Resource[Any], key: ObjectKey) -> HasMeta | None:
            return informer.cache.get(key.name, key.namespace)

        writer = Writer(world.client, lookup=lookup)
        apply = Apply(RESOURCE_FLAVORS, _flavor(a="1", b="2"), "engine-flavor")
        async with running(informer.run()):
            await informer.wait_synced()
            assert await _write(writer, apply) == [Result.WRITTEN]
            await world.clock.sleep(1)
            patch = MergePatch(RESOURCE_FLAVORS, KEY, {"spec": {"nodeLabels": {"a": "1"}}}, "m")
            create = Create(RESOURCE_FLAVORS, _flavor(), "m")
            seen = len(world.server.seen)
            assert await _write(writer, apply, patch, create) == [Result.UNCHANGED] * 3
            assert len(world.server.seen) == seen
            assert await _write(writer, Apply(RESOURCE_FLAVORS, _flavor(a="1"), "engine-flavor")) == [Result.WRITTEN]
        stored = world.server.get(RESOURCE_FLAVORS, "f")
        assert stored is not None
        assert stored["spec"] == {"nodeLabels": {"a": "1"}}
        assert writer.writes == 2

    run(main())


def test_what_is_there_or_gone_already_is_fine() -> None:
    async def main() -> None:
        world = World()
        writer = Writer(world.client)
        create = Create(RESOURCE_FLAVORS, _flavor(), "m")
        delete = Delete(RESOURCE_FLAVORS, KEY)
        assert await _write(writer, create, create) == [Result.WRITTEN, Result.UNCHANGED]
        assert await _write(writer, delete, delete) == [Result.WRITTEN, Result.GONE]

    run(main())


def test_the_first_failure_stops_the_rest() -> None:
    async def main() -> None:
        world = World()
        made = await world.client.create(NODES, node("n"), manager="t")
        await world.client.merge_patch(NODES, "n", {"metadata": {"labels": {"a": "b"}}}, manager="t")
        stale = MergePatch(
            NODES, ObjectKey("", "n"), {"metadata": {"labels": {"a": "c"}}}, "t", made.metadata.resource_version
        )
        with pytest.raises(Conflict):
            await _write(Writer(world.client), stale, Apply(RESOURCE_FLAVORS, _flavor(), "m"))
        assert world.server.get(RESOURCE_FLAVORS, "f") is None

    run(main())


def test_an_update_is_compared_with_the_whole_object() -> None:
    async def main() -> None:
        world = World()
        await world.client.create(RESOURCE_FLAVORS, _flavor(a="1"), manager="t")
        body = await world.client.get_map(RESOURCE_FLAVORS, "f")
        writer = Writer(world.client)
        assert await _write(writer, Update(RESOURCE_FLAVORS, body, "m")) == [Result.UNCHANGED]
        changed = {**body, "spec": {"nodeLabels": {"a": "2"}}}
        assert await _write(writer, Update(RESOURCE_FLAVORS, changed, "m")) == [Result.WRITTEN]
        with pytest.raises(Conflict):
            await _write(writer, Update(RESOURCE_FLAVORS, {**body, "spec": {}}, "m"))

    run(main())


def test_a_writer_that_does_not_lead_writes_nothing() -> None:
    async def main() -> None:
        world = World()

        class Shut:
            def check(self) -> float:
                raise NotLeader("this process does not lead")

        with pytest.raises(NotLeader):
            await _write(Writer(world.client.gated(Shut())), Apply(RESOURCE_FLAVORS, _flavor(), "m"))
        assert world.server.seen == []

    run(main())


def _event(note: str = "It happened.", namespace: str = "default") -> EmitEvent:
    return EmitEvent(ObjectReference("v1", "Pod", ObjectKey(namespace, "p"), "u"), "Happened", note, "Happening")


def test_repetitions_become_a_series_and_a_quiet_time_ends_it() -> None:
    async def main() -> None:
        world = World()
        writer = Writer(world.client, events=EventRecorder(world.client, component="engine.test/x", instance="i"))
        for _ in range(4):
            assert await _write(writer, _event()) == [Result.WRITTEN]
            await world.clock.sleep(1)
        assert len(world.server.writes()) == 2
        await world.clock.sleep(61)
        await _write(writer, _event())
        (event,) = (await world.client.list(EVENTS)).items
        assert event.series is not None
        assert event.series.count == 5
        await world.clock.sleep(400)
        await _write(writer, _event())
        assert len((await world.client.list(EVENTS)).items) == 2

    run(main())


def test_a_series_whose_event_was_swept_begins_anew() -> None:
    async def main() -> None:
        world = World()
        recorder = EventRecorder(world.client, component="engine.test/x", instance="i")
        await recorder.emit(_event())
        (event,) = (await world.client.list(EVENTS)).items
        await world.client.delete(EVENTS, event.metadata.name, "default")
        await recorder.emit(_event())
        (event,) = (await world.client.list(EVENTS)).items
        assert event.series is None

    run(main())


def test_an_event_about_a_cluster_wide_object_lives_in_default_and_a_long_note_is_cut() -> None:
    async def main() -> None:
        world = World()
        made = await world.client.create(NODES, node("n"), manager="t")
        recorder = EventRecorder(world.client, component="engine.test/x", instance="i")
        about = reference(NODES, made)
        await recorder.emit(EmitEvent(about, "Long", "é" * 900, "Testing", related=about))
        (event,) = (await world.client.list(EVENTS)).items
        assert event.metadata.namespace == "default"
        assert len(event.note.encode()) <= 1024
        assert event.note.endswith("é…")

    run(main())


def test_an_event_that_cannot_be_written_fails_nothing() -> None:
    async def main() -> None:
        world = World()
        failed: list[ClusterError] = []
        recorder = EventRecorder(
            world.client, component="engine.test/x", instance="i", report=lambda _event, error: failed.append(error)
        )
        world.server.faults.storm = Storm(500)
        await recorder.emit(_event())
        world.server.faults.storm = None
        assert [error.where.split()[0] for error in failed] == ["POST"]
        await recorder.emit(_event())
        assert len((await world.client.list(EVENTS)).items) == 1, "the next one is the first again"

    run(main())


def test_remembered_series_have_a_limit() -> None:
    async def main() -> None:
        world = World()
        recorder = EventRecorder(world.client, component="engine.test/x", instance="i")
        world.server.collects_garbage = False
        for number in range(4100):
            recorder._series[_event(str(number))] = None  # type: ignore[assignment]
        await recorder.emit(_event("last"))
        assert len(recorder._series) == 4096

    run(main())


def _thing(**metadata: Any) -> Owned:
    import json

    return decode_object(json.dumps({"metadata": {"name": "n", "uid": "u", **metadata}}).encode(), Owned, "x")


def test_finalizers_are_changed_guarded_by_the_version_that_was_read() -> None:
    thing = _thing(resourceVersion="7", finalizers=["theirs"])
    added = add_finalizer(RESOURCE_FLAVORS, thing, "ours", "m")
    assert added is not None
    assert (added.patch, added.resource_version) == ({"metadata": {"finalizers": ["theirs", "ours"]}}, "7")
    held = _thing(resourceVersion="8", finalizers=["theirs", "ours"])
    assert add_finalizer(RESOURCE_FLAVORS, held, "ours", "m") is None
    removed = remove_finalizer(RESOURCE_FLAVORS, held, "ours", "m")
    assert removed is not None
    assert removed.patch == {"metadata": {"finalizers": ["theirs"]}}
    assert remove_finalizer(RESOURCE_FLAVORS, thing, "ours", "m") is None
    going = _thing(deletionTimestamp="2026-11-29T12:00:00Z")
    assert add_finalizer(RESOURCE_FLAVORS, going, "ours", "m") is None


def test_an_owner_is_known_by_its_uid() -> None:
    owner = _thing()
    made = owner_reference(RESOURCE_FLAVORS, owner, is_controller=True, blocks_deletion=True)
    assert made == {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "name": "n",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    child = _thing(ownerReferences=[made])
    assert is_owned_by(child, "u")
    assert not is_owned_by(child, "v")


def test_every_action_says_what_it_is_about() -> None:
    body = {"metadata": {"name": "f", "namespace": "s"}}
    assert target(Apply(RESOURCE_FLAVORS, body, "m")) == "resourceflavors.kueue.x-k8s.io/s/f"
    assert target(Delete(NODES, ObjectKey("", "n"))) == "nodes/n"
    assert target(_event()) == "event/Pod/default/p"


def test_planning_needs_no_network_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, engine.cluster.actions, engine.cluster.compare, engine.cluster.ownership, engine.cluster.session;"
        "sys.exit(any(name in sys.modules for name in ('aiohttp', 'kubernetes')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
