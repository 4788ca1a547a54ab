"""Running the tests of packs against real, hand-compiled sections of an invented catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from engine.errors import InputError
from engine.lang import ir
from engine.lang.observe import Observer
from engine.lang.packtest import Joint, Scenario, TestReport, run_tests
from engine.lang.packtest_verdict import Ran
from engine.lang.parser import parse
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue, Combine, Owner, Section
from engine.lang.source import Place, Source, Span
from engine.lang.types import INT, object_of

FIRST = Section(
    "size",
    Owner.DERIVATION,
    Combine.FIRST,
    "box: {n?: int, kind?: str}",
    "{size: str, sides: int = 4}",
    "help",
    settings=True,
)
LIST = Section(
    "parts", Owner.DERIVATION, Combine.LIST, "box: {names: str[]}", "{name: str, kind: str = 'side'}", "help"
)
GUARD = Section(
    "guards", Owner.MANUFACTURER, Combine.FIRST, "box: {n?: int, slots: @slots}", "{refuse: str}", "help", message=""
)
CATALOGUE = Catalogue(
    sections={section.name: section for section in (FIRST, LIST, GUARD)},
    named_types=lambda blocks: {"slots": object_of(dict.fromkeys(blocks.get("slots", ()), INT))},
    vocabulary="1.0",
)
SETTINGS = [{"name": "big-from", "type": "integer", "default": 10}]


def emit(**values: ir.Emit | str) -> ir.Entries:
    made = {key: ir.Constant(value) if isinstance(value, str) else value for key, value in values.items()}
    return ir.Entries(tuple(ir.Entry(key, optional=False, value=value, written=key) for key, value in made.items()))


def rule(rule_id: str, when: str = "", **more: Any) -> ir.Rule:
    return ir.Rule(rule_id, f"pack.yaml:{rule_id}", when=parse(when) if when else None, **more)


def compiled(section: Section, *rules: ir.Rule | ir.Group, **more: Any) -> ir.CompiledSection:
    return ir.CompiledSection(section.name, section.combine, section.must, (), rules, **more)


SIZE = compiled(
    FIRST,
    rule("size-unknown", "box.kind == 'odd'", unknown=ir.Constant("it is odd")),
    rule("size-big", "box.n > settings.bigFrom", emit=emit(size="big")),
    rule("size-small", "has(box.n)", emit=emit(size="small")),
    filler=ir.Filler((("sides", 4),)),
)
PARTS = compiled(
    LIST,
    rule("part", for_each=ir.ForEach(parse("box.names"), "name"), emit=emit(name=ir.Computed(parse("name")))),
    filler=ir.Filler((("kind", "side"),)),
)
GUARDS = compiled(
    GUARD,
    rule("guard-none", "box.n == `0`", emit=emit(refuse="NONE"), messages=(("", ir.Constant("there is no box")),)),
    has_message=True,
)


def pack(*sections: ir.CompiledSection, kind: str = Owner.DERIVATION, name: str = "boxes", **more: Any) -> LinkedPack:
    return LinkedPack(
        kind,
        name,
        "1.0.0",
        {section.name: section for section in sections},
        {"settings": SETTINGS, "slots": ["a"]},
        **more,
    )


def maker(*tests: dict[str, Any]) -> LinkedPack:
    return pack(GUARDS, kind=Owner.MANUFACTURER, name="acme", tests=tests)


def run(made: LinkedPack, joint: Joint | None = None, *, coverage: bool = False) -> TestReport:
    return run_tests(Program([made], vocabulary="1.0"), CATALOGUE, joint or Joint(), coverage=coverage)


def size(**test: Any) -> dict[str, Any]:
    return {"name": "t", "section": "size", **test}


def only(report: TestReport) -> str:
    (failure,) = report.failures
    return f"{failure.code} {failure.message}"


def outcome(**test: Any) -> str:
    """The one failure of a test of `size`, or empty when it passed."""
    report = run(pack(SIZE, tests=(size(**test),)))
    assert report.passed + len(report.failures) == 1
    return only(report) if report.failures else ""


def box(n: int | None = None, **more: Any) -> dict[str, Any]:
    return {"box": {**({} if n is None else {"n": n}), **more}}


@pytest.mark.parametrize(
    "test",
    [
        {"given": box(3), "expect": {"size": "small"}},
        {"given": box(3), "expect": {"size": "small", "sides": 4}},
        {"given": box(11), "expect": {"size": "big"}, "fires": ["size-big"], "silent": ["size-small"]},
        {"given": {**box(11), "settings": {"bigFrom": 20}}, "expect": {"size": "small"}},
        {"given": box(3), "partial": True, "expect": {}},
        {"given": box(3), "fires": ["size-small"]},
        {"given": box(3), "absent": ["weight"]},
        {"given": box(kind="odd"), "unknown": True},
        {"given": box(kind="odd"), "unknown": "it is odd"},
        {"given": box(kind="odd"), "unknown": "size/size-unknown: it is odd"},
        {"given": box(kind="odd"), "unknown": "is o", "partial": True},
    ],
)
def test_a_test_that_says_what_comes_out_passes(test: dict[str, Any]) -> None:
    assert outcome(**test) == ""


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ({"given": box(3), "expect": {"size": "big"}}, 'size: expected "big", got "small"'),
        ({"given": box(3), "expect": {"size": "small", "sides": 5}}, "sides: expected 5, got 4"),
        (
            {"given": box(3), "expect": {}},
            'size: expected nothing, got "small"',
        ),
        ({"given": box(3), "fires": ["size-big"]}, "rule `size-big` did not fire; fired: size-small"),
        ({"given": box(3), "silent": ["size-small"]}, "rule `size-small` fired and should have been silent"),
        ({"given": box(3), "absent": ["size"]}, 'size: expected nothing, got "small"'),
        ({"given": box(kind="odd"), "expect": {}}, "it could not tell: size/size-unknown: it is odd"),
        ({"given": box(3), "unknown": True}, 'expected that it could not tell, got {"size": "small", "sides": 4}'),
        (
            {"given": box(kind="odd"), "unknown": "is odd"},
            'it could not tell, but not because of "is odd": size/size-unknown: it is odd',
        ),
        (
            {"given": box(kind="odd"), "unknown": "even"},
            'it could not tell, but not because of "even": size/size-unknown: it is odd',
        ),
        ({"given": box(3), "refuses": "no"}, 'expected a refusal, "no"; got {"size": "small", "sides": 4}'),
    ],
)
def test_a_test_that_says_otherwise_fails_and_says_where(test: dict[str, Any], said: str) -> None:
    assert said in outcome(**test)
    assert outcome(**test).startswith("RP720 ")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"box": {"n": "3"}}, 'the input does not fit: box.n: expected int, got "3"'),
        ({"box": {"m": 1}}, "the input does not fit: box.m: unknown field; known: n, kind"),
        ({**box(3), "bocks": 1}, "the input does not fit: bocks: unknown field"),
        (
            {**box(3), "settings": {"bigFrm": 1}},
            "the input does not fit: settings.bigFrm: unknown field; known: bigFrom",
        ),
        ({**box(3), "settings": {"bigFrom": "1"}}, 'settings.bigFrom: expected int, got "1"'),
    ],
)
def test_an_input_that_does_not_fit_the_section_fails_the_test(given: dict[str, Any], said: str) -> None:
    assert said in outcome(given=given, expect={})


def test_a_rule_that_is_gone_fails_before_anything_runs() -> None:
    test = size(given=box(3), fires=["size-smal"], cases=[{"expect": {"size": "small"}}, {"expect": {"size": "small"}}])
    report = run(pack(SIZE, tests=(test,)))
    assert report.passed == 0
    assert only(report) == "RP701 no rule `size-smal` in size; did you mean `size-small`?"


def test_a_section_the_pack_does_not_have_fails_before_anything_runs() -> None:
    report = run(pack(SIZE, tests=(size(section="sizes", given=box(3), expect={}),)))
    assert only(report) == "RP701 section `sizes` has no rules in this pack; did you mean `size`?"


def test_a_test_that_cannot_be_spread_out_fails_and_the_others_run() -> None:
    good = size(given=box(3), expect={"size": "small"})
    report = run(pack(SIZE, tests=(size(given=box(3)), good)))
    assert report.passed == 1
    assert only(report).startswith("RP720 test `t` expects nothing")


def test_every_case_is_counted_and_a_failure_names_its_place() -> None:
    place = Place(Source("tests.yaml", b"a: 1\n"), Span(0, 1))
    test = size(place=place, cases=[{"given": box(3), "expect": {"size": "small"}}, {"given": box(3), "expect": {}}])
    report = run(pack(SIZE, tests=(test,)))
    assert report.passed == 1
    assert str(report.failures[0]).startswith("tests.yaml:1:1: boxes: t [2]: size: expected nothing")
    (finding,) = report.diagnostics()
    assert (finding.code, finding.place) == ("RP720", place)
    assert not report.is_green


def test_elements_of_a_list_are_compared_whole_or_by_the_keys_named() -> None:
    given = {"box": {"names": ["a", "b"]}}
    tests = (
        {"name": "whole", "section": "parts", "given": given, "expect": [{"name": "a"}, {"name": "b", "kind": "side"}]},
        {
            "name": "keys",
            "section": "parts",
            "given": given,
            "partialEach": ["name"],
            "expect": [{"name": "a"}, {"name": "b"}],
        },
        {"name": "none", "section": "parts", "given": {"box": {"names": []}}, "expect": []},
        {"name": "no kind", "section": "parts", "given": given, "absent": ["kind"]},
        {"name": "no list", "section": "parts", "given": given, "expect": {}},
    )
    report = run(pack(PARTS, tests=tests))
    assert report.passed == 3
    assert [failure.test for failure in report.failures] == ["no kind", "no list"]


def test_the_elements_expected_of_an_object_do_not_match_it() -> None:
    assert "the value: expected" in outcome(given=box(3), partialEach=["size"], expect=[{"size": "small"}])


def test_a_guards_text_is_what_it_refuses_with() -> None:
    none = {"section": "guards", "given": {"box": {"n": 0, "slots": {"a": 1}}}}
    report = run(
        maker(
            {"name": "text", **none, "refuses": "there is no box"},
            {"name": "text and code", **none, "refuses": "there is no box", "expect": {"refuse": "NONE"}},
            {"name": "code", **none, "expect": {"refuse": "NONE"}},
            {"name": "rule", **none, "fires": ["guard-none"]},
            {"name": "lets it pass", "section": "guards", "given": {"box": {"n": 1}}, "expect": {}},
            {"name": "other text", **none, "refuses": "no"},
            {"name": "other code", **none, "refuses": "there is no box", "expect": {"refuse": "N"}},
            {"name": "nothing said", **none, "absent": ["x"]},
            {"name": "wrong", **none, "expect": {}},
            {"name": "unknown slot", "section": "guards", "given": {"box": {"slots": {"b": 1}}}, "expect": {}},
        )
    )
    assert report.passed == 5
    assert [f"{failure.test}: {failure.message}" for failure in report.failures] == [
        'other text: refuses: expected "no", got "there is no box"',
        'other code: refuse: expected "N", got "NONE"',
        "nothing said: it was refused: there is no box",
        'wrong: refuse: expected nothing, got "NONE" (refused: there is no box)',
        "unknown slot: the input does not fit: box.slots.b: unknown field; known: a",
    ]


def test_many_differences_are_counted_and_all_kept() -> None:
    report = run(pack(SIZE, tests=(size(given=box(3), expect={f"k{n}": n for n in range(6)}),)))
    assert only(report).endswith("; and 2 more")
    assert len(report.failures[0].differences) == 7


def test_a_section_the_catalogue_lacks_fails_its_tests() -> None:
    stray = replace(SIZE, name="stray")
    report = run(pack(stray, tests=(size(section="stray", given={}, expect={}),)))
    assert "the catalogue has no section stray" in only(report)


# Scenarios and what the sections' side hands in ----------------------------------------------------------------------


def story(program: Program, name: str, given: Mapping[str, Any], observer: Observer) -> Ran:
    if given.get("broken"):
        raise InputError("no such story")
    told = program.evaluate("guards", {"box": given["box"]}, name, observer=observer)
    text = told.value["message"] if told.fired else None
    return Ran({"told": name}, told.fired, refused=text)


JOINT = Joint(
    scenarios={
        "story": Scenario("story", "box: {n?: int, slots: @slots}, broken?: bool", "{told: str}", ("guards",), story)
    },
    ready=lambda _program, section, name, inputs: (
        {"box": {"n": 0}} if (section, name) == ("guards", "acme") else inputs
    ),
    golden=lambda _pack, cases: () if any(case.section == "story" for case in cases) else ("no story is told",),
)


def test_a_scenario_runs_as_a_section_of_its_own() -> None:
    tests = (
        {"name": "told", "section": "story", "given": box(1), "expect": {"told": "acme"}, "silent": ["guard-none"]},
        {"name": "refused", "section": "story", "given": box(0), "refuses": "there is no box", "fires": ["guard-none"]},
        {"name": "broken", "section": "story", "given": {**box(0), "broken": True}, "expect": {}},
        {"name": "unfit", "section": "story", "given": {"box": {"slots": {"b": 1}}}, "expect": {}},
        {"name": "gone", "section": "story", "given": box(0), "fires": ["guard"]},
    )
    report = run(maker(*tests), JOINT, coverage=True)
    assert report.passed == 2
    assert [f"{failure.code} {failure.test}: {failure.message}" for failure in report.failures] == [
        "RP720 broken: the input cannot be used: no such story",
        "RP720 unfit: the input does not fit: box.slots.b: unknown field; known: a",
        "RP701 gone: no rule `guard` in guards; did you mean `guard-none`?",
    ]
    assert report.coverage == ()


def test_the_sections_side_completes_an_input_before_it_is_evaluated() -> None:
    test = {"name": "completed", "section": "guards", "given": {}, "refuses": "there is no box"}
    assert run(maker(test), JOINT).passed == 1


def test_a_scenario_is_not_a_section_of_a_derivation() -> None:
    report = run(pack(SIZE, tests=(size(section="stry", expect={}),)), JOINT)
    assert "did you mean" not in only(report)


# Coverage --------------------------------------------------------------------------------------------------------------


def gaps(report: TestReport) -> list[str]:
    return [f"{gap.code} {gap.section} {gap.rule}: {gap.message}" for _, gap in report.coverage]


def test_a_section_without_a_test_is_one_gap_and_not_one_a_rule() -> None:
    report = run(pack(SIZE, PARTS), coverage=True)
    assert gaps(report) == ["RP702 size : it has rules and no test", "RP702 parts : it has rules and no test"]
    assert [finding.code for finding in report.diagnostics()] == ["RP702", "RP702"]
    assert next(iter(report.diagnostics())).file == "pack.yaml:size-unknown"
    assert not report.is_green


def test_a_section_without_rules_needs_no_test() -> None:
    assert run(pack(compiled(FIRST)), coverage=True).is_green


def test_what_no_case_showed_is_said_rule_by_rule() -> None:
    report = run(pack(SIZE, tests=(size(given=box(3), expect={"size": "small"}),)), coverage=True)
    assert gaps(report) == [
        "RP703 size size-unknown: rule `size-unknown` never fired in any test",
        "RP703 size size-big: rule `size-big` never fired in any test",
        "RP704 size size-small: rule `size-small` was never silent in any test",
    ]


def test_a_rule_that_says_unknown_has_fired() -> None:
    tests = (
        size(given=box(3), expect={"size": "small"}),
        size(given=box(11), expect={"size": "big"}),
        size(given=box(kind="odd"), unknown=True),
        size(given={"box": {"n": None}}, unknown=True),
    )
    report = run(pack(SIZE, tests=tests), coverage=True)
    assert "RP703" not in "".join(gaps(report))


def test_coverage_is_told_only_where_it_is_asked_for() -> None:
    assert run(pack(SIZE, PARTS)).is_green


def test_golden_tests_that_are_missing_are_gaps_too() -> None:
    test = {"name": "t", "section": "guards", "given": {}, "refuses": "there is no box"}
    report = run(maker(test), JOINT, coverage=True)
    assert gaps(report)[-1] == "RP702 tests : no story is told"
