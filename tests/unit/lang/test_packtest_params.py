"""Tests of packs that give parameters other values, and bases that serve sections knowing more and less of them."""

from __future__ import annotations

from engine.lang.packtest import Joint, TestReport, run_tests
from engine.lang.program import Program
from tests.unit.lang.small import CATALOGUE, linked

PARAMS = "  params:\n    big: {type: integer, default: 10, minimum: 1, maximum: 20}\n    word: big\n"
SECTIONS = """    pick:
      - {id: big, when: item.count >= params.big, emit: {label: $(params.word)}}
      - {id: small, emit: {label: small}}
    labels: [{id: label, emit: {a: x}}]
"""


def report(tests: str, *, bases: str = "", coverage: bool = False) -> TestReport:
    made = linked(SECTIONS, extra=f"{PARAMS}{bases}  tests:\n{tests}")
    assert made.program is not None, [str(one) for one in made.diagnostics]
    return run_tests(made.program, CATALOGUE, Joint(), coverage=coverage)


def failures(tests: str, *, bases: str = "") -> list[str]:
    return [one.message for one in report(tests, bases=bases).failures]


def test_a_parameter_has_its_default_unless_the_test_gives_a_value() -> None:
    tests = """    - name: t
      section: pick
      given: {item: {count: 5}}
      cases:
        - {expect: {label: small}}
        - {params: {big: 5}, expect: {label: big}}
        - {params: {big: 5, word: huge}, expect: {label: huge}}
"""
    found = report(tests)
    assert (found.passed, found.failures) == (3, ())


def test_the_parameters_of_a_test_are_its_cases_too_and_a_case_has_the_last_word() -> None:
    tests = """    - name: t
      section: pick
      params: {big: 5, word: one}
      given: {item: {count: 5}}
      cases:
        - {expect: {label: one}}
        - {params: {word: two}, expect: {label: two}}
        - {params: {big: 6}, expect: {label: small}}
"""
    assert failures(tests) == []


def test_what_a_rule_did_under_other_parameters_counts_for_coverage() -> None:
    tests = """    - name: t
      section: pick
      given: {item: {count: 5}}
      cases: [{expect: {label: small}}, {params: {big: 5}, expect: {label: big}}]
    - {name: u, section: labels, expect: {a: x}}
"""
    found = report(tests, coverage=True)
    assert [gap.message for _, gap in found.coverage] == []


def test_a_value_that_does_not_fit_fails_the_test_and_says_why() -> None:
    def told(params: str) -> str:
        test = f"    - {{name: t, section: pick, given: {{item: {{count: 5}}}}, params: {params}, expect: {{label: big}}}}\n"
        (message,) = failures(test)
        return message

    assert "there is no parameter `bug`; did you mean `big`?" in told("{bug: 1}")
    assert "the parameter `big` is of type integer, got string" in told('{big: "5"}')
    assert "the parameter `big` cannot be 21; the most is 20" in told("{big: 21}")


def test_a_pack_that_was_read_back_has_its_parameters_fixed() -> None:
    made = linked(SECTIONS, extra=PARAMS).program
    assert made is not None
    again = Program.from_json(made.to_json())
    assert all(pack.variant is None for pack in again.packs)


def test_a_base_gives_a_section_what_it_knows_of_it() -> None:
    bases = "  bases:\n    b: {item: {count: 12, colour: red, parts: [{id: a, weight: 3}]}, other: 1}\n    c: {item: {colour: red}}\n"
    tests = "    - {name: t, section: pick, from: b, expect: {label: big}}\n"
    assert failures(tests, bases=bases) == [
        "no section that a test puts it under knows its field item.colour",
        "no section that a test puts it under knows its field item.parts.weight",
        "no section that a test puts it under knows its field other",
    ]


def test_what_a_test_itself_gives_has_to_fit() -> None:
    tests = "    - {name: t, section: pick, given: {item: {count: 12, colour: red}}, expect: {label: big}}\n"
    (message,) = failures(tests)
    assert message.startswith("the input does not fit: item.colour: unknown field")
