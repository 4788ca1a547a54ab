"""Canonical JSON: one text for one value, and no text for a value whose text depends on the printer."""

from __future__ import annotations

import pytest

from engine.errors import ContractError
from engine.values.canonical_json import canonical_json


def test_equal_values_have_one_text_whatever_the_order_of_their_keys() -> None:
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"é","b":[1,null,true]}'
    assert canonical_json({"a": "é", "b": (1, None, True)}) == '{"a":"é","b":[1,null,true]}'


@pytest.mark.parametrize(
    ("value", "where"),
    [({"a": [1, 0.5]}, r"\$\.a\[1\]"), ({1: "a"}, r"\$"), ({"a": {"b"}}, r"\$\.a"), (b"x", r"\$")],
)
def test_a_value_without_one_text_is_refused_with_its_place(value: object, where: str) -> None:
    with pytest.raises(ContractError, match=where):
        canonical_json(value)
