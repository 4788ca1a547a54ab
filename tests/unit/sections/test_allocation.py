"""One allocation through its four stages, against a program that answers from a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.errors import InputError
from engine.lang.observe import Observer
from engine.lang.outcome import Outcome, OutcomeKind
from engine.sections.allocation import COULD_NOT_TELL, NO_CARDS, Circumstances, allocate
from engine.sections.allocation_outcome import AllocationOutcome, read_ranges, write_ranges

CARD = {"uuid": "GPU-1", "pci": "0000:01:00.0"}
OTHER = {"uuid": "GPU-2", "pci": "0000:02:00.0"}
CLAIM = {
    "name": "cu",
    "pool": "card",
    "card": "GPU-1",
    "size": 8,
    "count": 2,
    "shape": "ids",
    "quantum": 1,
    "overlap": "refuse",
    "refuse": "FULL",
    "status": "ResourceExhausted",
}
CALL = {
    "call": "create",
    "card": "GPU-1",
    "args": {"n": 1},
    "phase": "afterRecord",
    "accept": ["ok"],
    "undo": "destroy",
    "hold": "none",
    "refuse": "DRIVER",
    "status": "FailedPrecondition",
}
EDITS: dict[str, Any] = {"env": {"A": "1"}}


def alloc(mode: str = "sliced", grant: str = "slice", cards: tuple[Mapping[str, Any], ...] = (CARD,)) -> dict[str, Any]:
    return {"mode": mode, "grant": grant, "container": "main", "cards": [dict(card) for card in cards]}


class Table:
    """A program whose sections answer what they are told, and which remembers what it was asked with."""

    def __init__(self, messages: Mapping[str, str] | None = None, **sections: Any) -> None:
        self.sections = sections
        self.messages = messages or {}
        self.asked: dict[str, Any] = {}
        self.order: list[str] = []

    def evaluate(
        self, section: str, inputs: Mapping[str, Any], maker: str | None = None, *, observer: Observer | None = None
    ) -> Outcome:
        assert maker == "acme"
        self.order.append(section)
        if observer is not None:
            observer.rule_fired(section, "seen")
        given = inputs["alloc"]
        self.asked[section] = {
            "partition": dict(given.get("partition") or {}),
            "claims": given.get("claims"),
            "cards": [{key: card.get(key) for key in ("claims", "driver")} for card in given["cards"]],
        }
        answer = self.sections.get(section, [] if section in ("claims", "prepare") else None)
        if isinstance(answer, Outcome):
            return answer
        if answer is None:
            return Outcome(OutcomeKind.NOTHING)
        fired = tuple(f"{section}-{n}" for n in range(len(answer))) if isinstance(answer, list) else (f"{section}-0",)
        return Outcome(OutcomeKind.VALUE, answer, fired)

    def message(
        self, section: str, rule_id: str, output: Mapping[str, Any], answer: Mapping[str, Any], maker: str | None = None
    ) -> str | None:
        assert output["refuse"]
        state = answer.get("state") or answer["outcome"]
        text = self.messages.get(f"{rule_id} {state}")
        return text and text.format(**answer)

    def with_derived(self, maker: str, alloc: Mapping[str, Any]) -> dict[str, Any]:
        return {**alloc, "cards": [dict(card) for card in alloc["cards"]]}


def run(program: Table, given: dict[str, Any] | None = None, **circumstances: Any) -> AllocationOutcome:
    return allocate(program, "acme", given or alloc(), Circumstances(**circumstances))


def refusal(outcome: AllocationOutcome) -> tuple[str, str, str]:
    assert outcome.refusal is not None
    assert outcome.edits is None
    return outcome.refusal.code, outcome.refusal.status, outcome.refusal.text


def test_an_allocation_goes_through_the_stages_in_order_and_ends_in_edits() -> None:
    program = Table(claims=[CLAIM], prepare=[CALL], inject=EDITS)
    outcome = run(program)
    assert program.order == ["guards", "claims", "prepare", "inject"]
    assert outcome.edits == EDITS
    assert outcome.fired == ("claims-0", "prepare-0", "inject-0")
    assert outcome.shown() == {"env": {"A": "1"}, "claims": {"cu@GPU-1": "0-1"}, "calls": ["create@GPU-1"]}


def test_nothing_that_only_exists_later_is_seen_by_an_earlier_stage() -> None:
    given = alloc("partitioned", "partition")
    given["partition"] = {"profile": "1g", "uuid": "P", "ids": {"gi": 3}}
    given["cards"][0] |= {"claims": {"cu": [9]}, "driver": {"create": {}}}
    program = Table(claims=[CLAIM], prepare=[CALL], inject=EDITS)
    run(program, given, answers={"create": {"answer": {"index": 4}}})
    assert program.asked["guards"] == {
        "partition": {"profile": "1g"},
        "claims": None,
        "cards": [{"claims": None, "driver": None}],
    }
    assert program.asked["prepare"]["cards"] == [{"claims": {"cu": [0, 1]}, "driver": None}]
    assert program.asked["prepare"]["partition"] == {"profile": "1g"}
    assert program.asked["inject"]["partition"] == {"profile": "1g", "uuid": "P", "ids": {"gi": 3}}
    assert program.asked["inject"]["cards"] == [{"claims": {"cu": [0, 1]}, "driver": {"create": {"index": 4}}}]
    assert given["cards"][0]["claims"] == {"cu": [9]}


def test_an_allocation_without_a_card_is_refused_by_code_and_asks_no_rule() -> None:
    program = Table(inject=EDITS)
    code, status, text = refusal(run(program, alloc(cards=())))
    assert (code, status) == (NO_CARDS, "FailedPrecondition")
    assert text == 'no allocated accelerator found for sliced container "main"'
    assert program.order == []
    whole = refusal(run(program, alloc("shared", "whole", cards=())))
    assert whole[2] == 'no allocated accelerator found for container "main"'


def test_a_guard_ends_the_allocation_with_its_own_text() -> None:
    program = Table(guards={"refuse": "NO", "status": "Internal", "message": "not this one"}, inject=EDITS)
    outcome = run(program)
    assert refusal(outcome) == ("NO", "Internal", "not this one")
    assert program.order == ["guards"]
    assert outcome.shown() == {"refuse": "NO", "status": "Internal"}
    silent = run(Table(guards={"refuse": "NO", "status": "Internal"}))
    assert refusal(silent)[2] == "refused by rule guards-0"


def test_claims_of_one_pool_see_each_other_and_what_is_occupied() -> None:
    node = CLAIM | {"name": "vdev", "pool": "node", "count": 1}
    program = Table(claims=[CLAIM, node, node | {"card": "GPU-2"}], inject=EDITS)
    outcome = run(program, alloc(cards=(CARD, OTHER)), occupied={"cu@GPU-1": [[0]], "vdev": [[1]]})
    assert outcome.shown()["claims"] == {"cu@GPU-1": "1-2", "vdev": "0,2"}
    cards = program.asked["inject"]["cards"]
    assert [card["claims"] for card in cards] == [{"cu": [1, 2], "vdev": [0]}, {"vdev": [2]}]


def test_a_claim_without_a_card_belongs_to_the_allocation() -> None:
    node = {key: value for key, value in CLAIM.items() if key != "card"} | {"pool": "node"}
    program = Table(claims=[node], inject=EDITS)
    run(program)
    assert program.asked["inject"]["claims"] == {"cu": [0, 1]}


def test_an_owner_that_claims_again_keeps_its_ids() -> None:
    program = Table(claims=[CLAIM], inject=EDITS)
    outcome = run(program, occupied={"cu@GPU-1": [[0]]}, prior={"cu@GPU-1": [5, 6]})
    assert outcome.shown()["claims"] == {"cu@GPU-1": "5-6"}


def test_a_claim_that_cannot_be_met_is_refused_in_the_rules_words() -> None:
    program = Table({"claims-0 exhausted": "need {need}, {free} of {size}, {holders} there"}, claims=[CLAIM])
    outcome = run(program, occupied={"cu@GPU-1": [list(range(7))]})
    assert refusal(outcome) == ("FULL", "ResourceExhausted", "need 2, 1 of 8, 1 there")
    assert outcome.claims == ()


def test_a_claim_without_words_for_what_happened_is_refused_all_the_same() -> None:
    outcome = run(Table(claims=[CLAIM]), occupied={"cu@GPU-1": [[99]]})
    assert refusal(outcome)[2] == "foreign: cu@GPU-1 needs 2, 8 of 8 are free"


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (CLAIM | {"card": "GPU-9"}, 'claims/claims-0: no card "GPU-9" in this allocation'),
        (CLAIM | {"card": None}, 'claims/claims-0: no card "" in this allocation'),
        (CLAIM | {"count": -1}, "claims/claims-0: a claim of -1 from a pool of 8"),
    ],
)
def test_a_claim_that_makes_no_sense_is_not_told(claim: dict[str, Any], why: str) -> None:
    assert refusal(run(Table(claims=[claim]))) == (COULD_NOT_TELL, "Internal", f"could not tell: {why}")


def test_one_name_claimed_twice_on_a_card_is_not_told() -> None:
    assert refusal(run(Table(claims=[CLAIM, CLAIM])))[2].endswith("claims/claims-1: `cu@GPU-1` is claimed twice")


def test_visibility_claims_nothing_and_still_prepares_and_injects() -> None:
    program = Table(claims=[CLAIM], prepare=[CALL], inject=EDITS)
    outcome = run(program, alloc("visibility", "whole"))
    assert program.order == ["guards", "prepare", "inject"]
    assert outcome.claims == ()
    assert [call.label for call in outcome.calls] == ["create@GPU-1"]


def test_calls_before_the_record_come_before_those_after_it_whatever_the_order_of_rules() -> None:
    early = CALL | {"call": "share", "phase": "beforeRecord"}
    outcome = run(Table(prepare=[CALL, early], inject=EDITS))
    assert [call.label for call in outcome.calls] == ["share@GPU-1", "create@GPU-1"]
    assert not outcome.is_rendered_before_record
    assert run(Table(prepare=[early], inject=EDITS)).is_rendered_before_record


def test_a_refused_call_undoes_what_was_done_the_last_first_and_not_itself() -> None:
    calls = [
        CALL,
        CALL | {"card": "GPU-2"},
        CALL | {"call": "probe", "undo": "none"},
        CALL | {"call": "bind", "card": None},
        CALL | {"call": "last"},
    ]
    program = Table({"prepare-4 failed": "broken: {cause}"}, prepare=calls, inject=EDITS)
    outcome = run(program, alloc(cards=(CARD, OTHER)), answers={"last": {"outcome": "failed", "cause": "EIO"}})
    assert refusal(outcome) == ("DRIVER", "FailedPrecondition", "broken: EIO")
    assert outcome.undone == ("destroy", "destroy@GPU-2", "destroy@GPU-1")
    assert outcome.shown()["calls"] == ["create@GPU-1", "create@GPU-2", "probe@GPU-1", "bind", "last@GPU-1"]
    assert "inject" not in program.order


def test_an_accepted_outcome_goes_on_and_an_unworded_one_has_a_fixed_text() -> None:
    call = CALL | {"accept": ["ok", "absent"]}
    absent = run(Table(prepare=[call], inject=EDITS), answers={"create": {"outcome": "absent"}})
    assert absent.edits == EDITS
    conflict = run(Table(prepare=[call]), answers={"create@GPU-1": {"outcome": "conflict"}})
    assert refusal(conflict)[2] == "create@GPU-1 answered conflict"


def test_a_call_for_a_card_of_somebody_else_is_not_made() -> None:
    outcome = run(Table(prepare=[CALL | {"card": "GPU-9"}]))
    assert refusal(outcome)[2] == 'could not tell: prepare/prepare-0: no card "GPU-9" in this allocation'
    assert outcome.calls == ()


@pytest.mark.parametrize("section", ["guards", "claims", "prepare", "inject"])
def test_a_stage_that_could_not_tell_refuses_and_undoes(section: str) -> None:
    early = CALL | {"phase": "beforeRecord"}
    table: dict[str, Any] = {"prepare": [early], "inject": EDITS}
    table[section] = Outcome(OutcomeKind.UNKNOWN, reason="no index", fired=("half",))
    outcome = run(Table(**table))
    assert refusal(outcome) == (COULD_NOT_TELL, "Internal", f"could not tell: {section}: no index")
    assert outcome.undone == (("destroy@GPU-1",) if section == "inject" else ())
    assert "half" in outcome.fired


def test_an_allocation_that_nothing_is_injected_for_is_refused() -> None:
    assert refusal(run(Table()))[2] == "could not tell: inject: no rule fired, and one has to"


@pytest.mark.parametrize("named", [{}, {"lib": "a", "host": "/b"}])
def test_a_mount_that_names_no_source_or_two_is_refused(named: dict[str, str]) -> None:
    outcome = run(Table(inject={"mounts": [{"host": "/a", "at": "/a"}, {"at": "/x", **named}]}))
    assert "the mount at /x needs exactly one of lib, work, host" in refusal(outcome)[2]


def test_every_stage_reports_to_the_observer() -> None:
    class Seen:
        def __init__(self) -> None:
            self.sections: list[str] = []

        def rule_fired(self, section: str, rule_id: str) -> None:
            self.sections.append(section)

        rule_silent = rule_fired

        def items(self, section: str, rule_id: str, count: int) -> None: ...
        def optional_key(self, section: str, rule_id: str, path: str, *, present: bool) -> None: ...

    seen = Seen()
    allocate(Table(inject=EDITS), "acme", alloc(), observer=seen)
    assert seen.sections == ["guards", "claims", "prepare", "inject"]


@pytest.mark.parametrize(
    ("ids", "text"), [([], ""), ([3], "3"), ([0, 1, 2, 9], "0-2,9"), ([1, 3, 4], "1,3-4"), ([0, 1], "0-1")]
)
def test_ids_are_written_as_ranges_and_read_back(ids: list[int], text: str) -> None:
    assert write_ranges(ids) == text
    assert read_ranges(text) == ids
    assert read_ranges(ids) == ids


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1,,2", "1-x"])
def test_what_is_no_range_of_ids_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no range of ids"):
        read_ranges(text)
