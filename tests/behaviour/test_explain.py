"""`engine explain`: every field of every planned object has a section with its rule, a document, or a name in code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.behaviour.running import WALKTHROUGH, run

A10G = "gpustack--nvidia-a10g-linux-amd64"
KINDS = "nodes,nodefeatures,devices,topologies,flavors,cq,lq,instype,instypeflavor"


def explained(target: str, *args: str) -> list[dict[str, Any]]:
    result = run("explain", target, WALKTHROUGH, "-o", "json", *args)
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert isinstance(made, list)
    return made


def one(target: str, *args: str) -> dict[str, Any]:
    (made,) = explained(target, *args)
    return made


def test_a_field_has_its_section_rule_file_line_and_inputs() -> None:
    result = run("explain", f"instancetype/{A10G}:spec.unitResources.cpu", "--machines", WALKTHROUGH)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[:3] == [["spec.unitResources.cpu:", "8"], ["section", "type"], ["rule", "type-derived"]]
    assert re.fullmatch(r"rules/derive/pool/pack\.yaml:\d+", lines[3][1])
    assert ["reads", "pool.acceleratable", "=", "true"] in lines
    assert ["preset.tier", "=", "medium"] in lines


def test_the_line_is_the_rules_own() -> None:
    for target in (
        f"cq/{A10G}:spec.preemption.reclaimWithinCohort",
        "node/node-a10g:metadata.labels.gpustack.ai/managed",
    ):
        (rule,) = one(target)["rules"]
        path, _, line = rule["at"].rpartition(":")
        assert rule["id"] in Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1]


def test_a_key_with_dots_is_one_step() -> None:
    made = one("node/node-a10g:metadata.labels.acceleratable.feature.gpustack.ai/nvidia-a10g.count")
    assert (made["value"], made["section"]) == ("1", "device-labels")
    assert one("flavor/gpustack--amd-epyc-7r13-linux-amd64-16c:metadata.annotations.note.gpustack.ai/product")[
        "section"
    ] == ("flavor")


@pytest.mark.parametrize(
    ("target", "section", "value"),
    [
        (f"cq/{A10G}:spec.resourceGroups[0].flavors[0].resources[0].nominalQuota", "quota", "1600k"),
        (f"cq/{A10G}:spec.admissionChecksStrategy.admissionChecks[0].name", "checks", "gpustack-node-devices"),
        (f"instancetype/{A10G}:status.entrance", "entrance", "gpustack-fnv64-c4680bb149644f1c"),
        (f"instancetype/{A10G}:metadata.labels.schedule.gpustack.ai/derived-from-node", "type", "true"),
        ("instypeflavor/gpustack--nvidia-a10g:spec.memory", "catalogue", "24Gi"),
        ("topology/gpustack-fnv64-87bf574bea2a4f23:spec.levels[0].nodeLabel", "topology", "kubernetes.io/hostname"),
        ("devices/node-a10g:spec.groups[0].family", "model", "Ampere"),
        ("devices/node-a10g:spec.groups[0].id", "group", "a10g"),
        ("node/node-a10g:status.capacity.nvidia.com/gpu.sliced.units", "capacity", "1600k"),
        ("nodefeature/node-a10g-gpustack-worker:spec.labels.gpustack.ai/managed", "worker-labels", "true"),
    ],
)
def test_sections_are_named(target: str, section: str, value: str) -> None:
    made = one(target)
    assert (made["section"], made["value"]) == (section, value)
    assert made["rules"]


@pytest.mark.parametrize(
    ("target", "module"),
    [
        (f"cq/{A10G}:spec.stopPolicy", "engine/domain/queue.py"),
        (f"instancetype/{A10G}:status.acceleratorShared.onceMaxRequest", "engine/domain/views.py"),
        (f"instancetype/{A10G}:kind", "engine/worker/render/instancetype.py"),
        ("localqueue/default/gpustack-fnv64-c4680bb149644f1c:spec.clusterQueue", "engine/chain/chain.py"),
    ],
)
def test_what_code_decides_has_a_name_too(target: str, module: str) -> None:
    made = one(target)
    assert made["module"] == module
    assert made["code"]


def test_what_a_machine_says_is_given() -> None:
    assert one("node/node-a10g:status.capacity.pods")["given"] == "the machine document of node-a10g"


def test_an_unmanaged_node_is_explained_as_such() -> None:
    made = one("node/node-a10g:metadata.labels.gpustack.ai/managed", "--unmanaged", "node-a10g")
    assert made["value"] == "false"
    assert made["section"] == "worker-labels"


def test_every_field_of_every_object_is_explained_by_more_than_the_skeleton() -> None:
    named = run("plan", WALKTHROUGH, "--show", KINDS, "-o", "name").stdout.splitlines()
    for target in named:
        for field in explained(target):
            if field.get("code") == "the object's skeleton":
                assert field["field"] in ("apiVersion", "kind", "metadata.namespace"), (target, field)
            if "section" in field:
                assert field["rules"], (target, field)
            if "module" in field:
                assert Path(field["module"]).is_file(), field["module"]


def test_a_part_of_an_object_is_listed_field_by_field() -> None:
    result = run("explain", "node/node-cpu:metadata.annotations", WALKTHROUGH)
    assert len(result.stdout.splitlines()) == 12
    assert "section host-labels, rule " in result.stdout


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("instancetype/gpustack--nvidia-a10-linux-amd64", f"did you mean {A10G}?"),
        (f"instancetype/{A10G}:spec.unitResource.cpu", "did you mean spec.unitResources.cpu?"),
        (f"cq/{A10G}:spec.resourceGroups[7]", "has no field spec.resourceGroups[7]"),
        ("instancetpe/x", "did you mean instancetype?"),
    ],
)
def test_what_is_not_there_is_met_with_the_nearest(target: str, words: str) -> None:
    result = run("explain", target, WALKTHROUGH)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_type_of_a_person_is_given(tmp_path: Path) -> None:
    file = tmp_path / "type.yaml"
    file.write_text(
        "apiVersion: worker.gpustack.ai/v1\nkind: InstanceType\nmetadata: {name: mine}\nspec:\n"
        "  {acceleratable: true, acceleratorGroup: nvidia-a10g, os: linux, arch: amd64,"
        ' unitResources: {cpu: "12", ram: 128Gi}, localStorage: 200Gi}\n',
        encoding="utf-8",
    )
    assert one("instype/mine:spec.unitResources.cpu", str(file))["given"].startswith("the manifest")
    assert one("instype/mine:status.entrance", str(file))["section"] == "entrance"


def test_a_rule_of_an_overlay_is_found_in_the_overlay() -> None:
    overlay = "rules/overlays/examples/node-label.yaml"
    made = one("node/node-a10g:metadata.labels.site.example/hall", "--overlay", overlay)
    assert [rule["id"] for rule in made["rules"]] == ["site-hall"]
    assert made["rules"][0]["at"].startswith(f"{overlay}:")
