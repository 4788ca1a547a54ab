"""What the worker writes because of cards is what is planned offline, for every machine of the recorded ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.api.devices import Devices
from engine.chain.node import NodePlan, NodePlanner
from engine.chain.settings import parse_settings
from engine.cluster.objects import Node
from engine.domain.ledger import Mode
from engine.worker.asking import NodeAsker, seen_node
from engine.worker.cards import NodeCards, read_cards
from engine.worker.controllers import devices, nodecapacity, nodefit
from engine.worker.controllers.devices import DevicesNeighbourhood
from engine.worker.controllers.nodecapacity import CapacityNeighbourhood
from engine.worker.controllers.nodefit import FitNeighbourhood
from engine.worker.render.devices import devices as rendered
from tests.cluster.machines import machine_facts
from tests.unit.features.world import program

MACHINES = Path(__file__).parents[2] / "machines"
FOLDERS = sorted(each.name for each in MACHINES.iterdir() if each.is_dir() and each.name != "broken")


@cache
def settings() -> Any:
    return parse_settings(program().block("settings")).values


@cache
def planner() -> NodePlanner:
    return NodePlanner(program(), settings())


@cache
def asker() -> NodeAsker:
    return NodeAsker(program(), settings())


@cache
def folder(name: str) -> tuple[tuple[NodePlan, dict[str, str], dict[str, Any] | None], ...]:
    """Each machine as planned, its kubelet's capacity, and its `Devices` as a device manager publishes them."""
    given = []
    for facts in machine_facts([MACHINES / name]):
        plan, unmanaged = (planner().plan(facts, managed_label=text) for text in ("true", "false"))
        body = rendered(plan)
        if body is not None:
            is_workers = ("gpustack.ai/managed", "topology.gpustack.ai/", "general.feature.gpustack.ai/")
            labels = body["metadata"]["labels"].items()
            body["metadata"]["labels"] = {key: value for key, value in labels if not key.startswith(is_workers)}
        given.append((plan, dict(unmanaged.capacity), body))
    return tuple(given)


def node(plan: NodePlan, capacity: dict[str, str]) -> Node:
    """The Node once everything but fit labels is on it."""
    labels = {key: value for key, value in plan.labels.items() if not key.startswith(asker().keys.fit)}
    metadata = {"name": plan.facts.name, "labels": labels, "annotations": dict(plan.annotations), "uid": "u"}
    return msgspec.convert({"metadata": metadata, "status": {"capacity": capacity}}, Node)


def stated(body: dict[str, Any] | None) -> Devices | None:
    return None if body is None else msgspec.convert({**body, "metadata": {"uid": "d", **body["metadata"]}}, Devices)


def cards(body: dict[str, Any] | None) -> NodeCards | None:
    found = stated(body)
    return None if found is None else read_cards(found)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_capacity_of_every_machine_is_the_one_planned_offline(name: str) -> None:
    for plan, capacity, body in folder(name):
        actions = nodecapacity.plan(CapacityNeighbourhood(node(plan, capacity), cards(body)), asker())
        added = {key: value for each in actions for key, value in each.patch["status"]["capacity"].items()}
        assert capacity | added == dict(plan.capacity), plan.facts.name
        settled = node(plan, {key: value for key, value in (capacity | added).items() if value is not None})
        assert nodecapacity.plan(CapacityNeighbourhood(settled, cards(body)), asker()) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_the_fit_labels_of_every_machine_are_those_planned_offline(name: str) -> None:
    for plan, capacity, body in folder(name):
        wanted = {key: value for key, value in plan.labels.items() if key.startswith(asker().keys.fit)}
        actions = nodefit.plan(FitNeighbourhood(node(plan, capacity), cards(body)), asker())
        found = {key: value for each in actions for key, value in each.patch["metadata"]["labels"].items()}
        assert found == wanted, plan.facts.name


@pytest.mark.parametrize("name", FOLDERS)
def test_the_labels_of_devices_of_every_machine_are_those_planned_offline(name: str) -> None:
    for plan, capacity, body in folder(name):
        live = stated(body)
        if live is not None:
            seen = DevicesNeighbourhood(
                plan.facts.name, live, seen_node(node(plan, capacity), asker().keys, plan.facts.cpu)
            )
            (action,) = devices.plan(seen, asker())
            assert live.metadata.labels | action.patch["metadata"]["labels"] == dict(plan.devices_labels)


def test_what_is_taken_is_read_back_as_the_offline_plan_of_the_same_ledger_has_it() -> None:
    for free, _, body in (*folder("mig"), *folder("walkthrough")):
        cards_of = [card for group in free.groups for card in group.cards if card.readable]
        everything = cards(body) or NodeCards()
        for taken in cards_of:
            row = everything.ledger[taken.uuid]
            left = tuple((name, max(0, count - 1)) for name, count in row.remaining_profiles)
            used = tuple((name, 1) for name, _ in row.remaining_profiles[:1])
            ledger = everything.ledger | {
                taken.uuid: replace(row, mode=Mode.PARTITIONED, allocated_profiles=used, remaining_profiles=left)
                if taken.is_partitioned
                else replace(row, mode=Mode.SLICED, remaining_units=800_000, allocated_slices=1)
            }
            plan = planner().plan(free.facts, managed_label="true", ledger=ledger)
            found = cards(rendered(plan, ledger=ledger))
            seen = node(plan, dict(planner().plan(free.facts, managed_label="false", ledger=ledger).capacity))
            actions = nodecapacity.plan(CapacityNeighbourhood(seen, found), asker())
            added = {key: value for each in actions for key, value in each.patch["status"]["capacity"].items()}
            assert seen.status.capacity | added == dict(plan.capacity)
            wanted = {key: value for key, value in plan.labels.items() if key.startswith(asker().keys.fit)}
            assert nodefit.find_room(FitNeighbourhood(seen, found), asker()).labels == wanted
