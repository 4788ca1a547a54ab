"""Evaluation: which rules fire, how outputs combine, and the three outcomes."""

import pytest

from engine.lang.outcome import OutcomeKind
from tests.unit.lang.small import item, program

PICK = """\
    pick:
      let:
        big: item.count > `10`
      rules:
        - id: pick-big
          when: big
          emit: {label: "big $(item.name)", grade: b}
        - id: pick-sized
          when: has(item.size)
          emit: {label: "$(item.count)", size: $(item.size)}
        - id: pick-ready
          when: item.ready
          emit: {label: $(item.count)}
"""


def test_first_takes_the_first_rule_that_fires_and_fills_in_defaults():
    made = program(PICK)
    big = made.evaluate("pick", item(count=11, size=1))
    assert (big.kind, big.value, big.fired) == (OutcomeKind.VALUE, {"label": "big x", "grade": "b"}, ("pick-big",))
    sized = made.evaluate("pick", item(size=3))
    assert sized.value == {"label": "2", "size": 3, "grade": "a"}


def test_an_integer_prints_where_a_text_is_wanted():
    assert program(PICK).evaluate("pick", item()).value == {"label": "2", "grade": "a"}


def test_no_rule_fired_is_nothing_and_with_must_it_is_could_not_tell():
    assert program(PICK).evaluate("pick", item(ready=False)).kind is OutcomeKind.NOTHING
    made = program("    must-pick:\n      - id: a-rule\n        when: item.ready\n        emit: {label: x}\n")
    outcome = made.evaluate("must-pick", item(ready=False))
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert "no rule fired" in outcome.reason


def test_a_section_that_no_pack_defines_answers_nothing():
    assert program(PICK).evaluate("rows", item()).kind is OutcomeKind.NOTHING


def test_merge_puts_maps_and_lists_together():
    made = program(
        """\
    object:
      - id: first
        emit: {name: made, more: {a: x}, list: [one]}
      - id: second
        emit: {more: {b: 2}, list: [two, $(item.name)]}
"""
    )
    outcome = made.evaluate("object", item())
    assert outcome.value == {"name": "made", "more": {"a": "x", "b": 2}, "list": ["one", "two", "x"]}
    assert outcome.fired == ("first", "second")


def test_merge_refuses_one_scalar_from_two_rules_even_when_equal_and_names_both():
    made = program(
        """\
    labels:
      - id: first
        emit: {k: same}
      - id: second
        emit: {k: same}
"""
    )
    outcome = made.evaluate("labels", item())
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert "`k` comes from first and from second" in outcome.reason


def test_merge_with_must_names_the_fields_that_no_rule_gave():
    made = program("    object:\n      - id: only\n        emit: {more: {a: x}}\n")
    assert "no rule gave name" in made.evaluate("object", item()).reason


def test_a_constant_of_a_pack_is_not_changed_by_what_is_merged_into_it():
    made = program(
        "    object:\n      - id: first\n        emit: {name: made, more: {a: x}, list: [one]}\n"
        "      - id: second\n        emit: {list: [two]}\n"
    )
    assert made.evaluate("object", item()).value == made.evaluate("object", item()).value


def test_list_gives_one_output_for_each_item_in_order_and_is_empty_for_none():
    made = program(
        """\
    rows:
      - id: each
        forEach: {in: item.parts, as: part, index: i}
        when: part.id != 'skip'
        emit: {id: "$(i)-$(part.id)"}
"""
    )
    parts = [{"id": "a"}, {"id": "skip"}, {"id": "b"}]
    outcome = made.evaluate("rows", item(parts=parts))
    assert outcome.value == [{"id": "0-a", "permissions": "rw"}, {"id": "2-b", "permissions": "rw"}]
    assert outcome.fired == ("each", "each")
    assert made.evaluate("rows", item()).value == []


def test_sum_adds_equal_keys():
    made = program(
        """\
    total:
      - id: each
        forEach: {in: item.parts, as: part}
        emit: {"$(part.id)": "$(default(part.n, `0`))", all: 1}
"""
    )
    parts = [{"id": "a", "n": 2}, {"id": "b"}, {"id": "a", "n": 3}]
    assert made.evaluate("total", item(parts=parts)).value == {"a": 5, "all": 3, "b": 0}


def test_a_group_shares_when_let_and_for_each_and_first_walks_items_outermost():
    made = program(
        """\
    pick:
      - forEach: {in: item.parts, as: part}
        let: {size: "default(part.n, `0`)"}
        rules:
          - id: big-part
            when: size > `5`
            emit: {label: big $(part.id)}
          - id: any-part
            when: size > `0`
            emit: {label: small $(part.id)}
"""
    )
    parts = [{"id": "a", "n": 1}, {"id": "b", "n": 9}]
    assert made.evaluate("pick", item(parts=parts)).fired == ("any-part",)
    assert made.evaluate("pick", item(parts=parts[::-1])).value["label"] == "big b"


def test_a_group_whose_when_is_false_keeps_its_rules_silent():
    made = program(
        "    rows:\n      - when: item.ready\n        rules:\n          - id: inner\n            emit: {id: x}\n"
    )
    assert made.evaluate("rows", item(ready=False)).value == []
    assert made.evaluate("rows", item()).value == [{"id": "x", "permissions": "rw"}]


