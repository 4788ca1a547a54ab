"""Version ranges: what they cover, and what is none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from engine import VERSION
from engine.errors import InputError
from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.lang.version_range import parse_range, parse_version
from engine.sections.catalog import CATALOGUE


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        (">=1.4 <2", ["1.4.0", "1.9.9", "1.10.0", "2.0.0-rc.1"], ["1.3.9", "2.0.0", "1.4.0-rc.1"]),
        ("1.4", ["1.4.0", "1.4.0+build"], ["1.4.1", "1.3.0"]),
        ("=1", ["1.0.0"], ["1.0.1"]),
        (">1 <=1.2.3", ["1.0.1", "1.2.3"], ["1.0.0", "1.2.4"]),
        (">=1.0.0-alpha.2", ["1.0.0-alpha.10", "1.0.0-beta", "1.0.0"], ["1.0.0-alpha.1", "1.0.0-alpha"]),
    ],
)
def test_a_range_covers_the_versions_all_its_comparisons_hold_for(
    written: str, inside: list[str], outside: list[str]
) -> None:
    made = parse_range(written)
    assert [version for version in inside if not made.covers(version)] == []
    assert [version for version in outside if made.covers(version)] == []


@pytest.mark.parametrize("written", ["", "  ", "newest", "~1.4", ">=", ">= 1", "1.x", "=>1", "1.2.3.4"])
def test_what_is_no_range_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        parse_range(written)


def test_a_number_in_a_pre_release_comes_before_a_word() -> None:
    order = ["1.0.0-1", "1.0.0-2", "1.0.0-11", "1.0.0-a", "1.0.0-a.1", "1.0.0"]
    shuffled = [order[at] for at in (3, 5, 0, 2, 4, 1)]
    assert sorted(shuffled, key=parse_version) == order


def test_the_version_that_packs_are_held_against_is_the_one_that_is_installed() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == VERSION


def test_a_pack_links_with_the_engine_it_needs_and_with_no_other() -> None:
    text = (
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Derivation\nmetadata: {name: one, version: 1.0.0}\n"
        'spec:\n  requires: {engine: ">=1.4 <2"}\n'
    )
    files = [PackFiles("one.yaml", (Source("one.yaml", text.encode()),))]
    codes = {
        version: [found.code for found in link(files, CATALOGUE, engine_version=version).diagnostics]
        for version in ("1.3.9", "1.4.0", "1.9.0", "2.0.0")
    }
    assert codes == {"1.3.9": ["RP614"], "1.4.0": [], "1.9.0": [], "2.0.0": ["RP614"]}


def test_what_a_pack_of_the_context_needs_is_not_reported() -> None:
    other = (
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Derivation\nmetadata: {name: one, version: 1.0.0}\n"
        'spec:\n  requires: {engine: ">=900"}\n'
    )
    files = [PackFiles("one.yaml", (Source("one.yaml", other.encode()),))]
    assert list(link([], CATALOGUE, context=files).diagnostics) == []
