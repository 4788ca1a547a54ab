"""The chart on the real control plane by real Helm: installed, run with the rights it gives, upgraded, uninstalled.

No kubelet runs Deployments here: the worker is a process with the ServiceAccount's token and the container's arguments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from charts import build
from tests.cluster.cluster import Cluster
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.e2e.tidying import tidy
from tests.e2e.waiting import eventually
from tests.unit.charts.chart import NAMESPACE, OWN, WORKER, Rendered, arguments, whole

pytestmark = pytest.mark.e2e

RELEASE = "engine"
VALUES: dict[str, Any] = {**OWN, "rbac": {"kueueNamespace": "kueue-system"}}
"""The testbed's Kueue stands for one that a site installed itself."""
MACHINE = REPOSITORY / "tests" / "machines" / "walkthrough" / "node-a10g.yaml"
TYPES = "/apis/worker.gpustack.ai/v1/instancetypes"
FLAVORS = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{WORKER}"
ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("helm_python", reason="helm-python-sdk is not installed: the chart is not installed either")
    source = build.kueue_source(fetch=False)
    if source is None:
        pytest.skip("Kueue's module is not in Go's cache, and Helm installs no chart with a part missing")
    made = whole(tmp_path_factory.mktemp("chart"))
    build.pack_kueue(source, made)
    return made


