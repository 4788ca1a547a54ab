"""JMESPath's own functions, with the types the profile gives them.

How they work is `jmespath_builtins`'; here they become functions packs may call, or are told not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.lang.functions.function import Function, Typing, function
from engine.lang.functions.jmespath_builtins import BUILTINS
from engine.lang.types import ANY, BOOL, Kind, Member, Type


def _merged(arguments: Sequence[Type]) -> Type | str:
    """`merge`: fields of a later object win; one that may be missing there may be either."""
    members: dict[str, Member] = {}
    for argument in arguments:
        if argument.kind is not Kind.OBJECT:
            return Type(Kind.MAP, element=ANY)
        members.update(argument.members)
    return Type(Kind.OBJECT, members=tuple(members.items()))


def _contained(arguments: Sequence[Type]) -> Type | str:
    """`contains`: only a text is part of a text."""
    subject, search = arguments
    if subject.kind is Kind.STR and search != ANY and (search.kind is not Kind.STR or search.nullable):
        return f"contains() looks for a text in a text, and this is {search}"
    return BOOL


def _own(
    signature: str,
    *,
    help: str,  # noqa: A002 - the field's name
    example: tuple[str, Any],
    cost: int = 1,
    cost_per_item: int = 0,
    typing: Typing | None = None,
    instead: str = "",
) -> Function:
    name = signature.partition("(")[0]
    return function(
        "jmespath",
        signature,
        BUILTINS[name].implementation,
        help=help,
        example=example,
        cost=cost,
        cost_per_item=cost_per_item,
        typing=typing,
        in_profile=not instead,
        instead=instead,
        guard=not instead,
    )


GROUP = (
    _own("abs(value: int) -> int", help="The value without its sign.", example=("abs(`-3`)", 3)),
    _own(
        "contains(subject: T[] | str, search: T) -> bool",
        help="Whether a list has an element, or a text a part.",
        example=("contains(['a', 'b'], 'b')", True),
        cost=2,
        cost_per_item=1,
        typing=_contained,
    ),
    _own(
        "ends_with(text: str, suffix: str) -> bool",
        help="Whether a text ends with another.",
        example=("ends_with(card.name, 'One')", True),
    ),
    _own("keys(value: object) -> str[]", help="The keys of an object.", example=("keys({a: `1`})", ["a"]), cost=2),
    _own(
        "length(value: list | object | str) -> int",
        help="How many elements, keys or characters.",
        example=("length(card.name)", 8),
    ),
    _own(
        "map(each: &T -> U, items: T[]) -> U[]",
        help="What an expression gives for each element, nulls kept.",
        example=("map(&name, [{name: 'a'}, {other: 'b'}])", ["a", None]),
        cost=2,
        cost_per_item=1,
    ),
    _own(
        "max(items: K[]) -> K?",
        help="The greatest element; null for the empty list. `most` takes arguments.",
        example=("max([`1`, `3`, `2`])", 3),
        cost_per_item=1,
    ),
    _own(
        "max_by(items: T[], key: &T -> K) -> T?",
        help="The element with the greatest key.",
        example=("max_by([{n: `1`}, {n: `2`}], &n)", {"n": 2}),
        cost=2,
        cost_per_item=1,
    ),
    _own(
        "merge(...objects: object) -> object",
        help="The fields of all objects, a later one's value winning.",
        example=("merge({a: `1`, b: `1`}, {b: `2`})", {"a": 1, "b": 2}),
        cost=3,
        typing=_merged,
    ),
    _own(
        "min(items: K[]) -> K?",
        help="The smallest element; null for the empty list. `least` takes arguments.",
        example=("min([`3`, `1`, `2`])", 1),
        cost_per_item=1,
    ),
    _own(
        "min_by(items: T[], key: &T -> K) -> T?",
        help="The element with the smallest key.",
        example=("min_by([{n: `1`}, {n: `2`}], &n)", {"n": 1}),
        cost=2,
        cost_per_item=1,
    ),
    _own(
        "not_null(...values: T?) -> T?",
        help="The first argument that is not null; `default` says the same of two and is lazy.",
        example=("not_null(card.family, card.name)", "Acme One"),
    ),
    _own(
        "reverse(value: T[]) -> T[]",
        help="The elements in the opposite order.",
        example=("reverse([`1`, `2`])", [2, 1]),
        cost_per_item=1,
    ),
    _own(
        "sort(items: K[]) -> K[]",
        help="The elements in ascending order.",
        example=("sort(['b', 'a'])", ["a", "b"]),
        cost=2,
        cost_per_item=2,
    ),
    _own(
        "sort_by(items: T[], key: &T -> K) -> T[]",
        help="The elements in ascending order of a key; equals stay in their order.",
        example=("sort_by([{n: `2`}, {n: `1`}], &n)", [{"n": 1}, {"n": 2}]),
        cost=2,
        cost_per_item=2,
    ),
    _own(
        "starts_with(text: str, prefix: str) -> bool",
        help="Whether a text begins with another.",
        example=("starts_with(card.name, 'Acme')", True),
    ),
    _own("sum(items: int[]) -> int", help="The sum of a list.", example=("sum([`1`, `2`])", 3), cost_per_item=1),
    _own(
        "to_string(value: str | int | bool) -> str",
        help="A text as it is, an integer as its decimal, a boolean as true or false; json() writes objects.",
        example=("to_string(card.cores)", "96"),
    ),
    _own("type(value: any) -> str", help="The name of the value's type.", example=("type(card.name)", "string")),
    _own(
        "values(value: map<T>) -> T[]",
        help="The values of an object.",
        example=("values({a: `1`})", [1]),
        cost=2,
    ),
    _own(
        "avg(items: int[]) -> any",
        help="The average; not for packs.",
        example=("avg([`1`, `3`])", 2),
        instead="it makes floats; use floor_div() or round_half_up_div() of sum() and length()",
    ),
    _own(
        "ceil(value: int) -> int",
        help="The next integer; not for packs.",
        example=("ceil(`3`)", 3),
        instead="there are no floats to round; use ceil_div()",
    ),
    _own(
        "floor(value: int) -> int",
        help="The integer before; not for packs.",
        example=("floor(`3`)", 3),
        instead="there are no floats to round; use floor_div()",
    ),
    _own(
        "to_array(value: any) -> any",
        help="A list as it is, anything else as a list of one; not for packs.",
        example=("to_array(`1`)", [1]),
        instead="a value's type is known; write [x]",
    ),
    _own(
        "to_number(value: any) -> any",
        help="The number a text stands for; not for packs.",
        example=("to_number('12')", 12),
        instead="it takes what is no number; use parse_quantity() or version_part()",
    ),
)
