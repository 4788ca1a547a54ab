"""A tenth maker is one YAML file: labels, capacity, the chain and what containers get, with no other change anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.behaviour.packs import write
from tests.behaviour.running import TOP, run

PACK = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: fabrikam, version: "1.0.0", summary: Fabrikam weavers}
spec:
  identity:
    manufacturer: fabrikam
    pci: [{vendor: "fab0", classPrefixes: ["12"]}]
    resource: fabrikam.example.com/weaver
    runtimeClass: fabrikam
    runtimeInjects: {libraries: false, devices: false}
    slots: [loom]
  params:
    slicesPerCard: {type: integer, default: 16}
  presets:
    tiers: {large: [w9]}
  sections:
    model:
      - id: model-weaver
        when: has(card.name)
        emit: {product: "$(required(card.name, 'no name'))", family: Warp}
    features:
      - id: features-slices
        emit: {logicalSlices: $(params.slicesPerCard), isolation: preload}
    labels:
      owns: ["fabrikam.example.com/*"]
      rules:
        - id: labels-warp
          when: has(group.family)
          emit: {fabrikam.example.com/family: "$(required(group.family, 'no family'))"}
    guards:
      - id: guard-one-slice
        when: alloc.grant == 'slice' && length(alloc.cards) > `1`
        emit: {refuse: FABRIKAM_ONE_SLICE}
        message: a slice of $(length(alloc.cards)) weavers is none
    inject:
      - id: inject-visible
        emit:
          env: {FABRIKAM_WEAVERS: "$(join(',', alloc.cards[*].uuid))"}
      - id: inject-loom
        forEach: {in: alloc.cards, as: card}
        emit:
          deviceNodes: [{path: "/dev/loom$(required(card.slots.loom, 'no loom'))"}]
      - id: inject-slice
        when: alloc.grant == 'slice'
        forEach: {in: alloc.cards, as: card}
        emit:
          env: {"FABRIKAM_LIMIT_$(card.position)": "$(required(card.sliceMib, 'no memory figure'))m"}
"""
MACHINE = """\
apiVersion: machines.gpustack.ai/v1alpha1
kind: Machine
metadata: {name: node-loom}
spec:
  os: linux
  arch: amd64
  capacity: {cpu: "64", memory: 512Gi, pods: "110"}
  labels: {kubernetes.io/hostname: node-loom}
  cpu: {vendorId: AMD, family: "25", id: "1", name: AMD EPYC 7763 64-Core Processor, physicalCores: 64, threadsPerCore: 2}
  pci:
    - {address: "0000:01:00.0", class: "120000", vendor: "fab0", device: "0009"}
    - {address: "0000:02:00.0", class: "120000", vendor: "fab0", device: "0009"}
  libraries:
    - manufacturer: fabrikam
      driverVersion: "3.1"
      runtimeVersion: "9.0"
      cards:
        - {uuid: W-1, driverIndex: 0, name: Fabrikam W9, pci: "0000:01:00.0", memoryMib: 65536, slots: {loom: 4}}
        - {uuid: W-2, driverIndex: 1, name: Fabrikam W9, pci: "0000:02:00.0", memoryMib: 65536, slots: {loom: 7}}
"""
KEY = "acceleratable.feature.gpustack.ai/fabrikam-w9"


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The shipped packs and one file beside them."""
    folder = tmp_path_factory.mktemp("rules")
    for part in ("derive", "library", "manufacturers"):
        (folder / part).symlink_to(TOP / "rules" / part)
    write(folder, PACK, "fabrikam.yaml")
    return str(folder)


@pytest.fixture
def machine(tmp_path: Path) -> str:
    return write(tmp_path, MACHINE, "node-loom.yaml")


def planned(rules: str, machine: str, kind: str) -> list[dict[str, Any]]:
    result = run("plan", machine, "--rules", rules, "--show", kind, "-o", "json")
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stderr
    items: list[dict[str, Any]] = json.loads(result.stdout)["items"]
    return items


def test_the_pack_is_clean(rules: str) -> None:
    result = run("validate", "--rules", rules, "--fail-on", "warning")
    assert result.exit_code == 0, result.output


def test_the_node_has_labels_and_capacity(rules: str, machine: str) -> None:
    [node] = planned(rules, machine, "nodes")
    labels, capacity = node["metadata"]["labels"], node["status"]["capacity"]
    assert labels[f"{KEY}.count"] == "2"
    assert labels[f"{KEY}.product"] == "Fabrikam-W9"
    assert labels[f"{KEY}.family"] == "Warp"
    assert labels[f"{KEY}.memory"] == "64Gi"
    assert labels["fabrikam.example.com/family"] == "Warp"
    assert labels["feature.gpustack.ai/acceleratable"] == "true"
    assert capacity["fabrikam.example.com/weaver"] == "2"
    assert capacity["fabrikam.example.com/weaver.sliced"] == "32"


def test_the_whole_chain_follows(rules: str, machine: str) -> None:
    [flavor] = [each for each in planned(rules, machine, "resourceflavors") if "fabrikam" in each["metadata"]["name"]]
    assert flavor["metadata"]["name"] == "gpustack--amd-epyc-7763--fabrikam-w9-linux-amd64-2d"
    [made] = [each for each in planned(rules, machine, "instancetypes") if "fabrikam" in each["metadata"]["name"]]
    assert made["metadata"]["name"] == "gpustack--fabrikam-w9-linux-amd64"
    assert made["spec"]["displayName"] == "Fabrikam-W9"
    assert int(made["spec"]["unitResources"]["cpu"]) > 8  # the tier that the pack's preset names, not the default
    [queue] = [each for each in planned(rules, machine, "clusterqueues") if "fabrikam" in each["metadata"]["name"]]
    [quota] = queue["spec"]["resourceGroups"][0]["flavors"]
    assert quota["name"] == flavor["metadata"]["name"]
    assert quota["resources"][0]["name"] == "credits.gpustack.ai/fabrikam"
    [devices] = planned(rules, machine, "devices")
    assert devices["spec"]["groups"][0]["manufacturer"] == "fabrikam"


def test_containers_get_their_cards(rules: str, tmp_path: Path) -> None:
    cards = "{uuid: W-2, memoryMib: 65536, sliceMib: 8192, slots: {loom: 7}}"
    given = f"alloc: {{mode: sliced, slice: {{coresPercent: 10}}, cards: [{cards}]}}\n"
    made = allocated(rules, write(tmp_path, given, "slice.yaml"))
    assert made["value"] == {
        "env": {"FABRIKAM_WEAVERS": "W-2", "FABRIKAM_LIMIT_0": "8192m"},
        "deviceNodes": [{"path": "/dev/loom7", "required": True, "permissions": "rw"}],
    }
    given = f"alloc: {{mode: sliced, slice: {{coresPercent: 10}}, cards: [{cards}, {cards.replace('W-2', 'W-1')}]}}\n"
    assert allocated(rules, write(tmp_path, given, "two.yaml"))["refused"] == "a slice of 2 weavers is none"


def allocated(rules: str, given: str) -> dict[str, Any]:
    result = run("eval", "allocation", "--maker", "fabrikam", "--input", given, "--rules", rules, "-o", "json")
    made: dict[str, Any] = json.loads(result.stdout)
    return made