def test_an_optional_key_is_left_out_when_null_and_any_other_null_could_not_be_told():
    made = program(
        """\
    free:
      - id: it
        emit:
          value:
            name: $(item.name)
            up?: $(upper(item.kind))
"""
    )
    assert made.evaluate("free", item()).value == {"value": {"name": "x"}}
    assert made.evaluate("free", item(kind="big")).value == {"value": {"name": "x", "up": "BIG"}}


def test_required_fails_even_in_an_optional_key():
    made = program(
        "    free:\n      - id: it\n        emit:\n          value:\n            k?: $(required(item.size, 'no size'))\n"
    )
    outcome = made.evaluate("free", item())
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert "no size" in outcome.reason


def test_an_unknown_rule_says_that_it_could_not_tell_and_counts_as_fired():
    made = program(
        "    pick:\n      - id: unreadable\n        when: item.ready\n        unknown: cannot read $(item.name)\n"
    )
    outcome = made.evaluate("pick", item())
    assert (outcome.kind, outcome.fired) == (OutcomeKind.UNKNOWN, ("unreadable",))
    assert outcome.reason == "pick/unreadable: cannot read x"


def test_lets_are_evaluated_only_when_used():
    made = program(
        """\
    pick:
      let:
        broken: floor_div(`1`, item.count)
      rules:
        - id: never-looks
          when: item.ready
          emit: {label: fine}
        - id: looks
          emit: {label: $(broken)}
"""
    )
    assert made.evaluate("pick", item(count=0)).value == {"label": "fine", "grade": "a"}
    assert made.evaluate("pick", item(count=0, ready=False)).kind is OutcomeKind.UNKNOWN


def test_an_error_names_section_rule_and_field():
    made = program("    pick:\n      - id: divides\n        emit: {label: x, size: '$(floor_div(`1`, item.count))'}\n")
    assert made.evaluate("pick", item(count=0)).reason.startswith("pick/divides size: ")


def test_a_when_that_fails_names_its_rule():
    made = program(
        "    pick:\n      - id: divides\n        when: floor_div(`1`, item.count) > `0`\n        emit: {label: x}\n"
    )
    assert made.evaluate("pick", item(count=0)).reason.startswith("pick/divides: ")


def test_a_message_stands_in_the_output_and_one_that_fails_never_saves_what_was_refused():
    made = program(
        """\
    refusals:
      - id: refuse-it
        when: item.ready
        emit: {refuse: CODE}
        message: "$(floor_div(`8`, item.count)) is not enough"
"""
    )
    assert made.evaluate("refusals", item()).value == {"refuse": "CODE", "message": "4 is not enough"}
    broken = made.evaluate("refusals", item(count=0)).value
    assert broken["refuse"] == "CODE"
    assert "refused by rule refusals/refuse-it" in broken["message"]


def test_a_late_message_sees_the_answer_and_the_item_its_rule_fired_for():
    made = program(
        """\
    late:
      - id: claim
        forEach: {in: item.parts, as: part}
        emit: {name: $(part.id)}
        message:
          exhausted: "$(part.id): $(default(answer.free, `0`)) free"
"""
    )
    outcome = made.evaluate("late", item(parts=[{"id": "a"}, {"id": "b"}]))
    second = outcome.value[1]
    assert made.message("late", "claim", second, {"state": "exhausted", "free": 3}) == "b: 3 free"
    assert made.message("late", "claim", second, {"state": "foreign"}) is None


def test_inputs_are_not_changed():
    made = program(PICK)
    given = item(size=3)
    made.evaluate("pick", given)
    assert given == item(size=3)


def test_settings_are_seen_where_a_section_says_so():
    extra = "  settings:\n    - {name: some-switch, type: boolean, default: true, help: a switch}\n"
    made = program(
        "    switched:\n      - id: switch-on\n        when: settings.someSwitch\n        emit: {label: x}\n",
        extra=extra,
    )
    assert made.evaluate("switched", {**item(), "settings": {"someSwitch": True}}).fired == ("switch-on",)
    assert made.evaluate("switched", {**item(), "settings": {"someSwitch": False}}).fired == ()


@pytest.mark.parametrize("parts", [None, "text"])
def test_for_each_over_what_is_no_list_could_not_tell(parts):
    made = program(
        "    rows:\n      - id: each\n        forEach: {in: item.parts, as: part}\n        emit: {id: $(part.id)}\n"
    )
    assert made.evaluate("rows", item(parts=parts)).kind is OutcomeKind.UNKNOWN


def test_a_when_that_is_neither_true_nor_false_could_not_tell():
    made = program("    rows:\n      - id: maybe\n        when: item.ready\n        emit: {id: x}\n")
    outcome = made.evaluate("rows", item(ready=None))
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert "neither true nor false" in outcome.reason


def test_parts_of_the_answer_are_handed_out_for_explanations():
    parts = []
    made = program("    labels:\n      - id: one\n        emit: {a: x}\n      - id: two\n        emit: {b: z}\n")
    made.evaluate("labels", item(), parts=parts)
    assert parts == [("one", {"a": "x"}), ("two", {"b": "z"})]
