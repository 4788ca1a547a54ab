"""Presets: which tier a product key falls into, and the tables that must not be loaded."""

from __future__ import annotations

from typing import Any

import pytest

from engine.domain.presets import check_families, check_presets, load_presets, tier_of

TIERS = ("small", "medium", "large", "xlarge")
TABLE: dict[str, Any] = {
    "strip": ["tesla", "instinct"],
    "tiers": {
        "small": ["t4", "l4", {"prefix": "v100", "by": {"32gb": "medium"}}],
        "medium": ["a10", "a10g", {"prefix": "a100", "by": {"80gb": "large"}}, "910b4"],
        "large": ["k100"],
        "xlarge": ["mi300x", "910_9362"],
    },
}


@pytest.mark.parametrize(
    ("key", "tier"),
    [
        ("tesla-t4", "small"),
        ("t4", "small"),
        ("a10g", "medium"),
        ("a10", "medium"),
        ("a100-sxm4-80gb", "large"),
        ("a100-pcie-40gb", "medium"),
        ("a100", "medium"),
        ("v100-sxm2-32gb", "medium"),
        ("instinct-tesla-mi300x-oam", "xlarge"),
        ("910b4-1", "medium"),
        ("k100_ai", "large"),
        ("910_9362", "xlarge"),
        ("a1000", None),
        ("tesla", None),
        ("", None),
    ],
)
def test_a_key_is_matched_by_whole_leading_tokens(key: str, tier: str | None) -> None:
    assert tier_of(load_presets(TABLE), key) == tier


def test_a_sound_table_has_no_problems() -> None:
    assert check_presets("acme", TABLE, TIERS) == []
    assert check_presets("acme", {}, TIERS) == []


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"words": []}, 'unknown key "words"'),
        ({"tiers": {"huge": []}}, 'unknown tier "huge"'),
        ({"tiers": {"small": [4]}}, "neither a text nor"),
        ({"tiers": {"small": [{"prefix": "a", "when": {}}]}}, "neither a text nor"),
        ({"strip": ["-"]}, "a strip word has no letter or digit"),
        ({"strip": ["rtx", "rtx-pro"]}, 'strip word "rtx" and strip word "rtx-pro"'),
        ({"tiers": {"small": ["-"]}}, "a prefix of tier small has no letter"),
        ({"tiers": {"small": ["a10"], "large": ["a10"]}}, 'prefix "a10" and prefix "a10"'),
        ({"tiers": {"small": ["rtx-4000", "rtx"]}}, 'prefix "rtx-4000" and prefix "rtx"'),
        ({"strip": ["tesla"], "tiers": {"small": ["tesla-t4"]}}, 'begins with "tesla"'),
        ({"tiers": {"small": ["acme-t4"]}}, 'begins with "acme"'),
        ({"tiers": {"small": [{"prefix": "v100", "by": {"v100": "large"}}]}}, "already holds it"),
        ({"tiers": {"small": [{"prefix": "v100", "by": {"32-gb": "large"}}]}}, "not one token"),
        ({"tiers": {"small": [{"prefix": "v100", "by": {"32gb": "huge"}}]}}, 'unknown tier "huge" under'),
    ],
)
def test_a_table_with_a_fault_is_refused_with_its_place(table: dict[str, Any], problem: str) -> None:
    found = check_presets("acme", table, TIERS)
    assert len(found) == 1
    assert problem in found[0]


def test_two_makers_cannot_list_one_product_family() -> None:
    tables = {maker: load_presets({"tiers": {"small": ["t4"]}}) for maker in ("zeta", "acme")}
    assert check_families(tables) == ['product family "t4" is listed by acme and zeta']
    assert check_families({"acme": tables["acme"]}) == []
