"""The control plane as tests meet it: up in seconds, Kueue answering, queues admitting, components that come back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.components import API as API_SERVER
from tests.cluster.components import COMPONENTS, ETCD, KUEUE
from tests.e2e.waiting import condition, eventually

pytestmark = pytest.mark.e2e

KUEUE_API = "/apis/kueue.x-k8s.io/v1beta2"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"


@pytest.fixture
def queue(cluster: Cluster) -> Iterator[str]:
    """A LocalQueue in default whose ClusterQueue covers 4 CPUs."""
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "smoke"},
        "spec": {},
    }
    quota = {"name": "smoke", "resources": [{"name": "cpu", "nominalQuota": "4"}]}
    spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}]}
    cluster_queue = {**flavor, "kind": "ClusterQueue", "spec": spec}
    local_queue = {
        **flavor,
        "kind": "LocalQueue",
        "metadata": {"name": "smoke", "namespace": "default"},
        "spec": {"clusterQueue": "smoke"},
    }
    api = cluster.api
    api.post(f"{KUEUE_API}/resourceflavors", flavor)
    api.post(f"{KUEUE_API}/clusterqueues", cluster_queue)
    api.post(f"{KUEUE_API}/namespaces/default/localqueues", local_queue)
    yield "smoke"
    api.delete(f"{KUEUE_API}/namespaces/default/localqueues/smoke")
    api.delete(f"{KUEUE_API}/clusterqueues/smoke")
    eventually(lambda: api.find(f"{KUEUE_API}/clusterqueues/smoke") is None, what="the queue is gone")
    api.delete(f"{KUEUE_API}/resourceflavors/smoke")


def job(name: str, queue: str, cpu: str) -> dict[str, Any]:
    container = {"name": "main", "image": "played", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default", "labels": {QUEUE_LABEL: queue}},
        "spec": {"suspend": True, "template": {"spec": {"containers": [container], "restartPolicy": "Never"}}},
    }


def test_every_component_runs_and_the_start_was_quick(cluster: Cluster) -> None:
    print("seconds from nothing:", json.dumps(cluster.timings))
    states = {each["name"]: each["state"] for each in cluster.world.processes()}
    assert {name: states.get(name) for name in COMPONENTS} == dict.fromkeys(COMPONENTS, "running")
    assert cluster.timings["ready"] < 90, "15 s on a quiet machine; a shared one may take longer, not forever"


def test_kubectl_speaks_to_this_cluster_and_no_other(cluster: Cluster) -> None:
    told = json.loads(cluster.kubectl("version", "-o", "json"))
    assert told["serverVersion"]["gitVersion"] == told["clientVersion"]["gitVersion"]
    assert "gpustack-system" in cluster.kubectl("get", "namespaces", "-o", "name")


def test_a_queue_becomes_active_and_admits_a_job_within_its_quota(cluster: Cluster, queue: str) -> None:
    api = cluster.api

    def active() -> bool:
        found = api.get(f"{KUEUE_API}/clusterqueues/{queue}")
        return condition(found, "Active").get("status") == "True"

    eventually(active, what="the ClusterQueue is Active")
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    api.post(jobs, job("fits", queue, "1"))
    api.post(jobs, job("does-not-fit", queue, "5"))
    eventually(lambda: api.get(f"{jobs}/fits")["spec"]["suspend"] is False, what="the Job is let go")
    assert api.get(f"{jobs}/does-not-fit")["spec"]["suspend"] is True
    for name in ("fits", "does-not-fit"):
        api.delete(f"{jobs}/{name}", {"propagationPolicy": "Background"})


def test_kueue_refuses_a_broken_queue_with_its_own_webhook(cluster: Cluster) -> None:
    broken = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "Broken_Name"},
        "spec": {"resourceGroups": []},
    }
    with pytest.raises(ApiError) as caught:
        cluster.api.post(f"{KUEUE_API}/clusterqueues", broken)
    assert caught.value.status in (400, 422)


def test_kueue_comes_back_after_a_restart_with_another_configuration(cluster: Cluster, tmp_path: Path) -> None:
    before = json.loads(cluster.folder.kueue_configuration.read_text())
    assert any(each["outputs"] for each in before["resources"]["transformations"])
    ours = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": ["batch/job", "ray.io/rayjob"]},
        "leaderElection": {"leaderElect": True},
    }
    file = tmp_path / "kueue.yaml"
    file.write_text(json.dumps(ours))
    cluster.restart(KUEUE, kueue_configuration=file)
    now = json.loads(cluster.folder.kueue_configuration.read_text())
    assert "resources" not in now
    assert now["integrations"]["frameworks"] == ["batch/job"], "kinds that are not there are left out"
    assert now["leaderElection"] == {"leaderElect": False}
    file.write_text(json.dumps(before))
    cluster.restart(KUEUE, kueue_configuration=file)


def test_an_old_resource_version_is_gone_after_a_compaction_and_a_restart(cluster: Cluster) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    old = cluster.api.get(path)["metadata"]["resourceVersion"]
    for number in range(3):
        cluster.api.post(path, {"metadata": {"name": f"compacted-{number}"}})
    cluster.compact()
    cluster.restart(API_SERVER, kill=True)
    with pytest.raises(ApiError) as caught:
        list(cluster.api.watch(path, resourceVersion=old, timeout_seconds=5))
    assert caught.value.status == 410
    for number in range(3):
        cluster.api.delete(f"{path}/compacted-{number}")


def test_writes_wait_while_etcd_is_paused_and_go_through_afterwards(cluster: Cluster) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    cluster.pause(ETCD)
    try:
        with pytest.raises((ApiError, OSError)):
            cluster.api.post(f"{path}?timeout=1s", {"metadata": {"name": "while-paused"}})
    finally:
        cluster.resume(ETCD)
    eventually(lambda: _writes(cluster, path), timeout_seconds=60, what="writes go through again")


def test_a_service_account_gets_a_kubeconfig_that_may_do_what_it_may_do(cluster: Cluster) -> None:
    file = cluster.account_kubeconfig("default", "default")
    told = cluster.run([str(cluster.binaries.path("kubectl")), f"--kubeconfig={file}", "auth", "whoami", "-o", "json"])
    assert json.loads(told.stdout)["status"]["userInfo"]["username"] == "system:serviceaccount:default:default"


def _writes(cluster: Cluster, path: str) -> bool:
    try:
        cluster.api.post(path, {"metadata": {"name": "after-pause"}})
    except (ApiError, OSError):
        return False
    cluster.api.delete(f"{path}/after-pause")
    return True
