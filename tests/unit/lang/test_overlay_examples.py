"""The example overlays fit the shipped packs, do what their comments say, and change nothing by lying there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.domain.presets import load_presets, tier_of
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.source import Source
from engine.rulefiles import find_packs
from engine.sections.catalog import CATALOGUE

RULES = Path(__file__).parents[3] / "rules"
EXAMPLES = RULES / "overlays" / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
MAKER = "nvidia"
# The makers' packs are many; two of them and the derivations are what the examples change.
SHIPPED = ("derive", "library", f"manufacturers/{MAKER}", "manufacturers/ascend")


@cache
def shipped() -> tuple[PackFiles, ...]:
    return tuple(find_packs([RULES / part for part in SHIPPED], Diagnostics()))


@cache
def example(name: str) -> PackFiles:
    path = EXAMPLES / f"{name}.yaml"
    return PackFiles(str(path), (Source(str(path), path.read_bytes()),))


@cache
def linked(*names: str) -> Linked:
    return link(shipped(), CATALOGUE, overlays=[example(name) for name in names])


def program(*names: str) -> Program:
    result = linked(*names)
    assert result.program is not None, [str(one) for one in result.diagnostics]
    return result.program


def features(of: Program) -> Any:
    card = {"card": {"partitioning": "unsupported", "memoryMib": 24576}, "model": {"product": "NVIDIA A10"}}
    node = {"runtime": {"major": 12}, "node": {"arch": "amd64"}, "driver": {"capabilities": []}}
    return of.evaluate("features", {**card, **node}, MAKER).value


def model(of: Program, name: str) -> Any:
    inputs = {"card": {"name": name, "slots": {}, "extras": {}}, "host": {"arch": "amd64"}}
    return of.evaluate("model", inputs, MAKER).value


def worker_labels(of: Program, *, accelerated: bool) -> Any:
    node = {"node": {"cores": 8, "accelerated": accelerated, "managed": "true"}}
    cpu = {"cpu": {"manufacturer": "acme", "key": "acme-1"}}
    settings = {"settings": {"instanceTypeMixedOnNode": True}}
    return of.evaluate("worker-labels", {**node, **cpu, **settings}).value


@pytest.mark.parametrize("name", NAMES)
def test_an_example_fits_the_shipped_packs_and_says_so_without_a_warning(name: str) -> None:
    result = linked(name)
    assert [str(one) for one in result.diagnostics] == [str(one) for one in linked().diagnostics]
    assert program(name).digest != program().digest


@pytest.mark.parametrize("name", NAMES)
def test_an_example_begins_with_what_it_is_for(name: str) -> None:
    assert (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8").startswith("# ")


def test_all_examples_together_do_not_conflict() -> None:
    assert program(*NAMES).digest != program().digest


def test_the_shipped_packs_are_the_same_whether_the_examples_lie_beside_them_or_not() -> None:
    together = link([*shipped(), *(example(name) for name in NAMES)], CATALOGUE)
    assert together.program is not None
    assert together.program.digest == program().digest


def test_slices_per_card_lowers_what_a_card_can_host() -> None:
    assert (features(program())["logicalSlices"], features(program("slices-per-card"))["logicalSlices"]) == (128, 8)


def test_memory_reserve_keeps_memory_from_slices() -> None:
    assert (features(program())["reserveMib"], features(program("memory-reserve"))["reserveMib"]) == (0, 512)


def test_product_preset_adds_a_product_and_keeps_those_of_its_tier() -> None:
    before, after = (made.block("presets", MAKER)["tiers"] for made in (program(), program("product-preset")))
    assert after == {**before, "large": [*before["large"], "rtx-5880"]}
    assert [tier_of(load_presets({"tiers": tiers}), "rtx-5880-ada") for tiers in (before, after)] == [None, "large"]


def test_node_label_marks_accelerated_nodes_and_owns_the_label() -> None:
    made = program("node-label")
    with_cards, without = (worker_labels(made, accelerated=flag) for flag in (True, False))
    assert with_cards == {**without, "site.example/hall": "accelerators"}
    compiled = made.section("worker-labels")
    assert compiled is not None
    assert "site.example/hall" in compiled.owns


def test_exclude_display_card_leaves_out_screens_and_no_card_of_a_similar_name() -> None:
    made = program("exclude-display-card")
    assert model(made, "NVIDIA T400 4GB") == {"exclude": "it drives a screen here"}
    assert model(made, "Tesla T4")["product"] == "Tesla T4"
    assert model(program(), "NVIDIA T400 4GB")["product"] == "NVIDIA T400 4GB"


def test_whole_910c_makes_one_grant_of_two_dies_and_changes_no_other_chip() -> None:
    def unit(of: Program, family: str) -> Any:
        card = {"card": {"partitioning": "unsupported"}, "model": {"product": "x", "family": family}}
        node = {"runtime": {"major": 8}, "node": {"arch": "arm64"}, "driver": {"capabilities": []}}
        return of.evaluate("features", {**card, **node}, "ascend").value["grantUnit"]

    before, after = program(), program("whole-910c")
    assert [unit(before, "910C"), unit(after, "910C"), unit(after, "910B")] == [1, 2, 1]
