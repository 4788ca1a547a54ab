"""The walkthrough's objects, whole, against golden files; and those files against what a real cluster was recorded to hold.

The second half is typed in by hand, so that a golden file written anew cannot agree with itself alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine.chain.chain import Chain
from tests.golden.objects import FOLDER, files, read
from tests.unit.chain.shipped import cluster, program

A10G = "gpustack--nvidia-a10g-linux-amd64"
A10G_FLAVOR = "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64-1d"
PROFILE = "fnv64-87bf574bea2a4f23"
PLACE = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
KEYS = {"general.feature.gpustack.ai/amd-epyc-7r32": "true", "acceleratable.feature.gpustack.ai/nvidia-a10g": "true"}
CARD = "acceleratable.feature.gpustack.ai/nvidia-a10g"
CPU = "general.feature.gpustack.ai/amd-epyc-7r13"


@pytest.fixture(scope="module")
def rendered() -> dict[str, list[dict[str, Any]]]:
    chain = Chain(program())
    chain.apply(cluster())
    return files(chain)


def golden(file: str, name: str) -> dict[str, Any]:
    return next(each for each in read(file) if each["metadata"]["name"] == name)


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.yaml")))
def test_every_object_is_as_its_golden_file_says(rendered: dict[str, list[dict[str, Any]]], file: str) -> None:
    assert rendered[file] == read(file)


def test_every_kind_has_a_golden_file(rendered: dict[str, list[dict[str, Any]]]) -> None:
    assert sorted(rendered) == sorted(path.name for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.yaml")))
def test_keys_are_in_the_order_kubectl_prints(rendered: dict[str, list[dict[str, Any]]], file: str) -> None:
    def keys(value: Any) -> None:
        if isinstance(value, dict):
            assert list(value) == sorted(value)
            for each in value.values():
                keys(each)
        elif isinstance(value, list):
            for each in value:
                keys(each)

    keys(rendered[file])


def test_1f_the_a10g_node_has_the_recorded_labels_and_those_of_the_label_table() -> None:
    assert golden("nodes.yaml", "node-a10g")["metadata"]["labels"] == PLACE | {
        "kubernetes.io/hostname": "node-a10g",
        "gpustack.ai/managed": "true",
        "general.feature.gpustack.ai/amd": "true",
        "general.feature.gpustack.ai/amd-epyc-7r32": "true",
        "general.feature.gpustack.ai/amd-epyc-7r32.count": "4",
        "acceleratable.feature.gpustack.ai/nvidia": "true",
        CARD: "true",
        f"{CARD}.count": "1",
        f"{CARD}.memory": "24Gi",
        f"{CARD}.cores": "10240",
        f"{CARD}.family": "Ampere",
        f"{CARD}.product": "NVIDIA-A10G",
        f"{CARD}.comcap": "8.6",
        "acceleratable.feature.gpustack.ai/nvidia.driver-version": "580.159.03",
        "acceleratable.feature.gpustack.ai/nvidia.runtime-version": "13.0",
        "feature.gpustack.ai/acceleratable": "true",
        "topology.gpustack.ai/profile": PROFILE,
        "sliced-max-free-units.fit.gpustack.ai/nvidia-a10g": "1600000",
        "shared-free-cards.fit.gpustack.ai/nvidia-a10g": "1",
    }
    capacity = golden("nodes.yaml", "node-a10g")["status"]["capacity"]
    assert capacity["nvidia.com/gpu.sliced.units"] == "1600k"
    assert capacity["nvidia.com/gpu.sliced.cores-percentage"] == "12800"
    assert capacity["nvidia.com/gpu.sliced.memory-percentage"] == "100"
    assert capacity["nvidia.com/gpu.sliced.memory-mib"] == "24576"


def test_1f_the_worker_and_the_devices_object_say_what_was_recorded() -> None:
    worker = golden("nodefeatures.yaml", "node-a10g-gpustack-worker")
    assert worker["metadata"] == {
        "name": "node-a10g-gpustack-worker",
        "namespace": "gpustack-system",
        "labels": {
            "nfd.node.kubernetes.io/node-name": "node-a10g",
            "app.kubernetes.io/part-of": "gpustack-operator-worker",
        },
    }
    assert worker["spec"]["labels"] == {
        "gpustack.ai/managed": "true",
        "general.feature.gpustack.ai/amd": "true",
        "general.feature.gpustack.ai/amd-epyc-7r32": "true",
        "general.feature.gpustack.ai/amd-epyc-7r32.count": "4",
    }
    devices = golden("devices.yaml", "node-a10g")
    assert devices["metadata"]["labels"] == PLACE | KEYS | {
        "gpustack.ai/managed": "true",
        "topology.gpustack.ai/profile": PROFILE,
    }
    card = {"id": "GPU-e0587d2e-127c-4fb8-e2c1-6e517529f575", "index": 0, "mode": 0, "remaining": 1600000}
    assert devices["status"] == {"groups": [{"id": "a10g", "manufacturer": "nvidia", "accelerators": [card]}]}


def test_1g_the_a10g_flavor_has_the_recorded_labels_and_selector_with_the_profile() -> None:
    flavor = golden("resourceflavors.yaml", A10G_FLAVOR)
    assert flavor["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert flavor["metadata"]["labels"] == PLACE | KEYS | {
        "feature.gpustack.ai/acceleratable": "true",
        f"{CARD}.count": "1",
        f"{CARD}.capacity": "1",
        "resource.gpustack.ai/type": "nodes",
        "topology.gpustack.ai/profile": PROFILE,
    }
    assert flavor["spec"] == {
        "nodeLabels": PLACE
        | KEYS
        | {"gpustack.ai/managed": "true", f"{CARD}.count": "1", "topology.gpustack.ai/profile": PROFILE},
        "tolerations": [{"operator": "Exists"}],
        "topologyName": f"gpustack-{PROFILE}",
    }


def test_1g_the_cpu_flavor_has_the_recorded_labels_and_selector_with_the_profile() -> None:
    flavor = golden("resourceflavors.yaml", "gpustack--amd-epyc-7r13-linux-amd64-16c")
    assert flavor["metadata"]["labels"] == PLACE | {
        "feature.gpustack.ai/acceleratable": "false",
        CPU: "true",
        f"{CPU}.count": "16",
        f"{CPU}.capacity": "16",
        "resource.gpustack.ai/type": "nodes",
        "topology.gpustack.ai/profile": PROFILE,
    }
    assert flavor["spec"]["nodeLabels"] == PLACE | {
        "gpustack.ai/managed": "true",
        CPU: "true",
        f"{CPU}.count": "16",
        "topology.gpustack.ai/profile": PROFILE,
    }
    assert flavor["metadata"]["annotations"]["note.gpustack.ai/product"] == "AMD EPYC 7R13 Processor"


def test_1h_the_a10g_queue_is_as_recorded_with_what_it_is_created_with() -> None:
    queue = golden("clusterqueues.yaml", A10G)
    assert queue["metadata"]["labels"] == PLACE | {
        "feature.gpustack.ai/acceleratable": "true",
        CARD: "true",
        "resource.gpustack.ai/type": "instancetypes",
    }
    assert queue["metadata"]["annotations"] == {"topology.gpustack.ai/tas-queue": "true"}
    credit = "credits.gpustack.ai/nvidia"
    assert queue["spec"] == {
        "admissionChecksStrategy": {"admissionChecks": [{"name": "gpustack-node-devices"}]},
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"},
        "namespaceSelector": {},
        "preemption": {
            "borrowWithinCohort": {"policy": "Never"},
            "reclaimWithinCohort": "Never",
            "withinClusterQueue": "LowerPriority",
        },
        "resourceGroups": [
            {
                "coveredResources": [credit],
                "flavors": [{"name": A10G_FLAVOR, "resources": [{"name": credit, "nominalQuota": "1600k"}]}],
            }
        ],
        "stopPolicy": "None",
    }


def test_1i_the_a10g_type_is_as_recorded_with_descriptors_in_its_status() -> None:
    made = golden("instancetypes.yaml", A10G)
    assert made["metadata"]["labels"] == PLACE | {
        "feature.gpustack.ai/acceleratable": "true",
        CARD: "true",
        "schedule.gpustack.ai/derived-from-node": "true",
        "schedule.gpustack.ai/queue-entrance": "gpustack-fnv64-c4680bb149644f1c",
    }
    assert made["spec"] == {
        "acceleratable": True,
        "acceleratorGroup": "nvidia-a10g",
        "generalGroup": "generic",
        "displayName": "NVIDIA-A10G",
        "os": "linux",
        "arch": "amd64",
        "unitResources": {"cpu": "8", "ram": "64Gi"},
        "localStorage": "100Gi",
    }
    status = made["status"]
    assert (status["phase"], status["entrance"]) == ("Active", "gpustack-fnv64-c4680bb149644f1c")
    assert status["accelerator"] == {"capacity": "1", "onceMaxRequest": "1", "remaining": "1"}
    assert status["acceleratorShared"] == {"capacity": "10", "onceMaxRequest": "1", "remaining": "10"}
    assert status["acceleratorSliced"] == {"capacity": "100", "onceMaxRequest": "100", "remaining": "100"}
    assert status["acceleratorPartitioned"] == {"capacity": "0", "onceMaxRequest": "0", "remaining": "0"}
    detail = status["detail"]
    assert {key: detail[key] for key in ("manufacturer", "product", "family", "memory", "cores")} == {
        "manufacturer": "nvidia",
        "product": "NVIDIA-A10G",
        "family": "Ampere",
        "memory": "24Gi",
        "cores": "10240",
    }
    assert detail["slicedDetail"]["logical"] == {"count": 128, "coresPercentageOvercommit": True}


def test_1d_the_a10g_row_of_the_catalogue_is_as_recorded() -> None:
    recorded = {
        "acceleratable": True,
        "acceleratorGroup": "nvidia-a10g",
        "manufacturer": "nvidia",
        "product": "NVIDIA-A10G",
        "memory": "24Gi",
        "cores": "10240",
        "sliceable": True,
    }
    assert golden("instancetypeflavors.yaml", "gpustack--nvidia-a10g")["spec"] == recorded | {"family": "Ampere"}