@pytest.fixture(scope="module")
def installed(cluster: Cluster, chart: Path) -> Iterator[Rendered]:
    """The release; the namespace enforces the strictest standard meanwhile, so a Pod that is there was let through."""
    tidy(cluster.api)
    if cluster.api.find(f"/api/v1/namespaces/{NAMESPACE}") is None:
        cluster.api.post("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    cluster.api.patch(f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": {ENFORCE: "restricted"}}})
    try:
        yield Rendered({"release": helm(cluster, "install", chart, VALUES)["manifest"]})
    finally:
        helm(cluster, "uninstall")
        cluster.api.patch(f"/api/v1/namespaces/{NAMESPACE}", {"metadata": {"labels": {ENFORCE: None}}})


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of a worker that saw one node come and go, and somebody delete the types."""

    flavors: set[str]
    phases: dict[str, str]
    fit: dict[str, str]
    is_running: bool
    log: str


@pytest.fixture(scope="module")
def worked(
    cluster: Cluster, installed: Rendered, machinery: Machinery, tmp_path_factory: pytest.TempPathFactory
) -> Worked:
    """The worker as its container would be started, with the rights of its account and no others."""
    given = arguments(installed, tmp_path_factory.mktemp("volumes"))
    account = cluster.account_kubeconfig(NAMESPACE, WORKER)
    process = cluster.spawn(
        "installed-worker",
        [sys.executable, "-m", "engine", *given, "--kubeconfig", account],
        env={"KUBERNETES_POD_NAMESPACE": NAMESPACE},
    )
    try:
        with NodePlayer(cluster.api) as player:
            player.add([machinery.objects(each) for each in machine_facts([MACHINE])])
            eventually(
                lambda: any("a10g" in name for name in names(cluster, FLAVORS)), 60, what="the node has its flavors"
            )
            eventually(lambda: set(phases(cluster).values()) == {"Active"}, 60, what="its types are active")
            made, active = names(cluster, FLAVORS), phases(cluster)
            eventually(lambda: fit_labels(cluster), 30, what="its cards are told of in labels")
            fit = fit_labels(cluster)
            for name in player.names:
                player.remove(name)
            eventually(lambda: not names(cluster, FLAVORS), 60, what="they go with it")
            for name in active:
                cluster.api.delete(f"{TYPES}/{name}")
            eventually(lambda: not names(cluster, TYPES), 60, what="types go, and their queues")
        return Worked(made, active, fit, process.is_running, cluster.log("installed-worker", 2000))
    finally:
        process.stop()


def helm(
    cluster: Cluster, verb: str, chart: Path | None = None, values: dict[str, Any] | None = None
) -> dict[str, Any]:
    asked = {
        "verb": verb,
        "kubeconfig": str(cluster.kubeconfig),
        "namespace": NAMESPACE,
        "release": RELEASE,
        "chart": str(chart),
        "values": values or {},
    }
    done = cluster.run([sys.executable, str(Path(__file__).with_name("helm_release.py"))], given=json.dumps(asked))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def phases(cluster: Cluster) -> dict[str, str]:
    found = cluster.api.find(TYPES) or {"items": []}
    return {each["metadata"]["name"]: each.get("status", {}).get("phase", "") for each in found["items"]}


def fit_labels(cluster: Cluster) -> dict[str, str]:
    labels = cluster.api.get("/api/v1/nodes/node-a10g")["metadata"]["labels"]
    return {key: value for key, value in labels.items() if ".fit." in key}


def names(cluster: Cluster, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in cluster.api.get(path)["items"]}


def test_the_api_server_takes_every_object_and_lets_the_pod_into_a_restricted_namespace(
    cluster: Cluster, installed: Rendered
) -> None:
    assert {each["metadata"]["name"] for each in installed.of("ConfigMap")} <= names(cluster, CONFIG_MAPS)
    eventually(
        lambda: any(name.startswith(WORKER) for name in names(cluster, PODS)), what="the Deployment has made its Pod"
    )


def test_a_worker_with_the_charts_rights_and_arguments_builds_the_chain(worked: Worked) -> None:
    assert any("a10g" in name for name in worked.flavors)
    assert worked.phases == {"gpustack--generic-linux-amd64": "Active", "gpustack--nvidia-a10g-linux-amd64": "Active"}
    assert sorted(worked.fit.values()) == ["1", "1600000"]
    assert worked.is_running
    assert "orbidden" not in worked.log, worked.log


def test_an_upgrade_brings_a_new_pack_and_old_values_go_on(cluster: Cluster, installed: Rendered, chart: Path) -> None:
    pack = "# ids: 19e5, 1e3\napiVersion: rules.gpustack.ai/v1alpha1\n"
    before = cluster.api.get(DEPLOYMENT)["metadata"]["uid"]
    helm(cluster, "upgrade", chart, {**VALUES, "packs": {"acme": pack}})
    live = cluster.api.get(f"{CONFIG_MAPS}/engine-pack-extra-acme")
    assert live["data"] == {"acme.yaml": pack}
    assert cluster.api.get(DEPLOYMENT)["metadata"]["uid"] == before
    helm(cluster, "upgrade", chart, VALUES)
    assert cluster.api.find(f"{CONFIG_MAPS}/engine-pack-extra-acme") is None


def test_the_objects_of_the_kueue_below_are_accepted(cluster: Cluster, chart: Path, installed: Rendered) -> None:
    import helm_python

    with helm_python.Chart.load(chart) as loaded:
        # Under another name, because the testbed's own webhooks have the usual one and point elsewhere.
        texts = loaded.render({"kueue": {"fullnameOverride": "other"}}, name=RELEASE, namespace=NAMESPACE)
    manifest = "\n---\n".join(text for name, text in sorted(texts.items()) if not name.endswith("NOTES.txt"))
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--filename=-", given=manifest)


def test_an_uninstall_leaves_definitions_and_settings(
    cluster: Cluster, installed: Rendered, chart: Path, worked: Worked
) -> None:
    before = names(cluster, DEFINITIONS)
    assert "instancetypes.worker.gpustack.ai" in before
    helm(cluster, "uninstall")
    assert cluster.api.find(DEPLOYMENT) is None
    assert not {each["metadata"]["name"] for each in installed.of("ConfigMap")} & names(cluster, CONFIG_MAPS)
    assert names(cluster, DEFINITIONS) == before
    assert cluster.api.find(f"/api/v1/namespaces/{NAMESPACE}/secrets/gpustack-settings") is not None
    # and it can come back over what it left
    helm(cluster, "install", chart, VALUES)
    assert cluster.api.find(DEPLOYMENT) is not None
