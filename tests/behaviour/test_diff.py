"""`engine diff`: what a change would rename, relabel, re-quota and inject, and when the exit code is 1."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.behaviour.running import WALKTHROUGH, run

MACHINES = ("--machines", WALKTHROUGH)


def changed(folder: Path, old: str, new: str, maker: str = "nvidia") -> str:
    """A copy of a maker's pack with one text changed."""
    home = folder / maker
    shutil.copytree(Path("rules/manufacturers") / maker, home)
    pack = home / "pack.yaml"
    text = pack.read_text(encoding="utf-8")
    assert old in text
    pack.write_text(text.replace(old, new), encoding="utf-8")
    return str(home)


def difference(*args: str) -> tuple[int, dict[str, Any]]:
    result = run("diff", *args, "-o", "json")
    return result.exit_code, json.loads(result.stdout)


def test_the_same_packs_differ_in_nothing() -> None:
    result = run("diff", "rules", "rules", *MACHINES)
    assert (result.exit_code, result.stdout) == (0, "no difference over 4 machines\n")


def test_a_changed_product_name_renames_and_exits_1(tmp_path: Path) -> None:
    pack = changed(tmp_path, "product: $(card.name)", "product: $(card.name) B")
    code, found = difference(pack, *MACHINES)
    assert code == 1
    renamed = {(each["kind"], each["old"]): each for each in found["renamed"]}
    assert renamed["AcceleratorKey", "nvidia-a10g"]["new"] == ["nvidia-a10g-b"]
    flavor = renamed["ResourceFlavor", "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64-1d"]
    assert flavor["new"] == ["gpustack--amd-epyc-7r32--nvidia-a10g-b-linux-amd64-1d"]
    assert flavor["nodes"] == ["node-a10g"]
    assert renamed["InstanceType", "gpustack--nvidia-tesla-t4-linux-amd64"]["nodes"] == ["node-t4-a", "node-t4-b"]
    assert found["gone"] == found["new"] == found["quotas"] == found["capacity"] == []
    # The renaming is told once: of the labels only what they say differs, not how their keys are called.
    assert {each["key"].rpartition(".")[2] for each in found["labels"]} == {"product"}
    text = run("diff", pack, *MACHINES).stdout
    assert "Renamed:\n  AcceleratorKey nvidia-a10g -> nvidia-a10g-b (on node-a10g)\n" in text


def test_a_changed_resource_name_is_a_renaming(tmp_path: Path) -> None:
    code, found = difference(changed(tmp_path, "resource: nvidia.com/gpu", "resource: site.example/gpu"), *MACHINES)
    assert code == 1
    names = {each["old"]: each["new"] for each in found["renamed"] if each["kind"] == "Resource"}
    assert names["nvidia.com/gpu"] == ["site.example/gpu"]
    assert found["capacity"] == []


def test_an_overlay_that_changes_amounts_only_exits_0() -> None:
    code, found = difference("--overlay", "rules/overlays/examples/slices-per-card.yaml", *MACHINES)
    assert code == 0
    assert found["renamed"] == []
    amounts = {(each["key"], tuple(each["nodes"])): (each["old"], each["new"]) for each in found["capacity"]}
    assert amounts["nvidia.com/gpu.sliced", ("node-t4-b",)] == ("512", "32")


def test_an_injection_that_changes_is_told_by_mode(tmp_path: Path) -> None:
    code, found = difference(changed(tmp_path, "CUDA_DEVICE_ORDER", "CUDA_ORDER"), *MACHINES)
    assert code == 0
    told = {(each["mode"], each["path"], each["old"], each["new"]) for each in found["injections"]}
    assert told == {
        ("sliced", "envIfUnset.CUDA_DEVICE_ORDER", "PCI_BUS_ID", None),
        ("sliced", "envIfUnset.CUDA_ORDER", None, "PCI_BUS_ID"),
    }


def test_a_setting_that_tells_types_apart_renames_types_and_no_flavor() -> None:
    code, found = difference("--set", "instance-type-aware-cpu-manufacturer=true", *MACHINES)
    assert code == 1
    assert {each["kind"] for each in found["renamed"]} == {"InstanceType", "LocalQueue"}
    generic = next(each for each in found["renamed"] if each["old"] == "gpustack--generic-linux-amd64")
    assert len(generic["new"]) == 3


def test_other_unit_resources_show_in_the_type(tmp_path: Path) -> None:
    pack = tmp_path / "preset.yaml"
    pack.write_text(
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Overlay\nmetadata: {name: units, version: '1.0.0'}\n"
        "spec:\n  target: {kind: Manufacturer, pack: nvidia}\n  set:\n    presets.tiers.medium: []\n    presets.tiers.large: [a10]\n",
        encoding="utf-8",
    )
    code, found = difference("--overlay", str(pack), *MACHINES)
    assert code == 0
    assert any(each["path"] == "spec.unitResources.cpu" for each in found["types"])


def test_cards_that_are_left_out_are_gone_and_no_renaming(tmp_path: Path) -> None:
    overlay = tmp_path / "out.yaml"
    overlay.write_text(
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Overlay\nmetadata: {name: out, version: '1.0.0'}\n"
        "spec:\n  target: {kind: Manufacturer, pack: nvidia}\n  add:\n    - section: model\n      before: model-card\n"
        "      rule: {id: out-all, when: has(card.name), emit: {exclude: not ours}}\n",
        encoding="utf-8",
    )
    code, found = difference("--overlay", str(overlay), *MACHINES)
    assert code == 0
    assert {"kind": "InstanceType", "name": "gpustack--nvidia-a10g-linux-amd64"} in found["gone"]
    assert any(each["reason"] == "CardExcluded" and each["is_new"] for each in found["conditions"])


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ((), 2, "nothing is changed"),
        (("a", "b", "c"), 2, "too many"),
        (("nowhere",), 2, "nowhere is not there"),
        (("--set", "x"), 2, "write --set KEY=VALUE"),
    ],
)
def test_bad_usage_says_what_to_do(args: tuple[str, ...], code: int, words: str) -> None:
    result = run("diff", *args, *MACHINES)
    assert result.exit_code == code
    assert words in result.stderr
