"""Versions: numbers compare as numbers, and what is not a number says so."""

from __future__ import annotations

import pytest

from engine.errors import EvaluationError
from engine.values.versions import version_cmp, version_part


@pytest.mark.parametrize(
    ("text", "index", "part"),
    [
        ("580.159.03", 0, 580),
        ("580.159.03", 2, 3),
        ("13.0", 1, 0),
        ("v9", 0, 9),
        ("9", 1, 0),
        ("6.2-beta", 1, 2),
    ],
)
def test_a_part_is_a_number_and_a_left_out_part_is_zero(text: str, index: int, part: int) -> None:
    assert version_part(text, index) == part


@pytest.mark.parametrize(("text", "index"), [("24.1.rc2", 2), ("", 0), ("13.0", -1), ("13..0", 1), ("１３", 0)])
def test_a_part_that_is_no_number_could_not_be_told(text: str, index: int) -> None:
    with pytest.raises(EvaluationError):
        version_part(text, index)


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("580.159.03", "580.65.06", 1),
        ("9", "9.0", 0),
        ("v9", "9", 0),
        ("24.1.rc2", "24.1", -1),
        ("24.1.rc2", "24.1.rc10", -1),
        ("24.1.RC2", "24.1.rc2", 0),
        ("24.1-rc2", "24.1.rc2", 0),
        ("24.1.a", "24.1.b", -1),
        ("10.2", "9.9", 1),
    ],
)
def test_versions_compare_part_by_part(left: str, right: str, order: int) -> None:
    assert version_cmp(left, right) == order
    assert version_cmp(right, left) == -order
