"""`engine plan` and `engine demo`: tables as recorded, objects that a cluster would take, and what is said beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from engine.cli.packs import shipped_program
from tests.behaviour.running import WALKTHROUGH, run

TYPES = """\
NAME                                    ENTRANCE                          UNIT(CPU/RAM)/STORAGE   ACCELERATOR(EX/SH/SL/PT)   CPU     PHASE
gpustack--generic-linux-amd64           gpustack-fnv64-3b93966fd73eb9ec   1/2Gi/100Gi             0/0 0/0 0/0 0/0            48/72   Active
gpustack--nvidia-a10g-linux-amd64       gpustack-fnv64-c4680bb149644f1c   8/64Gi/100Gi            1/1 1/10 100/100 0/0       0/0     Active
gpustack--nvidia-tesla-t4-linux-amd64   gpustack-fnv64-6b371caa2da0b799   8/32Gi/100Gi            4/5 4/50 100/500 0/0       0/0     Active
"""
ROWS = """\
NAME                        GENERALGROUP   ACCELERATORGROUP   ACCELERATABLE   MANUFACTURER   PRODUCT       MEMORY   CORES   SLICEABLE
gpustack--generic           generic                           false           generic
gpustack--nvidia-a10g                      nvidia-a10g        true            nvidia         NVIDIA-A10G   24Gi     10240   true
gpustack--nvidia-tesla-t4                  nvidia-tesla-t4    true            nvidia         Tesla-T4      16Gi     2560    true
"""
QUEUES = """\
NAME                                    COHORT   PENDING WORKLOADS
gpustack--generic-linux-amd64                    0
gpustack--nvidia-a10g-linux-amd64                0
gpustack--nvidia-tesla-t4-linux-amd64            0
"""
CUSTOM = """\
apiVersion: worker.gpustack.ai/v1
kind: InstanceType
metadata: {name: a10g-12c128g}
spec:
  acceleratable: true
  acceleratorGroup: nvidia-a10g
  os: linux
  arch: amd64
  unitResources: {cpu: 12, ram: 128Gi}
  localStorage: 200Gi
