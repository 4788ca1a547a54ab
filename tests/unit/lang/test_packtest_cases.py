"""Tests of packs spread out into single cases."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InputError
from engine.lang.packtest_cases import Case, expand, merged
from engine.lang.types import MISSING

BASES: dict[str, Any] = {
    "card": {"alloc": {"cards": [{"uuid": "A"}], "slice": {"percent": 1}}},
    "half": {"alloc": {"slice": {"percent": 50, "whole": False}}},
}


def cases(**test: Any) -> list[Case]:
    return list(expand({"name": "t", "section": "s", **test}, BASES))


def test_maps_merge_at_every_depth_and_lists_replace() -> None:
    under = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    assert merged(under, {"a": {"c": [3]}, "d": None}) == {"a": {"b": 1, "c": [3]}, "d": None}


def test_a_test_lies_on_its_bases_in_their_order() -> None:
    (case,) = cases(**{"from": ["card", "half"]}, given={"alloc": {"slice": {"whole": True}}}, expect={})
    assert case.given == {"alloc": {"cards": [{"uuid": "A"}], "slice": {"percent": 50, "whole": True}}}
    assert cases(**{"from": "half"}, expect={})[0].given == BASES["half"]


def test_a_case_lies_on_its_test_and_may_add_a_base() -> None:
    made = cases(
        **{"from": "card"},
        expect={"a": 1},
        fires=["r"],
        cases=[{}, {"name": "own", "from": "half", "given": {"x": 1}, "expect": {"a": 2}, "place": "f:9"}],
        place="f:1",
    )
    assert [case.name for case in made] == ["t [1]", "t [own]"]
    assert [case.expect for case in made] == [{"a": 1}, {"a": 2}]
    assert made[1].given["alloc"]["slice"]["percent"] == 50
    assert made[1].given["x"] == 1
    assert made[1].fires == ("r",)
    assert [case.place for case in made] == ["f:1", "f:9"]


def test_a_prefix_stands_before_every_refusal_of_the_cases() -> None:
    made = cases(prefix="cannot: ", cases=[{"refuses": "a"}, {"expect": {}}])
    assert [case.refuses for case in made] == ["cannot: a", None]


def test_what_is_left_out_is_told_from_what_is_null() -> None:
    (silent,) = cases(silent=["r"])
    assert silent.expect is MISSING
    assert cases(expect=None)[0].expect is None


@pytest.mark.parametrize(("written", "read"), [(True, ""), ("no index", "no index"), (False, None), (None, None)])
def test_could_not_tell_is_expected_for_any_reason_or_for_one(written: Any, read: str | None) -> None:
    assert cases(unknown=written, fires=["r"])[0].unknown == read


@pytest.mark.parametrize("nothing", [{"given": {"a": 1}}, {"partial": True}, {"cases": [{"given": {}}]}])
def test_a_test_that_expects_nothing_is_refused(nothing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expects nothing"):
        cases(**nothing)


def test_a_test_with_an_empty_list_of_cases_is_refused() -> None:
    with pytest.raises(InputError, match="has no case"):
        cases(cases=[], expect={})


def test_a_base_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(InputError, match="known: card, half"):
        cases(**{"from": "crad"}, expect={})


def test_a_base_is_asked_for_as_the_section_knows_it() -> None:
    def fit(section: str, name: str, base: Any) -> Any:
        return {"asked": f"{section}/{name}", "size": len(base)}

    test = {"name": "t", "section": "s", "from": "card", "given": {"x": 1}, "expect": {}}
    (case,) = expand(test, BASES, fit)
    assert case.given == {"asked": "s/card", "size": 1, "x": 1}
