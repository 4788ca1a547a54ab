"""The informers of a process: shared, waited for, and what a writer compares with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.cluster.actions import Apply
from engine.cluster.client import Selection
from engine.cluster.informers import Informers
from engine.cluster.objects import Object
from engine.cluster.resources import NODES, PODS, RESOURCE_FLAVORS, ObjectKey
from engine.cluster.writers import Result, Writer
from engine.errors import ContractError
from tests.fakes.faults import Storm
from tests.fakes.virtual import run
from tests.unit.cluster.worlds import World, node, running


def test_a_kind_is_watched_once_and_in_one_way() -> None:
    async def main() -> None:
        informers = Informers(World().client)
        assert informers.add(NODES) is informers.add(NODES)
        with pytest.raises(ContractError, match="two ways"):
            informers.add(NODES, Selection(labels="a=b"))
        with pytest.raises(ContractError, match="two ways"):
            informers.add(replace(NODES, struct=Object))

    run(main())


def test_all_are_waited_for_and_those_that_are_missing_are_named() -> None:
    async def main() -> None:
        world = World()
        informers = Informers(world.client)
        informers.add(NODES)
        informers.add(PODS)
        world.server.faults.storm = Storm(503, selects=lambda request: "pods" in request.path)
        async with running(informers.run()):
            await world.clock.sleep(10)
            assert informers.waiting_for() == ["pods"]
            world.server.faults.storm = None
            await informers.wait_synced()
            assert informers.waiting_for() == []

    run(main())


def test_a_writer_compares_with_what_is_known_and_writes_what_is_not() -> None:
    async def main() -> None:
        world = World()
        await world.client.create(NODES, node("n", a="b"), manager="t")
        informers = Informers(world.client)
        informers.add(NODES)
        assert informers.lookup(NODES, ObjectKey("", "n")) is None, "nothing is known before the first list"
        writer = Writer(world.client, lookup=informers.lookup)
        async with running(informers.run()):
            await informers.wait_synced()
            labelled = Apply(NODES, node("n", a="b"), "t")
            flavor = Apply(RESOURCE_FLAVORS, RESOURCE_FLAVORS.body("f"), "t")
            results = [outcome.result for outcome in await writer.apply_actions([labelled, flavor])]
            assert results == [Result.UNCHANGED, Result.WRITTEN]

    run(main())
