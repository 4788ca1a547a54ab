"""Delivered packs judged beside those that serve: taken over, held or refused, and what is said of each pack."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from engine.chain.changes import InstanceTypeSet
from engine.delivery import decide
from engine.delivery.candidate import delivered
from engine.delivery.decide import consider, loaded
from engine.delivery.lost import lost_by_node
from engine.delivery.standing import Standing, after_approval, after_delivery
from engine.delivery.verdict import InForce, Lost, Snapshot, State, Verdict
from engine.lang.program import Program
from tests.unit.delivery.mounts import MAKER, ORIGIN, base, bundle, contents, mounted, snapshot, version


@cache
def serving() -> InForce:
    offered = consider(mounted("base"), None, Snapshot()).offered
    assert offered is not None
    return offered


@cache
def verdict(name: str) -> Verdict:
    return consider(mounted(name), serving(), snapshot())


def states(made: Verdict) -> dict[str, str]:
    return {one.record.id: str(one.state) for one in made.packs}


def message(made: Verdict, pack: str) -> str:
    return next(one.message for one in made.packs if one.record.id == pack)


def test_the_first_packs_are_taken_over_as_they_are() -> None:
    made = consider(mounted("base"), None, Snapshot())
    assert made.state is State.LOADED
    assert {one.state for one in made.packs} == {State.LOADED}
    assert {one.program for one in made.packs} == {made.digest}
    assert {one.record.kind for one in made.packs} == {"Derivation", "Library", "Manufacturer"}


def test_a_pack_comes_from_the_config_map_of_its_folder() -> None:
    record = next(one for one in serving().packs if one.kind == "Manufacturer")
    assert record.source == "gpustack-system/engine-pack-manufacturer-nvidia"
    assert record.digest == serving().program.packs[-1].digest


def test_a_change_that_renames_nothing_is_taken_over() -> None:
    made = verdict("newer")
    assert made.state is State.LOADED
    assert made.digest != serving().program.digest
    assert made.lost == ()


def test_a_change_of_nothing_but_comments_gives_the_same_program() -> None:
    files = {**base(), MAKER: base()[MAKER] + b"# a remark\n"}
    made = consider(delivered(files), serving(), snapshot())
    assert (made.state, made.digest) == (State.LOADED, serving().program.digest)


def test_a_rename_is_held_and_says_what_and_how_to_approve() -> None:
    made = verdict("renames")
    assert made.state is State.HELD
    assert made.digest != serving().program.digest
    assert f"engine rules approve {made.digest}" in made.message
    assert "other-card" in made.message
    assert {"AcceleratorKey", "ResourceFlavor", "InstanceType", "LocalQueue"} <= {one.kind for one in made.lost}


def test_a_hold_is_told_at_the_packs_that_change_and_at_no_other() -> None:
    made = verdict("renames")
    held = {name for name, state in states(made).items() if state == "Held"}
    assert held == {"manufacturer-nvidia", "overlay-other-names"}
    waits = next(one for one in made.packs if one.record.id == "manufacturer-nvidia")
    assert waits.program == made.digest
    stays = next(one for one in made.packs if one.record.id == "derivation-pool")
    assert (stays.program, stays.message) == (serving().program.digest, "")


def test_nothing_is_held_in_a_cluster_that_has_no_card_of_that_name() -> None:
    assert consider(mounted("renames"), serving(), Snapshot()).state is State.LOADED


def test_an_approved_digest_is_taken_over_with_all_its_renames() -> None:
    digest = verdict("renames").digest
    made = consider(mounted("renames"), serving(), snapshot(), {digest})
    assert (made.state, made.digest) == (State.LOADED, digest)
    assert {one.state for one in made.packs} == {State.LOADED}
    assert consider(mounted("renames"), serving(), snapshot(), {"0" * 64}).state is State.HELD


def test_a_maker_that_is_taken_out_while_its_cards_are_there_is_held() -> None:
    files = {
        path: data for path, data in base().items() if not path.startswith(("rules/manufacturers", "rules/library"))
    }
    made = consider(delivered(files), serving(), snapshot())
    assert made.state is State.HELD
    assert "(gone)" in made.message
    assert states(made)["manufacturer-nvidia"] == "Held"
    assert message(made, "manufacturer-nvidia").startswith("would be taken out")


@pytest.mark.parametrize(
    ("name", "says"),
    [("broken", "RP1"), ("half", "RP"), ("red", "RP701"), ("big", "RP801")],
)
def test_a_bad_pack_is_refused_with_its_reason_and_the_others_stay_in_force(name: str, says: str) -> None:
    made = verdict(name)
    assert made.state is State.FAILED
    assert made.offered is None
    assert made.digest == ""
    assert says in message(made, "manufacturer-nvidia")
    assert "Manufacturer nvidia" in made.message
    assert [one for one, state in states(made).items() if state == "Failed"] == ["manufacturer-nvidia"]
    assert {one.program for one in made.packs if one.state is State.LOADED} == {serving().program.digest}


def test_a_good_change_beside_a_bad_one_waits_for_it_by_name() -> None:
    files = contents("broken")
    pool = next(path for path in files if path.startswith("rules/derive/pool/pack"))
    made = consider(delivered({**files, pool: files[pool] + b"# new\n"}), serving(), snapshot())
    assert message(made, "derivation-pool") == "not taken: Manufacturer nvidia was refused"
    assert states(made)["derivation-pool"] == "Failed"


def test_an_empty_directory_is_refused_and_every_pack_says_so() -> None:
    made = verdict("empty")
    assert made.state is State.FAILED
    assert set(states(made).values()) == {"Loaded"}
    assert "no pack was delivered" in message(made, "manufacturer-nvidia")
    assert "still in force" in message(made, "manufacturer-nvidia")


def test_a_fault_of_no_pack_is_told_at_all_of_them() -> None:
    made = consider(delivered({**base(), "notes.xml": b"<a/>"}), serving(), snapshot())
    assert made.state is State.FAILED
    assert set(states(made).values()) == {"Loaded"}
    assert "RP001" in message(made, "derivation-pool")


def test_a_pack_that_cannot_be_read_and_was_never_there_goes_by_its_folder() -> None:
    made = consider(delivered({**base(), "rules/manufacturers/acme/pack.yaml": b"kind: [\n"}), serving(), snapshot())
    assert states(made)["manufacturer-acme"] == "Failed"
    nameless = consider(delivered({**base(), "stray.yaml": b"kind: [\n"}), serving(), snapshot())
    assert nameless.state is State.FAILED
    assert "stray.yaml" in message(nameless, "derivation-pool")


def test_what_was_announced_has_to_be_there_byte_for_byte() -> None:
    announced = bundle(base())
    assert consider(delivered(announced), serving(), snapshot()).state is State.LOADED
    made = consider(delivered({**announced, MAKER: base()[MAKER] + b"# late\n"}), serving(), snapshot())
    assert made.state is State.FAILED
    assert "RP911" in made.message
    assert MAKER in made.message


def test_a_pack_that_is_too_large_once_compiled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "MAX_COMPILED_BYTES", 15_000)
    made = consider(mounted("newer"), serving(), snapshot())
    assert made.state is State.FAILED
    assert "RP801: compiled it holds" in message(made, "manufacturer-nvidia")


def test_packs_that_cannot_plan_the_cluster_are_refused() -> None:
    bad = Snapshot(snapshot().changes, {"instance-type-mixed-on-node": "perhaps"})
    made = consider(mounted("newer"), serving(), bad)
    assert made.state is State.FAILED
    assert "cannot be planned" in made.message
    odd = Snapshot((*snapshot().changes, InstanceTypeSet("odd", {"group": 3})))
    assert consider(mounted("newer"), serving(), odd).state is State.FAILED


def test_the_tests_in_packs_are_run_without_the_overlays_over_them() -> None:
    # The overlay changes what a test of the pack expects of the cards it names; that is what overlays are for.
    assert verdict("renames").state is State.HELD
    over = contents("red") | {"overlays/other-names.yaml": contents("renames")["overlays/other-names.yaml"]}
    assert consider(delivered(over), serving(), snapshot()).state is State.FAILED


def test_overrides_of_identity_are_part_of_what_is_judged() -> None:
    renamed = {"GPUSTACK_NVIDIA_ACCELERATABLE_RESOURCE_NAME": "site.example/gpu"}
    made = consider(mounted("base"), serving(), snapshot(), overrides=renamed)
    assert made.state is State.HELD
    assert "Resource" in {one.kind for one in made.lost}


def test_the_same_bytes_are_judged_once_and_an_approval_needs_no_second_judgement() -> None:
    first = after_delivery(Standing(serving()), mounted("renames"), snapshot())
    again = after_delivery(first, mounted("renames"), Snapshot())
    assert again is first
    assert after_approval(first, {"0" * 64}) is first
    assert after_approval(Standing(serving()), {"0" * 64}).verdict is None
    assert first.verdict is not None
    approved = after_approval(first, {first.verdict.digest})
    assert approved.serving is not None
    assert approved.serving.program.digest == first.verdict.digest
    assert approved.verdict is not None
    assert approved.verdict.state is State.LOADED
    assert approved.verdict.lost == first.verdict.lost


def test_packs_that_serve_by_a_verdict_are_not_judged_again_when_they_are_delivered() -> None:
    begun = consider(mounted("base"), None, Snapshot())
    standing = Standing(begun.offered, begun=begun)
    made = after_delivery(standing, mounted("base"), unasked)
    assert made.verdict is begun
    assert made.serving is begun.offered
    held = after_delivery(made, mounted("renames"), snapshot())
    assert held.verdict is not None
    assert held.verdict.state is State.HELD
    back = after_delivery(held, mounted("base"), unasked)
    assert (back.verdict, back.serving) == (begun, begun.offered)


def test_packs_that_served_once_are_judged_beside_those_that_have_served_since() -> None:
    begun = consider(mounted("base"), None, Snapshot())
    other = consider(mounted("newer"), None, Snapshot())
    back = after_delivery(Standing(other.offered, begun=begun), mounted("base"), snapshot())
    assert back.verdict is not None
    assert back.verdict is not begun
    assert back.verdict.candidate == begun.candidate


def unasked(*_: object) -> Any:
    """Nobody may ask what a cluster loses."""
    raise AssertionError


def test_a_failure_stays_one_until_other_bytes_come() -> None:
    failed = after_delivery(Standing(serving()), mounted("broken"), snapshot())
    assert failed.serving is serving()
    assert after_delivery(failed, mounted("broken"), snapshot()).verdict is failed.verdict
    back = after_delivery(failed, mounted("base"), snapshot())
    assert back.verdict is not None
    assert back.verdict.state is State.LOADED


def test_a_verdict_in_force_has_no_message() -> None:
    made = loaded(replace(verdict("renames")))
    assert (made.message, made.state) == ("", State.LOADED)


def test_only_the_version_of_the_pack_differs_in_another_version() -> None:
    made = consider(delivered(version(base(), "9.0.0"), origin=ORIGIN), serving(), snapshot())
    changed = [one for one in made.packs if one.record.version == "9.0.0"]
    assert [one.record.id for one in changed] == ["manufacturer-nvidia"]


def test_whoever_knows_the_live_cluster_may_say_what_would_be_lost() -> None:
    asked = []

    def replan(old: Program, new: Program) -> tuple[Lost, ...]:
        asked.append((old.digest, new.digest))
        return (Lost("ResourceFlavor", "a", ("b",)),)

    made = consider(mounted("newer"), serving(), replan)
    assert (made.state, made.lost) == (State.HELD, (Lost("ResourceFlavor", "a", ("b",)),))
    assert "ResourceFlavor a -> b" in made.message
    assert asked == [(serving().program.digest, made.digest)]
    assert consider(mounted("base"), serving(), replan).state is State.LOADED
    assert len(asked) == 1  # the same program renames nothing: nobody is asked


def test_names_of_nodes_are_lost_where_the_node_has_others_now() -> None:
    before = {"n1": {"a", "c"}, "n2": {"a"}, "n3": {"d"}, "n4": {"e"}}
    after = {"n1": {"b", "c"}, "n2": {"a"}, "n3": set[str](), "n5": {"f"}}
    assert lost_by_node("ResourceFlavor", before, after) == (
        Lost("ResourceFlavor", "a", ("b",)),
        Lost("ResourceFlavor", "d"),
        Lost("ResourceFlavor", "e"),
    )
    assert lost_by_node("ResourceFlavor", before, before) == ()


def test_a_fault_of_ours_over_a_pack_is_a_verdict_and_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise KeyError("deep inside")

    monkeypatch.setattr(decide, "link", breaks)
    made = after_delivery(Standing(serving()), mounted("newer"), snapshot())
    assert made.serving is serving()
    assert made.verdict is not None
    assert made.verdict.state is State.FAILED
    assert "a fault of Engine: KeyError: 'deep inside'" in made.verdict.message
