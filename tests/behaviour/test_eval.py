"""`engine eval`: one section, one input, one answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.behaviour.packs import GOOD, write
from tests.behaviour.running import run

POOL = {"flavor": {"os": "linux", "arch": "amd64"}, "cpu": {"key": "amd-epyc-7r32"}}


def test_an_answer_comes_with_the_rules_that_fired() -> None:
    result = run("eval", "pool", "--input", "-", "-o", "json", stdin=json.dumps(POOL))
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["outcome"] == "value"
    assert made["value"]["name"] == "gpustack--generic-linux-amd64"
    assert made["fired"]
    assert "reads" not in made


def test_explaining_adds_places_and_what_was_read() -> None:
    made = json.loads(run("eval", "pool", "--input", "-", "--explain", "-o", "json", stdin=json.dumps(POOL)).stdout)
    assert all(each["at"].startswith("rules/derive/pool/pack.yaml:") for each in made["fired"])
    assert made["reads"]["cpu.key"] == "amd-epyc-7r32"
    assert made["reads"]["settings.instanceTypeAwareCpuManufacturer"] is False
    assert len(made["program"]) == 64


def test_a_setting_of_the_input_counts() -> None:
    aware = {**POOL, "settings": {"instanceTypeAwareCpuManufacturer": True}}
    made = json.loads(run("eval", "pool", "--input", "-", "-o", "json", stdin=json.dumps(aware)).stdout)
    assert made["value"]["name"] == "gpustack--amd-epyc-7r32-linux-amd64"


def test_yaml_is_read_and_written(tmp_path: Path) -> None:
    file = tmp_path / "input.yaml"
    file.write_text("node: {levels: []}\n", encoding="utf-8")
    assert "  - kubernetes.io/hostname\n" in run("eval", "topology", "--input", str(file)).stdout


def test_could_not_tell_is_1_with_the_reason() -> None:
    result = run("eval", "cpu", "--input", "-", "-o", "json", stdin='{"cpu": {"vendorId": "AMD"}}')
    made = json.loads(result.stdout)
    assert result.exit_code == (1 if made["outcome"] == "unknown" else 0)
    broken = run("eval", "pool", "--input", "-", "-o", "json", stdin="{}")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["reason"]


def test_a_makers_section_is_evaluated_with_its_pack(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    args = ("eval", "model", "--maker", "acme", "--rules", str(tmp_path), "--input", "-", "-o", "json")
    assert json.loads(run(*args, stdin='{"card": {"name": "Acme One"}}').stdout)["value"] == {"product": "Acme One"}
    assert json.loads(run(*args, stdin='{"card": {}}').stdout)["outcome"] == "nothing"


def test_an_allocation_runs_as_one_story() -> None:
    card = {"uuid": "GPU-0", "memoryMib": 1024, "slots": {"minor": 0}}
    alloc = json.dumps({"alloc": {"mode": "exclusive", "cards": [card]}})
    result = run("eval", "allocation", "--maker", "nvidia", "--input", "-", "-o", "json", stdin=alloc)
    assert result.exit_code == 0, result.output
    assert "GPU-0" in json.dumps(json.loads(result.stdout)["value"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"flavor": {"os": 3}}', "flavor.os: expected str, got 3"),
        ('{"flavour": {}}', "flavour: unknown field"),
        ("[1]", "holds no object"),
        ('{"flavor": {"os": 1.5}}', "1.5 is no whole number"),
        ("{", "cannot be used"),
        ("", "cannot be used"),
        ("[" * 100_000, "cannot be used"),
        ("a: 1\n---\nb: 2\n", "holds 2 documents"),
    ],
)
def test_a_bad_input_is_2_with_what_is_wrong(text: str, words: str) -> None:
    result = run("eval", "pool", "--input", "-", stdin=text)
    assert result.exit_code == 2
    assert words in result.stderr


def test_an_unknown_maker_is_met_with_the_nearest() -> None:
    result = run("eval", "model", "--maker", "nvdia", "--input", "-", stdin="{}")
    assert result.exit_code == 2
    assert "did you mean nvidia?" in result.stderr


ACME = ("--maker", "acme", "--pack", "docs/examples/acme.yaml", "--explain", "-o", "json")


def test_every_edit_of_an_allocation_has_its_rule_its_place_and_what_it_read() -> None:
    made = json.loads(run("eval", "allocation", "--input", "docs/examples/slice-input.yaml", *ACME).stdout)
    by_field = {each["field"]: each for each in made["explained"]}
    assert set(by_field) == {"env.ACME_VISIBLE", "env.ACME_LIMIT_MIB"}
    limit = by_field["env.ACME_LIMIT_MIB"]
    assert limit["value"] == "6141"
    [rule] = limit["rules"]
    assert rule["id"] == "inject-limit"
    assert rule["at"].startswith("docs/examples/acme.yaml:")
    assert rule["reads"]["alloc.grant"] == "slice"


def test_a_refusal_has_its_rule_its_place_and_what_it_read() -> None:
    given = "alloc: {mode: sliced, slice: {coresPercent: 5}, cards: [{uuid: A, sliceMib: 1}, {uuid: B, sliceMib: 1}]}\n"
    made = json.loads(run("eval", "allocation", "--input", "-", *ACME, stdin=given).stdout)
    [found] = made["explained"]
    assert (found["field"], found["section"]) == ("refuse", "guards")
    assert found["value"] == made["refused"] == "a slice is of one card, not of 2"
    assert found["rules"][0]["id"] == "guard-one-card"
    assert found["rules"][0]["reads"]["alloc.grant"] == "slice"


def test_a_list_that_rules_share_is_explained_item_by_item(tmp_path: Path) -> None:
    rules = (
        "    inject:\n"
        "      - {id: inject-ctl, emit: {deviceNodes: [{path: /dev/ctl}]}}\n"
        "      - id: inject-card\n        forEach: {in: alloc.cards, as: card}\n"
        '        emit: {deviceNodes: [{path: "/dev/card$(card.index)"}]}\n'
    )
    pack = write(tmp_path, GOOD.replace("  tests:\n", f"{rules}  tests:\n"))
    given = "alloc: {mode: exclusive, cards: [{uuid: A}, {uuid: B}]}\n"
    options = ("--maker", "acme", "--pack", pack, "--explain", "-o", "json")
    made = json.loads(run("eval", "allocation", "--input", "-", *options, stdin=given).stdout)
    found = {each["field"]: (each["value"]["path"], each["rules"][0]["id"]) for each in made["explained"]}
    assert found == {
        "deviceNodes[0]": ("/dev/ctl", "inject-ctl"),
        "deviceNodes[1]": ("/dev/card0", "inject-card"),
        "deviceNodes[2]": ("/dev/card1", "inject-card"),
    }


def test_what_code_refuses_is_explained_by_code() -> None:
    made = json.loads(
        run("eval", "allocation", "--input", "-", *ACME, stdin="alloc: {mode: shared, cards: []}\n").stdout
    )
    [found] = made["explained"]
    assert found["module"] == "engine/sections/allocation.py"
    assert "rules" not in found
