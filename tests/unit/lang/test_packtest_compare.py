"""Where an expectation and a result differ."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.notation import parse_shape
from engine.lang.packtest_compare import (
    Difference,
    differences,
    has_path,
    projected,
    shown,
    with_defaults,
)
from engine.lang.types import MISSING


def found(expected: Any, got: Any, *, partial: bool = False) -> list[str]:
    return [str(one) for one in differences(expected, got, partial=partial)]


def test_equal_values_do_not_differ() -> None:
    value = {"a": [1, "x", {"b": None, "c": True}]}
    assert found(value, {"a": (1, "x", {"c": True, "b": None})}) == []


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        ({"a": 1}, {"a": True}, "a: expected 1, got true"),
        ({"a": False}, {"a": 0}, "a: expected false, got 0"),
        ({"a": None}, {}, "a: expected null, got nothing"),
        ({}, {"a": {"b": 1}}, 'a: expected nothing, got {"b": 1}'),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b: expected 1, got 2"),
        ([1, 2], [1], "[1]: expected 2, got nothing"),
        ([1], [1, 2], "[1]: expected nothing, got 2"),
        ({"a": 1}, None, 'the value: expected {"a": 1}, got null'),
        ({"a": [1]}, {"a": "1"}, 'a: expected [1], got "1"'),
    ],
)
def test_a_difference_names_the_path_and_both_values(expected: Any, got: Any, said: str) -> None:
    assert found(expected, got) == [said]


def test_a_partial_expectation_lets_objects_have_more_and_lists_not() -> None:
    got = {"a": {"b": 1, "c": 2}, "d": [{"x": 1, "y": 2}], "e": 3}
    assert found({"a": {"b": 1}, "d": [{"x": 1}]}, got, partial=True) == []
    assert found({"d": []}, got, partial=True) == ['d[0]: expected nothing, got {"x": 1, "y": 2}']


def test_a_long_value_is_cut_in_messages() -> None:
    assert len(shown("x" * 1000)) == 400
    assert shown(MISSING) == "nothing"


def test_projection_keeps_only_the_keys_asked_for() -> None:
    assert projected([{"a": 1, "b": 2}, {"b": 3}, 7], ["a"]) == [{"a": 1}, {}, 7]


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("a", True),
        ("a.b", True),
        ("labels.x.io/key.count", True),
        ("labels.x.io/key", False),
        ("list.k", True),
        ("list.z", False),
        ("a.b.c", False),
        ("a.", False),
        ("q", False),
    ],
)
def test_a_path_is_found_through_keys_with_dots_and_through_lists(path: str, there: bool) -> None:
    value = {"a": {"b": 1}, "labels": {"x.io/key.count": "1"}, "list": [{}, {"k": 1}]}
    assert has_path(value, path) is there


def test_defaults_of_the_shape_may_be_left_out_at_every_depth() -> None:
    shape = parse_shape("{n: int = 3, s: str, nodes?: {path: str, rw: bool = true}[], m?: map<{x: int = 1}>}")
    assert with_defaults({"s": "a", "nodes": [{"path": "/p"}, {"path": "/q", "rw": False}], "m": {"k": {}}}, shape) == {
        "s": "a",
        "nodes": [{"path": "/p", "rw": True}, {"path": "/q", "rw": False}],
        "m": {"k": {"x": 1}},
        "n": 3,
    }


def test_defaults_are_those_of_the_alternative_that_has_the_keys() -> None:
    shapes = parse_shape("{a: int, d: int = 1} or {b: int, e: int = 2}")
    assert with_defaults({"b": 1}, shapes) == {"b": 1, "e": 2}
    assert with_defaults({"a": 1, "b": 1}, shapes) == {"a": 1, "b": 1}
    assert with_defaults({"zz": 1}, shapes[:1]) == {"zz": 1, "d": 1}
    assert with_defaults("text", shapes) == "text"
    assert with_defaults({"k": 1}, parse_shape("map<int>")) == {"k": 1}
    assert with_defaults("text", parse_shape("int[]")) == "text"


def test_a_difference_keeps_the_values_themselves() -> None:
    assert list(differences(1, 2)) == [Difference("", 1, 2)]
