"""Every vector of the corpus: what a Node has after each step, how often it was written, and what was told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.errors import ContractError
from engine.features.checks import Restrictions, annotation_fault
from engine.features.cpu_info import cpu_info_rule
from engine.features.hostfacts import read_host
from engine.features.merge import Trust, merge_objects
from engine.features.objects import read_feature
from engine.lang.patterns import safe_pattern
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain
from tests.unit.features.world import NAMESPACE, World, document, policy, rules

CORPUS = Path(__file__).parents[2] / "corpus" / "features"
FILES = sorted(path.name for path in CORPUS.glob("*.yaml"))
WANTED = {*range(1, 31), *range(33, 41), 45, 59, 60, 61, 62, 65}
"""Vectors of the specification that the built-in provider answers; 31, 32, 41 to 44, 63 and 64 wait."""


def load(name: str) -> dict[str, Any]:
    documents, diagnostics = read(Source(name, (CORPUS / name).read_bytes()))
    assert [f"{name}: {found.message}" for found in diagnostics] == []
    return dict(plain(documents[0].root))


def test_every_vector_that_is_promised_has_a_file() -> None:
    assert {load(name)["vector"] for name in FILES} == WANTED


@pytest.mark.parametrize("name", FILES)
def test_a_vector_ends_as_it_says(name: str) -> None:
    content = load(name)
    assert name.startswith(f"{content['vector']:02d}-")
    world = World(policy_of(content.get("policy", {})))
    world.is_nfd_alive = content.get("nfd") == "alive"
    for node, told in content.get("nodes", {"n1": {}}).items():
        world.put_node(node, told)
    for place, told in content.get("objects", {}).items():
        world.put_object(place, told)
    world.start()
    for number, step in enumerate(content["steps"]):
        writes, events, attempts = len(world.writes), len(world.events), world.attempts
        since = len(world.history)
        take(world, step)
        check(
            world,
            step.get("expect", {}),
            f"{name}, step {number}",
            {
                "writes": len(world.writes) - writes,
                "attempts": world.attempts - attempts,
                "events": [each.reason for each in world.events[events:]],
                "notes": " | ".join(each.note for each in world.events[events:]),
            },
            world.history[since:],
        )


def policy_of(told: dict[str, Any]) -> Any:
    white_list = told.get("labelWhiteList")
    return policy(
        trust=Trust(told.get("namespace", NAMESPACE), tuple(told.get("trusted", ())), tuple(told.get("read", ()))),
        restrictions=Restrictions(
            tuple(told.get("denyLabelNs", ())),
            tuple(told.get("extraLabelNs", ())),
            safe_pattern(white_list) if white_list else None,
        ),
        is_management_manual=told.get("manual", False),
    )


def take(world: World, step: dict[str, Any]) -> None:
    if "refused" in step:
        with pytest.raises(msgspec.ValidationError):
            read_feature(document("n1-x", step["refused"]))
    for key, is_allowed in step.get("annotation_keys", {}).items():
        assert (annotation_fault(key, "1") is None) == is_allowed, key
    if "rule_refused_for" in step:
        with pytest.raises(ContractError):
            cpu_info_rule(tuple(step["rule_refused_for"]), rules().keys)
    for name, told in step.get("nodes", {}).items():
        if told is None:
            world.remove_node(name)
        else:
            world.put_node(name, told)
    if "nfd" in step:
        world.is_nfd_alive = step["nfd"] == "alive"
    if step.get("restart"):
        world.start(is_listed=step.get("listed", True))
    for place, told in step.get("objects", {}).items():
        world.put_object(place, told)
    for part in ("labels", "annotations"):
        for node, changes in step.get(part, {}).items():
            world.edit(node, part, changes, step.get("by", "kubectl"))
    if "meanwhile" in step:
        world.run("n1", meanwhile=step["meanwhile"])
    world.advance(step.get("seconds", 0))


def check(
    world: World, expect: dict[str, Any], where: str, seen: dict[str, Any], history: list[tuple[str, dict[str, str]]]
) -> None:
    for part in ("labels", "annotations"):
        for node, wanted in expect.get(part, {}).items():
            held = getattr(world.nodes[node], part)
            assert {key: held.get(key) for key in wanted} == wanted, f"{where}: {part}"
        for node, wanted in expect.get(f"only_{part}", {}).items():
            held = getattr(world.nodes[node], part)
            assert {key: value for key, value in held.items() if "provider." not in key} == wanted, f"{where}: {part}"
    for name in ("writes", "attempts", "events"):
        if name in expect:
            assert seen[name] == expect[name], f"{where}: {name}"
    for text in expect.get("told", ()):
        assert text in seen["notes"], f"{where}: told"
    for node, keys in expect.get("never_changed", {}).items():
        values = {key: world.nodes[node].labels.get(key) for key in keys}
        for name, labels in history:
            assert name != node or {key: labels.get(key) for key in keys} == values, f"{where}: a label blinked"
    for place, wanted in expect.get("asked", {}).items():
        held = world.objects[f"{NAMESPACE}/{place}"]["spec"].get("labels", {})
        assert {key: held.get(key) for key in wanted} == wanted, f"{where}: {place}"
    for node, count in expect.get("devices", {}).items():
        features = merge_objects(world.book.objects(node), world.policy.trust).features
        assert len(read_host(features).pci or ()) == count, f"{where}: devices"
    if "standing" in expect:
        assert world.standing.reason == expect["standing"], f"{where}: standing"
        assert world.standing.condition()["status"] == ("True" if expect["standing"] == "Builtin" else "False")
