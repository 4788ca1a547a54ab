"""Quantities: exact, strict about their text, and printed as the cluster prints them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from engine.errors import EvaluationError
from engine.values import quantities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("4", 4),
        ("+4", 4),
        ("-4", -4),
        ("4.", 4),
        (".5", Fraction(1, 2)),
        ("500m", Fraction(1, 2)),
        ("1500u", Fraction(3, 2000)),
        ("5n", Fraction(5, 10**9)),
        ("1600k", 1_600_000),
        ("2M", 2 * 10**6),
        ("2G", 2 * 10**9),
        ("2T", 2 * 10**12),
        ("2P", 2 * 10**15),
        ("1E", 10**18),
        ("1E3", 1000),
        ("1e3", 1000),
        ("1e-3", Fraction(1, 1000)),
        ("1Ki", 1024),
        ("16Gi", 16 << 30),
        ("1.5Gi", 3 << 29),
        ("1Ti", 1 << 40),
        ("1Pi", 1 << 50),
        ("1Ei", 1 << 60),
        ("0.1n", Fraction(1, 10**9)),
        ("-0.1n", Fraction(-1, 10**9)),
    ],
)
def test_a_quantity_is_read_exactly(text: str, value: int | Fraction) -> None:
    parsed = quantities.parse_quantity(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 4",
        "4 ",
        "1_000",
        "１２",
        "nan",
        "4K",
        "4ki",
        "4GiB",
        "1e",
        "1e31",
        "1e9999",
        "--4",
        ".",
        "0x10",
        "4\n",
        "1.2.3",
        "Gi",
    ],
)
def test_a_text_that_is_no_quantity_is_an_error_with_the_suffixes_that_exist(text: str) -> None:
    with pytest.raises(EvaluationError, match="Ki Mi Gi"):
        quantities.parse_quantity(text)


def test_cores_round_up_and_memory_rounds_down() -> None:
    assert quantities.whole_cores("3920m") == 4
    assert quantities.whole_cores("4") == 4
    assert quantities.quantity_mib("24Gi") == 24576
    assert quantities.quantity_mib("16374000Ki") == 15990


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (48, "48"),
        (1_600_000, "1600k"),
        (6_400_000, "6400k"),
        (12_800, "12800"),
        (24_576, "24576"),
        (3_000_000, "3M"),
        (-1000, "-1k"),
        ("16Gi", "16Gi"),
        ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("2000m", "2"),
        ("1e3", "1k"),
    ],
)
def test_a_quantity_prints_in_its_canonical_form(value: int | str, text: str) -> None:
    assert quantities.canonical(value) == text


@pytest.mark.parametrize(
    ("mib", "text"),
    [(0, "0"), (1, "1Mi"), (1536, "1536Mi"), (32768, "32Gi"), (24576, "24Gi"), (24563, "24563Mi"), (1 << 20, "1Ti")],
)
def test_memory_prints_with_the_largest_exact_binary_unit(mib: int, text: str) -> None:
    assert quantities.binary_quantity(mib) == text


@pytest.mark.parametrize(
    ("mib", "gib"),
    [
        (0, 0),
        (1, 1),
        (1024, 1),
        (1025, 1),
        (1535, 1),
        (1536, 2),
        (15360, 15),
        (24563, 24),
        (43693, 43),
        (44280, 43),
        (81920, 80),
        (143771, 140),
        (196608, 192),
    ],
)
def test_a_memory_label_is_the_nearest_whole_gi_and_never_zero_for_a_card_with_memory(mib: int, gib: int) -> None:
    assert quantities.gi_label(mib) == f"{gib}Gi"
    assert quantities.gi_suffix(mib) == f"{gib}g"


def test_a_negative_memory_size_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no memory size"):
        quantities.gi_label(-1)
