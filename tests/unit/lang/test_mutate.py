"""Mutants of packs: which are made, which a test kills, which are accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.lang.linking import Linked
from engine.lang.mutate import MutationReport, mutate
from engine.lang.mutate_text import OPERATORS, expression_edits, literal_edits, template_edits
from engine.lang.packtest import Joint

from .small import CATALOGUE, linked, pack


def texts(text: str) -> list[str]:
    return [edit.applied(text) for edit in expression_edits(text)]


@pytest.mark.parametrize(
    ("text", "mutants"),
    [
        ("a > `1`", ["a <= `1`", "a >= `1`", "a > `2`", "a > `0`"]),
        ("a == 'x'", ["a != 'x'", "a == 'x~'"]),
        ("a == `true`", ["a != `true`", "a == `false`"]),
        ("a && (b || c)", ["a || (b || c)", "(a)", "(b || c)", "a && (b && c)", "a && ((b))", "a && ((c))"]),
        ("not(a)", ["(a)"]),
        ("!(a)", ["(a)"]),
        ("if(a, b, c)", ["(b)", "(c)"]),
        ("default(a, b)", ["(b)"]),
        ("a[0]", ["a[1]"]),
        ("required(a, 'why')", []),
        ("default(a, '') == 'x'", ["default(a, '') != 'x'", "('') == 'x'", "default(a, '') == 'x~'"]),
        (
            "default(a, 'x') == 'x'",
            ["default(a, 'x') != 'x'", "('x') == 'x'", "default(a, 'x~') == 'x'", "default(a, 'x') == 'x~'"],
        ),
        (
            "default(a, `0`) != `1`",
            [
                "default(a, `0`) == `1`",
                "(`0`) != `1`",
                "default(a, `1`) != `1`",
                "default(a, `0`) != `2`",
                "default(a, `0`) != `0`",
            ],
        ),
        ("a.b", []),
        ("a ==", []),
        ('x == `"text"`', ['x != `"text"`']),
    ],
)
def test_an_expression_is_changed_in_one_place_at_a_time(text: str, mutants: list[str]) -> None:
    assert sorted(texts(text)) == sorted(mutants)


def test_a_template_is_changed_inside_its_expressions() -> None:
    text = "a-$(x[0])-$(y)"
    assert [edit.applied(text) for edit in template_edits(text)] == ["a-$(x[1])-$(y)"]
    assert list(template_edits("$(x")) == []


@pytest.mark.parametrize(
    ("value", "written", "choices", "mutants"),
    [
        (True, "true", (), ["false"]),
        (False, "false", (), ["true"]),
        (3, "3", (), ["4", "2"]),
        ("x", "x", (), ["x~"]),
        ("x", "x", ("x", "y", "z"), ["y"]),
        ("$(x)", "$(x)", (), []),
        ("$(x", "$(x", (), ["$(x~"]),
        (None, "", (), []),
    ],
)
def test_a_value_is_changed_into_another_of_its_kind(
    value: object, written: str, choices: tuple[str, ...], mutants: list[str]
) -> None:
    assert [edit.applied(written) for edit in literal_edits(value, written, choices)] == mutants


# whole packs

RULES = """\
    pick:
      rules:
        - id: big
          when: item.count > `5`
          emit: {label: big, grade: b}
        - id: rest
          emit: {label: rest}
"""
TESTS = """\
  tests:
    - {name: above, section: pick, given: {item: {count: 6}}, expect: {label: big, grade: b}}
    - {name: below, section: pick, given: {item: {count: 5}}, expect: {label: rest, grade: a}}
