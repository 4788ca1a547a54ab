"""The memo: equal where it may be, never equal where it may not."""

from engine.lang.memo import Memo
from tests.unit.lang.small import item, program

BODY = """\
    pick:
      - id: sized
        when: has(item.size) && item.ready
        emit: {label: $(item.name)}
    rows:
      - id: parts
        forEach: {in: item.parts, as: part}
        emit: {id: $(part.id)}
"""


def test_a_change_that_no_rule_looks_at_is_answered_from_memory():
    memo = Memo(program(BODY))
    first = memo.decide("pick", item(size=1))
    assert memo.decide("pick", item(size=2, count=99)) is first
    assert (memo.hits, memo.misses) == (1, 1)
    assert first.read == {"item.name": "x", "item.ready": True, "item.size.?": True}
    assert first.outcome.value == {"label": "x", "grade": "a"}


def test_a_change_that_a_rule_looks_at_is_decided_anew():
    memo = Memo(program(BODY))
    assert memo.decide("pick", item(size=1)).outcome.fired == ("sized",)
    assert memo.decide("pick", item()).outcome.fired == ()
    assert (
        memo.decide("rows", item(parts=[{"id": "a"}])).outcome.value
        != memo.decide("rows", item(parts=[{"id": "b"}])).outcome.value
    )


def test_true_and_one_are_different_values():
    memo = Memo(program(BODY))
    memo.decide("pick", item(ready=True, size=1))
    assert memo.decide("pick", item(ready=1, size=1)).outcome.kind == "unknown"


def test_the_least_recently_used_goes_first_and_skipped_sections_are_not_kept():
    memo = Memo(program(BODY), entries=2, skip=frozenset({"rows"}))
    memo.decide("rows", item())
    assert len(memo) == 0
    for name in ("a", "b", "a", "c"):
        memo.decide("pick", item(name=name))
    assert len(memo) == 2
    memo.decide("pick", item(name="a"))
    assert memo.hits == 2


def test_a_section_that_no_pack_defines_is_decided_too():
    assert Memo(program(BODY)).decide("labels", item()).outcome.kind == "nothing"
