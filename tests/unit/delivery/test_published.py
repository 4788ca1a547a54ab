"""Published objects: what a reader finds after any write, what a restart finds, what people see of each pack."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
import pytest

from engine.api.rule_pack import RULE_PACK
from engine.cluster.actions import Apply, Delete, EmitEvent
from engine.delivery.candidate import delivered
from engine.delivery.decide import consider
from engine.delivery.publish import (
    approval_action,
    event_actions,
    pack_event_actions,
    program_actions,
    rule_pack_actions,
)
from engine.delivery.stored import HEAD, PUBLISHED, Stored, approved_in, restored, start
from engine.delivery.verdict import InForce, Snapshot, State, Verdict
from engine.errors import ContractError, InputError
from engine.lang.program import Program
from tests.unit.delivery.living import NAMESPACE, Cluster
from tests.unit.delivery.mounts import base, image, mounted, snapshot

EARLY, LATE = "2026-11-29T12:00:00Z", "2026-11-29T13:00:00Z"


@cache
def in_force(name: str) -> InForce:
    offered = consider(mounted(name), None, Snapshot()).offered
    assert offered is not None
    return offered


@cache
def judged(name: str) -> Verdict:
    return consider(mounted(name), in_force("base"), snapshot())


def published(name: str, **others: Any) -> Cluster:
    cluster = Cluster()
    cluster.write(program_actions(in_force(name), NAMESPACE, **others))
    return cluster


def test_a_published_program_is_read_back_as_it_was() -> None:
    stored = restored(published("base").maps)
    assert stored.in_force is not None
    assert stored.in_force.program.digest == in_force("base").program.digest == stored.named
    assert stored.in_force.packs == in_force("base").packs
    assert (stored.waiting, stored.why) == ("", "")


def test_a_program_is_never_half_published_whatever_write_was_the_last() -> None:
    before, after = in_force("base"), in_force("renames")
    first = published("base")
    actions = program_actions(after, NAMESPACE, previous=before, existing=sorted(first.maps))
    seen = []
    for writes in range(len(actions) + 1):
        cluster = published("base")
        cluster.write(actions, only_first=writes)
        found = restored(cluster.maps).in_force
        assert found is not None, f"after {writes} writes"
        seen.append(found.program.digest)
    assert seen == sorted(seen, key=[before.program.digest, after.program.digest].index)
    assert {len(data) for name, data in cluster.maps.items() if name != HEAD} == {1}


def test_the_maps_of_packs_that_are_gone_are_deleted_last_and_no_other_map_is() -> None:
    existing = [HEAD, "engine-program-manufacturer-gone", "engine-programs", "kube-root-ca.crt"]
    actions = program_actions(in_force("base"), NAMESPACE, existing=existing)
    deleted = [action.key.name for action in actions if isinstance(action, Delete)]
    assert deleted == ["engine-program-manufacturer-gone"]
    assert isinstance(actions[-1], Delete)


def broken(key: str, text: str) -> dict[str, dict[str, str]]:
    maps = published("base", waiting="1" * 64).maps
    maps[HEAD] = {**maps[HEAD], key: text}
    return maps


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        ({}, "there is no ConfigMap"),
        (broken("packs", "{"), "cannot be read"),
        (broken("packs", "[]"), "cannot be read"),
        (broken("packs", '{"derivation-pool": "%s"}' % ("0" * 64)), "does not hold"),
        (broken("packs", "{}"), "its packs are"),
        (broken("vocabulary", "7.0"), "vocabulary 7.0"),
        (broken("records", '[{"kind": "Manufacturer"}]'), "cannot be read"),
    ],
)
def test_a_published_program_that_is_not_whole_is_not_taken(maps: dict[str, dict[str, str]], says: str) -> None:
    stored = restored(maps)
    assert stored.in_force is None
    assert says in stored.why
    assert stored.waiting == ("1" * 64 if maps else "")


def test_a_start_takes_the_published_program_before_anything_that_is_mounted() -> None:
    begun = start(restored(published("base").maps), mounted("renames"), image())
    assert begun.origin == HEAD
    assert begun.standing.serving is not None
    assert begun.standing.serving.program.digest == in_force("base").program.digest


def test_a_start_with_nothing_published_takes_the_mounted_packs_and_then_the_image() -> None:
    assert start(Stored(), mounted("newer"), image()).origin == "mounted"
    assert start(Stored(), None, image()).origin == "image"
    begun = start(Stored(), mounted("broken"), image())
    assert begun.origin == "image"
    assert any("Manufacturer nvidia was refused" in note for note in begun.notes)
    assert begun.standing.verdict is None  # the mounted packs are judged again beside those that serve


def test_a_start_whose_published_packs_are_lost_does_not_slip_past_a_hold() -> None:
    waiting = judged("renames").digest
    lost = Stored("0" * 64, waiting, why="lost")
    assert start(lost, mounted("renames"), image()).origin == "image"
    assert start(lost, mounted("renames"), image(), {waiting}).origin == "mounted"
    with pytest.raises(InputError, match="waits for engine rules approve"):
        start(lost, mounted("renames"), delivered({}))


def test_a_start_prefers_packs_that_link_to_the_program_that_was_named() -> None:
    named = in_force("base").program.digest
    assert start(Stored(named, why="lost"), mounted("newer"), image()).origin == "image"
    assert start(Stored("0" * 64, why="lost"), mounted("newer"), image()).origin == "mounted"


def test_every_verdict_becomes_objects_that_the_kind_can_read() -> None:
    for name in ("newer", "renames", "broken", "empty"):
        cluster = Cluster()
        verdict = judged(name)
        cluster.write(rule_pack_actions(verdict, {}, EARLY))
        assert sorted(cluster.packs) == sorted(one.record.id for one in verdict.packs)
        for one in verdict.packs:
            read = msgspec.convert(cluster.packs[one.record.id], RULE_PACK.struct)
            assert read.status.verdict == one.state
            assert read.status.message == one.message
            assert read.status.program == one.program


def test_the_status_goes_out_beside_the_spec_and_not_in_it() -> None:
    actions = [action for action in rule_pack_actions(judged("newer"), {}, EARLY) if not isinstance(action, Delete)]
    assert {(action.subresource, "spec" in action.body, "status" in action.body) for action in actions} == {
        ("", True, False),
        ("status", False, True),
    }


def test_a_time_changes_with_the_verdict_only() -> None:
    cluster = Cluster()
    cluster.write(rule_pack_actions(judged("newer"), {}, EARLY))
    cluster.write(rule_pack_actions(judged("broken"), cluster.statuses(), LATE))
    assert cluster.status("manufacturer-nvidia")["lastTransitionTime"] == LATE
    assert cluster.status("derivation-pool")["lastTransitionTime"] == EARLY


def test_rule_packs_of_packs_that_are_gone_go_too() -> None:
    cluster = Cluster()
    cluster.write(rule_pack_actions(judged("newer"), {}, EARLY))
    files = {
        path: data for path, data in base().items() if not path.startswith(("rules/manufacturers", "rules/library"))
    }
    cluster.write(rule_pack_actions(consider(delivered(files), None, Snapshot()), cluster.statuses(), LATE))
    assert "manufacturer-nvidia" not in cluster.packs


@pytest.mark.parametrize(
    ("name", "reason", "kind"),
    [("newer", "RulesLoaded", "Normal"), ("renames", "RulesHeld", "Warning"), ("broken", "RulesRefused", "Warning")],
)
def test_an_event_says_what_became_of_a_delivery(name: str, reason: str, kind: str) -> None:
    (event,) = event_actions(judged(name), NAMESPACE)
    assert isinstance(event, EmitEvent)
    assert (event.reason, event.kind) == (reason, kind)
    assert event.note


def test_an_approval_is_an_annotation_that_the_worker_reads_back() -> None:
    cluster = published("base")
    digest = judged("renames").digest
    cluster.write([approval_action(digest, NAMESPACE)])
    assert cluster.approved == {digest}
    assert approved_in({}) == frozenset()
    made = consider(mounted("renames"), in_force("base"), snapshot(), cluster.approved)
    assert made.state is State.LOADED


def test_each_pack_that_is_not_in_force_is_told_of_at_its_own_object() -> None:
    events = pack_event_actions(judged("renames"))
    assert [each.regarding.key.name for each in events if isinstance(each, EmitEvent)] == [
        "manufacturer-nvidia",
        "overlay-other-names",
    ]
    assert all("engine rules approve" in each.note for each in events if isinstance(each, EmitEvent))
    assert pack_event_actions(judged("newer")) == []


def test_all_published_maps_carry_the_label_by_which_they_are_watched() -> None:
    key, _, value = PUBLISHED.partition("=")
    actions = program_actions(in_force("renames"), NAMESPACE, previous=in_force("base"))
    assert all(each.body["metadata"]["labels"] == {key: value} for each in actions if isinstance(each, Apply))


def unfit(program: Program) -> None:
    if program.digest == in_force("base").program.digest:
        raise ContractError("no constant note")


def test_a_start_passes_over_a_program_that_this_engine_cannot_run_with() -> None:
    begun = start(restored(published("base").maps), mounted("newer"), image(), fits=unfit)
    assert begun.origin == "mounted"
    assert any("no constant note" in note for note in begun.notes)
    with pytest.raises(InputError, match="no constant note"):
        start(restored(published("base").maps), mounted("base"), delivered({}), fits=unfit)