"""


def checked(rules: str, tests: str = TESTS, extra: str = "", name: str = "p") -> Linked:
    made = linked(pack(rules, name=name, extra=tests + extra))
    assert made.program is not None, [f"{one.place}: {one.message}" for one in made.diagnostics]
    return made


def run(made: Linked, joint: Joint | None = None) -> MutationReport:
    return mutate(made, CATALOGUE, joint or Joint())


def test_a_pack_whose_tests_are_sharp_has_no_survivor() -> None:
    report = run(checked(RULES))
    assert report.is_green
    assert report.killed == report.made > 10
    assert [str(one) for one in report.packs if one.made] == [
        f"Derivation p: {report.killed} of {report.killed} mutants killed, {report.packs[1].not_loaded} did not load"
    ]
    assert len(report.diagnostics()) == 0


def test_a_survivor_is_reported_with_its_place() -> None:
    report = run(checked(RULES, TESTS.replace("count: 5", "count: 4")))
    said = [f"{one.place}: {one.code} {one.message}" for one in report.diagnostics().sorted()]
    assert said == [
        "p.yaml:12:28: RP710 p: pick: no test notices comparison: `>` becomes `>=`",
        "p.yaml:12:30: RP710 p: pick: no test notices number: ``5`` becomes ``4``",
    ]
    assert not report.is_green
    assert "SURVIVED" in str(report.packs[1])


def survivors(rules: str, tests: str, extra: str = "") -> list[str]:
    report = run(checked(rules, tests, extra))
    return sorted({one.what for pack in report.packs for one in pack.survived})


def test_a_bound_that_no_test_touches_survives() -> None:
    loose = TESTS.replace("count: 6", "count: 9").replace("count: 5", "count: 1")
    assert survivors(RULES, loose) == ["`>` becomes `>=`", "``5`` becomes ``4``", "``5`` becomes ``6``"]


def test_a_text_that_no_test_states_survives_but_not_where_only_some_texts_may_stand_and_one_is_stated() -> None:
    vague = TESTS.replace("expect: {label: big, grade: b}", "fires: [big]").replace(
        "expect: {label: rest, grade: a}", "fires: [rest]"
    )
    assert survivors(RULES, vague) == [
        "`b` becomes `a`",
        "`big` with `~` behind it",
        "`grade` left out",
        "`rest` with `~` behind it",
    ]


def test_a_mutant_that_does_not_load_is_counted_apart() -> None:
    # Without its `has` the size may be null, and a rule that always fires shuts out the rest.
    rules = RULES.replace("item.count > `5`", "has(item.size) && item.size > `5`")
    tests = TESTS.replace("count: 6", "size: 6").replace("count: 5", "size: 5")
    tests += "    - {name: none, section: pick, given: {item: {}}, fires: [rest]}\n"
    report = run(checked(rules, tests))
    assert report.is_green
    assert report.packs[1].not_loaded >= 4


def test_lets_groups_loops_and_messages_are_mutated() -> None:
    rules = (
        '    refusals:\n      let: {most: "add(item.count, `1`)"}\n      rules:\n'
        "        - when: item.ready\n          forEach: {in: \"item.tags[?@ != 'x']\", as: tag}\n"
        "          rules:\n"
        "            - id: many\n              let: {shown: \"concat(tag, '!')\"}\n              when: most > `2`\n"
        "              emit: {refuse: MANY}\n              message: too many $(shown)\n"
    )
    exact = (
        "  tests:\n    - name: refused\n      section: refusals\n      cases:\n"
        "        - {given: {item: {count: 2, ready: true, tags: [t]}}, refuses: 'too many t!', expect: {refuse: MANY}}\n"
        "        - {given: {item: {count: 1, ready: true, tags: [t]}}, silent: [many]}\n"
        "        - {given: {item: {count: 2, ready: false, tags: [t]}}, silent: [many]}\n"
        "        - {given: {item: {count: 2, ready: true, tags: [x]}}, silent: [many]}\n"
    )
    assert survivors(rules, exact) == []
    assert survivors(rules, exact.replace("refuses: 'too many t!', ", "")) == [
        "`'!'` becomes `'!~'`",
        "`too many $(shown)` with `~` behind it",
    ]


def test_items_of_lists_are_left_out_and_late_messages_mutated() -> None:
    rules = (
        "    object:\n      rules:\n        - id: one\n          emit: {name: x, more: {b: 3}, list: [a, b]}\n"
        "    late:\n      rules:\n        - {id: two, emit: {name: x}, message: {full: none, gone: lost}}\n"
    )
    tests = (
        "  tests:\n    - {name: a, section: object, given: {item: {}}, partial: true, expect: {name: x}}\n"
        "    - {name: b, section: late, given: {item: {}}, fires: [two]}\n"
    )
    found = survivors(rules, tests)
    assert {"item 1 left out", "item 2 left out", "`3` becomes `4`", "`none` with `~` behind it"} <= set(found)


def test_only_the_packs_asked_for_are_mutated() -> None:
    report = mutate(checked(RULES), CATALOGUE, Joint(), only=[("Derivation", "constants")])
    assert [one.name for one in report.packs] == ["constants"]
    assert report.made == 0


def test_packs_that_did_not_link_have_no_mutants() -> None:
    assert mutate(linked("    pick:\n      - {id: a, emit: {lable: x}}\n"), CATALOGUE, Joint()).packs == ()


def test_tests_that_cannot_be_run_or_do_not_pass_kill_nothing() -> None:
    broken = TESTS + (
        "    - {name: wrong, section: pick, given: {item: {count: 6}}, expect: {label: other}}\n"
        "    - {name: nothing, section: pick, from: gone, given: {item: {count: 6}}, expect: {label: big}}\n"
        "    - {name: nowhere, section: gone, given: {}, expect: {}}\n"
        "    - {name: unused, section: labels, given: {item: {}}, expect: {}}\n"
    )
    assert run(checked(RULES, broken)).is_green


def test_settings_are_filled_in_before_a_section_is_asked() -> None:
    rules = "    switched:\n      rules:\n        - {id: lit, when: settings.isOn, emit: {label: x}}\n"
    extra = "  settings:\n    - {name: is-on, type: boolean, default: false, help: A switch}\n"
    tests = (
        "  tests:\n    - {name: a, section: switched, given: {item: {}}, silent: [lit]}\n"
        "    - {name: b, section: switched, given: {item: {}, settings: {isOn: true}}, expect: {label: x}}\n"
    )
    assert survivors(rules, tests, extra) == []


# acceptance

LOOSE = TESTS.replace("count: 6", "count: 9").replace("count: 5", "count: 1")


@pytest.mark.parametrize(
    "written",
    [
        "          when: item.count > `5`   # mutant: nobody counts that far\n",
        "          # mutant: nobody counts that far\n          when: item.count > `5`\n",
        "          # mutant: nobody counts that far\n          # and more\n          when: item.count > `5`\n",
    ],
)
def test_a_comment_accepts_the_survivors_of_its_line(written: str) -> None:
    report = run(checked(RULES.replace("          when: item.count > `5`\n", written), LOOSE))
    assert [reason for _, reason in report.packs[1].accepted] == ["nobody counts that far"] * 3
    assert "3 accepted" in str(report.packs[1])
    assert report.packs[1].is_green
    # Three of a dozen are more than three in a hundred.
    assert report.accepts_too_many
    assert [one.code for one in report.diagnostics()] == ["RP712"]


def test_an_acceptance_needs_a_reason_and_a_survivor() -> None:
    rules = RULES.replace("`5`\n", "`5`   # mutant:\n").replace(
        "          emit: {label: rest}", "          # mutant: why not\n          emit: {label: rest}"
    )
    report = run(checked(rules, LOOSE))
    assert [one.code for one in report.diagnostics().sorted() if one.code != "RP710"] == ["RP711", "RP711"]
    assert len(report.packs[1].survived) == 3
    assert [one.message for one in report.packs[1].faults] == [
        "the acceptance of a mutant has no reason",
        "the comment accepts no surviving mutant",
    ]


def test_every_operator_is_on_the_page_and_nothing_else() -> None:
    page = (Path(__file__).parents[3] / "docs" / "mutation-testing.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(OPERATORS)
