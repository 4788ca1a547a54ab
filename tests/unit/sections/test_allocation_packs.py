"""The fixture packs under tests/packs: linked, tested by their own tests, and broken on purpose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InputError
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.packtest import TestReport, run_tests
from engine.lang.packtest_cases import Case
from engine.lang.source import Source
from engine.lang.types import MISSING
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT, completed
from engine.sections.served_modes import served_modes

PACKS = Path(__file__).parents[2] / "packs"
MAKERS = ("amd", "hygon", "metax")


def linked(maker: str, *, old: str = "", new: str = "") -> Linked:
    """A fixture pack; with `old` replaced by `new` in its one place in pack.yaml."""
    sources = []
    for path in sorted((PACKS / maker).glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if old and path.name == "pack.yaml":
            assert text.count(old) == 1
            text = text.replace(old, new)
        sources.append(Source(f"{maker}/{path.name}", text.encode()))
    return link([PackFiles(maker, tuple(sources), directory=True)], CATALOGUE)


def findings(result: Linked) -> list[str]:
    return [f"{one.code} {one.message}" for one in result.diagnostics.sorted()]


def report(maker: str, *, old: str = "", new: str = "") -> TestReport:
    result = linked(maker, old=old, new=new)
    assert result.program is not None, findings(result)
    return run_tests(result.program, CATALOGUE, JOINT, coverage=True)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_fixture_pack_passes_its_own_tests_and_covers_its_rules(maker: str) -> None:
    assert findings(linked(maker)) == []
    result = report(maker)
    assert [str(failure) for failure in result.failures] == []
    assert [str(gap) for gap in result.coverage] == []
    assert result.passed > 0


def test_a_claim_that_no_answer_shows_fails_the_golden_tests() -> None:
    leak = "      - id: claim-leak\n        emit: {name: leak, pool: node, size: 4, count: 1, refuse: LEAK}\n"
    leaky = report("hygon", old="    claims:\n", new=f"    claims:\n{leak}")
    golden = [failure.message for failure in leaky.failures if failure.test.startswith("golden exclusive")]
    # Visibility, the third case, claims nothing.
    assert golden == ['claims: expected nothing, got {"leak": "0"}'] * 2


@pytest.mark.parametrize(
    ("maker", "old", "new", "said"),
    [
        ("hygon", "when: not(has(card.slots.render))", "when: has(card.slots.card)", "notes"),
        ("hygon", "size: 200, count: 1", "size: 200, count: 2", "claims.vdev"),
        ("hygon", "pool: node", "pool: card", "claims"),
        ("metax", "undo: clear_share", "undo: none", "undone"),
        ("metax", "accept: [ok, absent]", "accept: [ok]", "refused"),
        ("metax", "when: alloc.mode != 'exclusive'", "when: alloc.mode != 'shared'", "calls"),
        ("amd", "overlap: least", "overlap: refuse", "overlap"),
        (
            "amd",
            'status: Internal}\n            message: "below',
            'status: Aborted}\n            message: "below',
            "status",
        ),
        ("amd", "{AMD_VISIBLE_DEVICES: none}", "{AMD_VISIBLE_DEVICES: all}", "env.AMD_VISIBLE_DEVICES"),
    ],
)
def test_a_changed_rule_fails_the_packs_tests(maker: str, old: str, new: str, said: str) -> None:
    result = report(maker, old=old, new=new)
    assert said in " ".join(failure.message for failure in result.failures)


@pytest.mark.parametrize(
    ("maker", "old", "new", "code"),
    [
        # Known only from inject on, and from prepare on.
        ("metax", "alias: gpustack-$(alloc.podUid)", "alias: $(card.driver.create_sgpu.index)", "RP401"),
        ("hygon", "when: card.derived.cores > `128`", "when: length(card.claims.cu) > `128`", "RP401"),
        (
            "hygon",
            "emit: {deviceNodes: [{path: /dev/dri/renderD$(card.slots.render), required: false}]}",
            "emit: {deviceNodes: [{path: $(alloc.partition.uuid)}]}",
            "RP4",
        ),
        # No rule claims it, no rule calls it, no driver answers it.
        ("hygon", "bits_hex(card.claims.cu, `0`, `64`)", "bits_hex(card.claims.cus, `0`, `64`)", "RP401"),
        ("metax", "$(card.driver.create_sgpu.node)", "$(card.driver.create_sgpu.path)", "RP401"),
        ("metax", "$(card.driver.create_sgpu.node)", "$(card.driver.make_sgpu.node)", "RP401"),
        ("metax", "$(card.driver.create_sgpu.node)", "$(card.driver.destroy_sgpu)", "RP401"),
        ("amd", "default(card.extras.gfx, '')", "default(card.extras.gfy, '')", "RP401"),
        ("amd", "ok: $(host.probes.kfd)", "ok: $(host.probes.kfb)", "RP401"),
        ("amd", "shape: window", "shape: run", "RP421"),
        ("amd", "refuse: AMD_WINDOW", "live: cu", "RP423"),
        (
            "metax",
            "has(alloc.slice) && not(alloc.slice.wholeCard)\n        emit:\n          call",
            "not(alloc.slice.wholeCard)\n        emit:\n          call",
            "RP41",
        ),
    ],
)
def test_a_rule_that_names_what_its_stage_does_not_have_is_not_linked(
    maker: str, old: str, new: str, code: str
) -> None:
    result = linked(maker, old=old, new=new)
    assert result.program is None
    assert any(found.startswith(code) for found in findings(result)), findings(result)


def test_an_allocation_is_completed_with_what_a_test_leaves_out() -> None:
    made = completed(
        {"mode": "sliced", "cards": [{"uuid": "a"}, {"uuid": "b", "index": 7}], "slice": {"coresPercent": 5}}
    )
    assert (made["grant"], made["container"], made["channel"], made["arch"]) == ("slice", "main", "envvar", "amd64")
    assert [(card["position"], card["index"], card["driverIndex"]) for card in made["cards"]] == [(0, 0, 0), (1, 7, 7)]
    assert made["slice"] == {"coresPercent": 5, "wholeCard": False}


@pytest.mark.parametrize(
    ("percent", "slice_mib", "whole"), [(100, 8, True), (99, 8, False), (100, 7, False), (100, None, False)]
)
def test_a_slice_of_all_cores_and_all_memory_is_a_whole_card(
    percent: int, slice_mib: int | None, *, whole: bool
) -> None:
    card: dict[str, Any] = {"memoryMib": 8} | ({} if slice_mib is None else {"sliceMib": slice_mib})
    made = completed({"mode": "sliced", "cards": [card], "slice": {"coresPercent": percent}})
    assert made["slice"]["wholeCard"] is whole
    said = completed({"mode": "sliced", "cards": [card], "slice": {"coresPercent": 1, "wholeCard": True}})
    assert said["slice"]["wholeCard"] is True


def test_visibility_is_granted_what_its_owner_holds() -> None:
    assert completed({"mode": "visibility", "cards": []})["grant"] == "whole"
    assert completed({"mode": "visibility", "cards": [], "partition": {"profile": "1g"}})["grant"] == "partition"


@pytest.mark.parametrize("alloc", [{}, {"mode": "shared"}, {"cards": []}])
def test_an_allocation_without_mode_or_cards_cannot_be_used(alloc: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="needs `mode` and `cards`"):
        completed(alloc)


@pytest.mark.parametrize(
    ("maker", "modes"),
    [
        ("amd", ["exclusive", "shared", "visibility", "sliced"]),
        ("hygon", ["exclusive", "shared", "visibility", "sliced", "partitioned"]),
    ],
)
def test_served_modes_are_read_off_the_features_rules(maker: str, modes: list[str]) -> None:
    program = linked(maker).program
    assert program is not None
    assert list(served_modes(program.packs[0])) == modes


def test_a_served_mode_without_a_golden_test_is_a_gap() -> None:
    result = report(
        "metax", old="emit: {logicalSlices: 16, isolation", new="emit: {logicalSlices: 16, partitions: true, isolation"
    )
    gaps = [gap.message for _, gap in result.coverage]
    assert gaps == ["no golden test for mode `partitioned`: an `allocation` whose whole answer is stated"]


def test_a_pack_that_injects_nothing_or_says_nothing_of_slices_needs_no_golden_test_for_them() -> None:
    program = linked("metax").program
    assert program is not None
    (pack,) = program.packs
    without = {name: section for name, section in pack.sections.items() if name != "inject"}
    assert list(JOINT.golden(replace(pack, sections=without), [])) == []
    assert list(JOINT.golden(replace(pack, kind="Derivation"), [])) == []
    silent = {name: section for name, section in pack.sections.items() if name != "features"}
    assert list(served_modes(replace(pack, sections=silent))) == ["exclusive", "shared", "visibility"]


def test_what_a_refused_or_partial_case_states_is_no_golden_test() -> None:
    program = linked("metax").program
    assert program is not None
    (pack,) = program.packs
    given = {"alloc": {"mode": "shared"}}
    whole = Case("t", "allocation", given, expect={})
    others = [
        replace(whole, is_partial=True),
        replace(whole, refuses="no"),
        replace(whole, section="inject"),
        replace(whole, expect=MISSING),
    ]

    def missing(cases: list[Case]) -> bool:
        return any("`shared`" in text for text in JOINT.golden(pack, cases))

    assert missing(others)
    assert not missing([whole])


def test_the_input_of_a_derivation_is_left_as_it_is() -> None:
    program = linked("metax").program
    assert program is not None
    given = {"alloc": {"mode": "shared"}}
    assert JOINT.ready(program, "inject", None, given) is given
    assert JOINT.ready(program, "features", "metax", given) is given
    assert JOINT.ready(program, "inject", "metax", {}) == {}
