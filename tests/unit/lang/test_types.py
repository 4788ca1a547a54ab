"""Types: the notation, joining, fitting, and where a value breaks a type."""

import pytest

from engine.errors import ContractError
from engine.lang.notation import parse_shape, parse_type
from engine.lang.types import (
    ANY,
    BOOL,
    INT,
    MISSING,
    NULL,
    STR,
    Kind,
    Member,
    Type,
    fits,
    join,
    list_of,
    map_of,
    object_of,
    type_of,
    violations,
)


@pytest.mark.parametrize(
    "notation",
    [
        "str",
        "int",
        "bool",
        "any",
        "null",
        "str?",
        "int[]",
        "map<str[]>",
        "{a: int, b?: str}",
        "'x'|'y'",
        "{a: {b?: int[]}[]}",
        "'x'?",
    ],
)
def test_a_type_prints_as_it_is_written(notation):
    assert str(parse_type(notation)) == notation


def test_defaults_stand_in_the_notation():
    made = parse_type(
        "{a: int = 0, b: 'x'|'y' = 'x', c: str[] = [\"ok\", \"so\"], d: bool = false, e: map<str> = {}, f: int}"
    )
    defaults = {name: member.default for name, member in made.members}
    assert defaults == {"a": 0, "b": "x", "c": ["ok", "so"], "d": False, "e": {}, "f": MISSING}


def test_a_name_stands_for_what_a_pack_decides_and_for_anything_when_it_decides_nothing():
    assert parse_type("@slots", {"slots": INT}) is INT
    assert parse_type("{x: @slots}").member("x").type is ANY


def test_a_shape_may_have_alternatives():
    first, second = parse_shape("{a: str} or {b: str}")
    assert (first.names, second.names) == (("a",), ("b",))


@pytest.mark.parametrize("notation", ["", "strr", "{a int}", "str]", "map<str", "{a: str", "str str", "a;b", "[]"])
def test_a_slip_in_a_declaration_is_a_broken_contract(notation):
    with pytest.raises(ContractError):
        parse_type(notation)


AB = parse_type("'a'|'b'")


@pytest.mark.parametrize(
    ("left", "right", "made"),
    [
        (STR, STR, "str"),
        (NULL, STR, "str?"),
        (INT, NULL, "int?"),
        (STR, INT, None),
        (ANY, INT, "any"),
        (AB, parse_type("'c'"), "'a'|'b'|'c'"),
        (AB, STR, "str"),
        (list_of(INT), list_of(NULL), "int?[]"),
        (list_of(INT), list_of(STR), None),
        (map_of(INT), parse_type("{a: int, b?: int}"), "map<int?>"),
        (parse_type("{a: int}"), map_of(STR), None),
        (parse_type("{a: int}"), parse_type("{b: str}"), "{a?: int, b?: str}"),
        (parse_type("{a: int}"), parse_type("{a: str}"), None),
        (parse_type("{a: int, b: str}"), parse_type("{a?: int, b: str}"), "{a?: int, b: str}"),
        (BOOL, BOOL.or_null(), "bool?"),
    ],
)
def test_the_least_type_that_both_fit(left, right, made):
    joined = join(left, right)
    assert (None if joined is None else str(joined)) == made


@pytest.mark.parametrize(
    ("value", "wanted", "answer"),
    [
        (STR, STR, True),
        (STR, INT, False),
        (STR.or_null(), STR, False),
        (STR, STR.or_null(), True),
        (NULL, STR, False),
        (NULL, STR.or_null(), True),
        (NULL, NULL, True),
        (ANY, INT, True),
        (INT, ANY, True),
        (AB, STR, True),
        (STR, AB, True),
        (parse_type("'c'"), AB, False),
        (parse_type("'a'"), AB, True),
        (list_of(INT), list_of(INT), True),
        (list_of(STR), list_of(INT), False),
        (INT, list_of(INT), False),
        (parse_type("{a: int}"), map_of(INT), True),
        (parse_type("{a: str}"), map_of(INT), False),
        (map_of(INT), map_of(INT), True),
        (INT, map_of(INT), False),
        (parse_type("{a: int}"), parse_type("{a: int, b?: str}"), True),
        (parse_type("{a: int, c: int}"), parse_type("{a: int}"), False),
        (parse_type("{}"), parse_type("{a: int}"), False),
        (parse_type("{}"), parse_type("{a: int = 1}"), True),
        (parse_type("{a: str}"), parse_type("{a: int}"), False),
        (STR, parse_type("{a: int}"), False),
    ],
)
def test_whether_a_value_may_stand_where_a_type_is_wanted(value, wanted, answer):
    assert fits(value, wanted) is answer


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (None, "null"),
        (True, "bool"),
        (1, "int"),
        ("x", "str"),
        ([], "any[]"),
        ([1, None], "int?[]"),
        ([1, "x"], "any[]"),
        ({"a": 1, "b": [{"c": "x"}, {"d": "x"}]}, "{a: int, b: {c?: str, d?: str}[]}"),
    ],
)
def test_the_type_of_a_constant(value, made):
    assert str(type_of(value)) == made


def test_there_is_no_type_for_a_float():
    with pytest.raises(ContractError, match="float"):
        type_of(1.5)


@pytest.mark.parametrize(
    ("value", "wanted", "where"),
    [
        ({"a": 1}, "{a: int}", []),
        ({"a": "1"}, "{a: int}", ["a"]),
        ({"a": True}, "{a: int}", ["a"]),
        ({"a": None}, "{a: int}", ["a"]),
        ({"a": None}, "{a?: int}", []),
        ({"b": 1}, "{a?: int}", ["b"]),
        ({"a": {"b": [1, "x"]}}, "{a: {b: int[]}}", ["a.b[1]"]),
        ({"m": {"k": 1}}, "{m: map<str>}", ["m.k"]),
        ({"k": 1}, "map<str>", ["k"]),
        ("c", "'a'|'b'", ["the value"]),
        ("a", "'a'|'b'", []),
        (1, "bool", ["the value"]),
        (True, "bool", []),
        ([1], "{a: int}", ["the value"]),
        ({}, "int[]", ["the value"]),
        ([1], "map<int>", ["the value"]),
        ({"x": [1, {"y": None}]}, "any", []),
        (1, "str", ["the value"]),
        (None, "any", []),
    ],
)
def test_where_a_value_breaks_a_type(value, wanted, where):
    assert [path for path, _ in violations(value, parse_type(wanted))] == where


def test_members_are_found_by_name_and_a_nullable_type_makes_one_optional():
    made = object_of({"a": INT, "b": STR.or_null(), "c": Member(STR, optional=True)})
    assert made.member("a") == Member(INT)
    assert made.member("b").optional
    assert made.member("z") is None
    assert made.names == ("a", "b", "c")
    assert NULL.or_null() is NULL
    assert Type(Kind.STR, nullable=True).required() == STR