---
apiVersion: worker.gpustack.ai/v1
kind: Instance
metadata: {name: sliced-demo, namespace: default}
spec: {type: a10g-12c128g}
"""


def plan(*args: str) -> str:
    result = run("plan", WALKTHROUGH, *args)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("kind", "table"), [("instancetypes", TYPES), ("instypeflavor", ROWS), ("cq", QUEUES), ("Devices", None)]
)
def test_tables_are_as_recorded(kind: str, table: str | None) -> None:
    expected = table or "NAME\nnode-a10g\nnode-t4-a\nnode-t4-b\n"
    assert plan("--show", kind) == expected


def test_the_configuration_of_kueue_has_the_transformations_of_all_packs_and_no_name() -> None:
    header, *rows = [line.split() for line in plan("--show", "kueue-configuration").splitlines()]
    assert header == ["INPUT", "MULTIPLY", "BY", "OUTPUTS"]
    assert ["nvidia.com/gpu", "credits.gpustack.ai/nvidia=1600000"] in rows
    assert ["nvidia.com/gpu.sliced.units", "nvidia.com/gpu.sliced", "credits.gpustack.ai/nvidia=1"] in rows
    made = YAML(typ="safe").load(plan("--show", "Configuration", "-o", "yaml"))
    assert (made["apiVersion"], made["kind"]) == ("config.kueue.x-k8s.io/v1beta2", "Configuration")
    assert [each["input"] for each in made["resources"]["transformations"]] == [row[0] for row in rows]
    assert plan("--show", "kueue-configuration", "-o", "name") == "", "no object of a cluster has it"
    assert plan("--show", "cq,kueue-configuration", "-o", "name") == plan("--show", "cq", "-o", "name")
    assert "\namd.com/gpu.shared " in plan("--show", "cq,kueue-configuration"), (
        "an input is no name to put a kind before"
    )


def test_the_configuration_of_kueue_is_the_one_that_the_chart_gives_it() -> None:
    values = YAML(typ="safe").load(Path("charts/engine/values.yaml").read_text("utf-8"))
    shipped = YAML(typ="safe").load(values["kueue"]["managerConfig"]["controllerManagerConfigYaml"])
    assert YAML(typ="safe").load(plan("--show", "kueue-configuration", "-o", "yaml")) == shipped


def test_cards_that_differ_are_told_with_a_remedy_of_their_own() -> None:
    told = run("plan", "tests/machines/nodes/node-two-models.yaml").stderr
    assert "CardsDiffer: section group: the cards of " in told
    assert "; make section model give unlike cards products of their own, or live with it" in told


def test_several_kinds_have_their_prefix_and_a_blank_line_between() -> None:
    flavors, queues, types, rows = plan().split("\n\n")
    assert flavors.splitlines()[1] == "resourceflavor.kueue.x-k8s.io/gpustack--amd-epyc-7r13-linux-amd64-16c"
    assert queues.splitlines()[1].split()[0] == "clusterqueue.kueue.x-k8s.io/gpustack--generic-linux-amd64"
    assert types.splitlines()[1].split()[0] == "instancetype.worker.gpustack.ai/gpustack--generic-linux-amd64"
    assert rows.splitlines()[1].split()[0] == "instancetypeflavor.worker.gpustack.ai/gpustack--generic"


def test_an_unmanaged_node_leaves_its_type_behind() -> None:
    second = plan("--show", "instancetypes", "--unmanaged", "node-a10g")
    assert "48/68" in second
    a10g = next(line for line in second.splitlines() if "nvidia-a10g" in line)
    assert a10g.split()[3:] == ["0/0", "0/0", "0/0", "0/0", "0/0", "Inactive"]
    assert "nvidia-a10g" not in plan("--show", "instancetypes", "--unmanaged", "node-a10g", "--from-empty")


def test_a_setting_is_turned_after_the_plan_came_to_rest() -> None:
    aware = ("--set", "instance-type-aware-cpu-manufacturer=true", "--show", "instancetypes", "-o", "name")
    assert len(plan(*aware).splitlines()) == 8
    assert len(plan(*aware, "--from-empty").splitlines()) == 5


def test_yaml_and_json_are_one_set_of_objects() -> None:
    kinds = ("--show", "nodes,nodefeatures,devices,topologies,flavors,cq,lq,instype,instypeflavor")
    documents = list(YAML(typ="safe").load_all(plan(*kinds, "-o", "yaml")))
    listed = json.loads(plan(*kinds, "-o", "json"))
    assert documents == listed["items"]
    assert listed["kind"] == "List"
    assert {each["kind"] for each in documents} == {
        "Node", "NodeFeature", "Devices", "Topology", "ResourceFlavor", "ClusterQueue", "LocalQueue", "InstanceType",
        "InstanceTypeFlavor",
    }  # fmt: skip
    assert all(each["apiVersion"] and each["metadata"]["name"] for each in documents)
    assert len(plan(*kinds, "-o", "name").splitlines()) == len(documents)


def test_a_namespace_gets_an_entrance_to_every_queue() -> None:
    rows = plan("--show", "lq", "--namespace", "team-a", "-n", "kube-system").splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["default"] * 3 + ["team-a"] * 3


def test_wide_adds_columns() -> None:
    assert plan("--show", "rf", "-o", "wide").splitlines()[0].split() == [
        "NAME",
        "TOPOLOGY",
        "NODES",
        "COUNT",
        "CAPACITY",
    ]


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_an_instance_type_of_a_person_is_planned_and_other_kinds_are_skipped(version: str, tmp_path: Path) -> None:
    file = tmp_path / "types.yaml"
    file.write_text(CUSTOM.replace("worker.gpustack.ai/v1", f"worker.gpustack.ai/{version}"), encoding="utf-8")
    result = run("plan", WALKTHROUGH, str(file), "--show", "instancetypes")
    assert result.exit_code == 0, result.output
    row = next(line for line in result.stdout.splitlines() if line.startswith("a10g-12c128g"))
    assert row.split()[1:3] == ["gpustack-fnv64-d4c0e6cd72686015", "12/128Gi/200Gi"]
    assert f"note: {file}:12:1: skipped worker.gpustack.ai/{version} Instance sliced-demo" in result.stderr


def test_an_invalid_type_is_refused_as_the_api_would(tmp_path: Path) -> None:
    file = tmp_path / "type.yaml"
    file.write_text(CUSTOM.replace("128Gi", "128GB"), encoding="utf-8")
    result = run("plan", WALKTHROUGH, str(file))
    assert result.exit_code == 2
    assert 'spec.unitResources.ram: Invalid value: "128GB"' in result.stderr


def test_assumptions_are_told_when_asked() -> None:
    assert run("plan", WALKTHROUGH, "--show", "cq").stderr == ""
    told = run("plan", WALKTHROUGH, "--show", "cq", "-v", "-n", "team-a").stderr.splitlines()
    assert all(line.startswith("assumed: ") for line in told)
    assert "assumed: the namespaces are default, team-a" in told


def test_what_could_not_be_told_is_a_warning_with_a_remedy() -> None:
    result = run("plan", "tests/machines/mig/node-h100-unreadable.yaml", "--show", "nodes")
    assert result.exit_code == 0
    nameless = run("plan", "tests/machines/broken/nameless-card.yaml", "--show", "nodes")
    assert nameless.exit_code == 0, nameless.output
    warning = next(line for line in nameless.stderr.splitlines() if "CardDropped" in line)
    assert warning.startswith("warning: Node ")
    assert warning.endswith("; record the machine again with the driver loaded")


@pytest.mark.parametrize(
    "name", ["duplicate-uuid", "misspelt-key", "negative-memory", "one-name-twice", "unquoted-pci-vendor"]
)
def test_a_broken_machine_is_unreadable_input(name: str) -> None:
    file = f"tests/machines/broken/{name}.yaml"
    result = run("plan", file)
    assert result.exit_code == 2
    assert f"{file}:" in result.stderr
    assert "error[RP" in result.stderr
    assert result.stdout == ""


def test_a_folder_without_machines_is_nothing_to_plan(tmp_path: Path) -> None:
    result = run("plan", str(tmp_path))
    assert result.exit_code == 4
    assert "nothing to plan" in result.stderr


def test_a_machine_comes_from_standard_input_too() -> None:
    text = Path(WALKTHROUGH, "node-cpu.yaml").read_text(encoding="utf-8")
    assert run("plan", "-", "--show", "instancetypes", stdin=text).stdout.splitlines()[1].split()[-2:] == [
        "16/16",
        "Active",
    ]


def test_the_demo_prints_the_walkthrough() -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    for table in (TYPES, ROWS, QUEUES):
        assert table in result.stdout
    assert (
        "gpustack--intel-xeon-platinum-8259cl--nvidia-tesla-t4   intel-xeon-platinum-8259cl   nvidia-tesla-t4"
        in result.stdout
    )
    last = result.stdout.splitlines()[-1].removeprefix("$ engine ").split()
    assert run(*last).exit_code == 0


def test_the_environment_overrides_identities_as_it_does_for_the_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.cli.plan.shipped_program", shipped_program)
    monkeypatch.setenv("GPUSTACK_NVIDIA_ACCELERATABLE_RESOURCE_NAME", "example.com/gpu")
    assert "example.com/gpu.shared: " in plan("--show", "nodes", "-o", "yaml")
