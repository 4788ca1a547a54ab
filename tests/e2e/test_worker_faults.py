"""The whole worker on a real control plane while everything around it breaks: the end is that of an undisturbed run.

Nobody who was admitted is evicted by mistake, and at rest nothing is written. One short case runs with `make test`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.api import ApiError
from tests.cluster.boot import install
from tests.cluster.cluster import Cluster
from tests.cluster.components import KUEUE as KUEUE_PROCESS
from tests.cluster.components import kueue as kueue_command
from tests.cluster.kueue_files import KueueFiles
from tests.cluster.layout import REPOSITORY
from tests.cluster.machines import Machinery, machine_facts
from tests.cluster.player import NodePlayer
from tests.e2e.fault_scene import GPU_JOB, JOBS, Scene, scene
from tests.e2e.live import A10G, CUSTOM_TYPE, FEATURES, KUEUE, T4, WALKTHROUGH, WORKER, Live
from tests.e2e.waiting import eventually

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(480)]
faults = pytest.mark.faults

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/gpustack-system/leases/worker.gpustack.ai"
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
PHASE = "topology.gpustack.ai/migration-phase"
YEAR_SECONDS = 365 * 24 * 3600
HOOK_PORT = 9555
REFUSED_TYPES = {
    '{"unitResources": {"cpu": "-1", "ram": "1Gi"}}': "must be a positive integer with no unit suffix",
    '{"unitResources": {"cpu": "1", "ram": "lots"}}': "must be a positive integer with a case-sensitive",
    '{"unitResources": "none"}': "unitResources",
    '{"acceleratorGroup": ""}': "must be specified when acceleratable is true",
    '{"os": ""}': "must be specified",
    '{"acceleratorGroup": "%s"}' % ("g" * 300): "Too long",
}
"""By what is wrong with a type, as JSON."""


@pytest.fixture(scope="module")
def rest(cluster: Cluster, machinery: Machinery) -> Iterator[Scene]:
    """At rest; the tests that need Jobs submit them once."""
    with scene(cluster, machinery) as made:
        yield made


@pytest.fixture
def busy(rest: Scene) -> Scene:
    """With a Job admitted in each queue, and a photograph of that."""
    for name in rest.evicted():
        rest.drop(name)  # by a test that failed
    missing = {name: job for name, job in (JOBS | GPU_JOB).items() if name not in rest.uids}
    if missing:
        rest.submit(missing)
        rest.is_quiet()
        rest.at_rest = rest.photo()
    return rest


def test_a_killed_worker_a_killed_api_server_and_a_paused_store_change_nothing(busy: Scene) -> None:
    busy.live.worker.kill()
    busy.live.worker.start_again()
    busy.cluster.restart("kube-apiserver", kill=True)
    busy.cluster.pause("etcd")
    time.sleep(4)
    busy.cluster.resume("etcd")
    busy.comes_back()


@faults
def test_a_store_that_is_paused_for_longer_than_any_lease_lasts(busy: Scene) -> None:
    busy.cluster.pause("etcd")
    time.sleep(40)
    busy.cluster.resume("etcd")
    busy.comes_back()


@faults
def test_an_api_server_that_is_restarted_three_times_while_a_node_leaves_and_comes(busy: Scene) -> None:
    """The Job on a CPU may be on that node, and then has to move."""
    for value in ("false", "true", "true"):
        busy.live.mark(value, "node-cpu")
        busy.cluster.restart("kube-apiserver", kill=True)
        busy.cluster.compact()
        time.sleep(2)
    busy.comes_back(evicts={"on-cpu"})


@faults
def test_two_workers_of_which_one_is_paused_and_wakes_under_the_other(busy: Scene) -> None:
    first = busy.live.worker
    holder = busy.api.get(LEASE)["spec"]["holderIdentity"]
    second = busy.cluster.spawn("engine-worker-2", [*first.told()["argv"], "--secure-port", "0"])
    try:
        time.sleep(5)
        first.pause()
        eventually(lambda: busy.api.get(LEASE)["spec"].get("holderIdentity") not in (holder, "", None), 60)
        first.resume()
        assert first.wait(30) == 1, "it has lost its lease, and says so"
        busy.comes_back()
    finally:
        first.resume()
        second.stop()


@faults
@pytest.mark.parametrize("moved", ["a-year-ahead", "a-year-back", "an-hour-slept"])
def test_a_worker_whose_clock_jumps(busy: Scene, tmp_path: Path, moved: str) -> None:
    first, file = busy.live.worker, tmp_path / "moved"
    argv = [sys.executable, "-m", "tests.e2e.jumping_worker", str(file), *first.told()["argv"][3:]]
    first.stop()
    jumping = busy.cluster.spawn(f"engine-worker-{moved}", argv)
    busy.workers = [jumping]
    try:
        eventually(lambda: busy.api.get(LEASE)["spec"].get("holderIdentity"), 60, what="it leads")
        time.sleep(5)
        skew_seconds = {"a-year-ahead": YEAR_SECONDS, "a-year-back": -YEAR_SECONDS}.get(moved, 0)
        file.write_text(f"{skew_seconds} {3600 if moved == 'an-hour-slept' else 0}", "utf-8")
        busy.api.delete(f"{KUEUE}/namespaces/default/localqueues/{_door(busy, A10G)}")
        time.sleep(15)
        busy.comes_back()
    finally:
        jumping.stop()
        busy.workers = [first]
        first.start_again()


@faults
@pytest.mark.parametrize("plural", ["instancetypeflavors", "devices"])
def test_a_definition_that_is_deleted_comes_back_with_what_was_of_its_kind(
    busy: Scene, machinery: Machinery, plural: str
) -> None:
    path = f"{CRDS}/{plural}.worker.gpustack.ai"
    uid = busy.api.get(path)["metadata"]["uid"]
    busy.api.delete(path)
    eventually(lambda: (busy.api.find(path) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, 60)
    busy.cluster.wait_served("worker.gpustack.ai/v1", plural)
    if plural == "devices":
        busy.play(machinery)  # as their device managers do: they bring an object that is absent
    busy.comes_back()


@faults
def test_the_definition_of_types_that_is_deleted_takes_their_queues_along_and_all_comes_back(busy: Scene) -> None:
    """It deletes each type, and a type that goes takes its queue along: Jobs are evicted, and admitted anew."""
    path = f"{CRDS}/instancetypes.worker.gpustack.ai"
    uid = busy.api.get(path)["metadata"]["uid"]
    busy.api.delete(path)
    eventually(lambda: (busy.api.find(path) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, 120)
    for name in busy.uids:
        eventually(lambda name=name: busy.live.is_admitted(name), 180, what=f"{name} is admitted again")
    busy.comes_back(seconds=240, evicts={"on-cpu", "on-t4", "on-a10g"})


@faults
def test_a_queue_that_an_admin_deletes_comes_back_and_its_job_runs_again(busy: Scene) -> None:
    uid = busy.api.get(f"{KUEUE}/clusterqueues/{A10G}")["metadata"]["uid"]
    busy.api.delete(f"{KUEUE}/clusterqueues/{A10G}")
    eventually(
        lambda: (
            (busy.api.find(f"{KUEUE}/clusterqueues/{A10G}") or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid
        ),
        90,
        what="another queue of that name",
    )
    eventually(lambda: busy.live.is_admitted("on-a10g"), 90, what="its Job is admitted again")
    busy.comes_back(evicts={"on-a10g"})


@faults
def test_a_node_that_flaps_fifty_times(busy: Scene) -> None:
    status = "/api/v1/nodes/node-t4-b/status"
    for number in range(100):
        ready = {"type": "Ready", "status": "False" if number % 2 == 0 else "True", "reason": "Flapping"}
        busy.api.patch(status, {"status": {"conditions": [ready]}}, "application/strategic-merge-patch+json")
        time.sleep(0.1)
    busy.comes_back()


@faults
def test_an_idle_node_that_is_deleted_and_comes_back_and_then_as_another(busy: Scene, machinery: Machinery) -> None:
    (facts,) = (each for each in machine_facts([WALKTHROUGH]) if each.name == "node-t4-b")
    used = _used_flavors(busy, T4)
    if any(name.endswith("-4d") for name in used):
        pytest.skip("the Job is on that node")
    busy.live.player.remove("node-t4-b")
    time.sleep(3)
    busy.live.player.add([machinery.objects(facts)])
    busy.comes_back()
    busy.live.player.remove("node-t4-b")
    busy.live.player.add([machinery.objects(replace(facts, name="node-t4-c"))])
    eventually(lambda: "nvidia.com/gpu.sliced.units" in _allocatable(busy, "node-t4-c"), 90)
    eventually(lambda: busy.api.find(f"{FEATURES}/node-t4-b-gpustack-worker") is None, 60)
    assert busy.evicted() == []
    busy.live.player.remove("node-t4-c")
    busy.live.player.add([machinery.objects(facts)])
    busy.comes_back()


@faults
def test_a_foreign_webhook_on_our_kinds_that_is_slow_and_then_fails(busy: Scene, tmp_path: Path) -> None:
    mode, pki = tmp_path / "mode", busy.cluster.pki
    mode.write_text("slow", "utf-8")
    pki.sign("policy", "/CN=policy", ("DNS:localhost", "IP:127.0.0.1"))
    argv = [sys.executable, str(REPOSITORY / "tests" / "e2e" / "foreign_webhook.py")]
    hook = busy.cluster.spawn(
        "policy", [*argv, str(pki.certificate("policy")), str(pki.key("policy")), str(HOOK_PORT), str(mode)]
    )
    rule = {
        "apiGroups": ["worker.gpustack.ai"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["*", "*/status"],
    }
    webhook = {
        "name": "policy.acme.com",
        "clientConfig": {"url": f"https://localhost:{HOOK_PORT}/", "caBundle": pki.bundle()},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 5,
    }
    busy.api.post(HOOKS, {"metadata": {"name": "policy.acme.com"}, "webhooks": [webhook]})
    try:
        eventually(lambda: _took_cards(busy, "node-t4-b"), 30, what="the webhook answers")
        eventually(lambda: busy.live.types()[T4][2] != "4/5", 60, what="the views follow, if slowly")
        mode.write_text("failing", "utf-8")
        busy.live.set(instance_type_aware_cpu_manufacturer="true")  # it wants five more types
        eventually(lambda: busy.cluster.log("policy", 500).count('" 500 ') > 5, 60, what="its writes fail")
        busy.live.set(instance_type_aware_cpu_manufacturer="false")
        time.sleep(10)
        assert busy.live.worker.is_running
    finally:
        busy.api.delete(f"{HOOKS}/policy.acme.com")
        hook.stop()
    time.sleep(1)
    busy.live.take_cards("node-t4-b", mode=0, remaining=1600000)
    busy.comes_back()


@faults
def test_a_worker_killed_in_a_migration_is_followed_to_its_end(busy: Scene) -> None:
    def phase() -> str:
        queue = busy.api.get(f"{KUEUE}/clusterqueues/{A10G}")
        return str((queue["metadata"].get("annotations") or {}).get(PHASE, ""))

    busy.live.mark("false")
    busy.kill_when(phase, "a drain has begun")
    busy.live.worker.start_again()
    eventually(lambda: phase() == "switched", 120, what="the drain is over")
    eventually(lambda: busy.live.is_suspended("on-a10g"), 60, what="its Job was drained")
    busy.live.mark("true")
    busy.kill_when(lambda: busy.live.policy(A10G) != "HoldAndDrain" or not phase(), "the queue is about to be open")
    busy.live.worker.start_again()
    eventually(lambda: busy.live.is_admitted("on-a10g"), 120, what="its Job is admitted again")
    busy.comes_back(evicts={"on-a10g", "on-cpu"})


@faults
def test_objects_that_nobody_should_have_written_are_refused_or_told_of(busy: Scene) -> None:
    """What schemas can refuse never gets in; of the rest people are told, and what is there already does not notice."""
    api = busy.api
    fine = CUSTOM_TYPE["spec"]
    for change, why in REFUSED_TYPES.items():
        with pytest.raises(ApiError, match=why):
            api.post(f"{WORKER}/instancetypes", CUSTOM_TYPE | {"spec": fine | json.loads(change)})
    device = api.get(f"{WORKER}/devices/node-t4-a")
    for change in ({"cores": -1}, {"memory": -5}, {"cores": 10**30}):
        groups = [group | change for group in device["spec"]["groups"]]
        with pytest.raises(ApiError, match="422"):
            api.patch(f"{WORKER}/devices/node-t4-a", {"spec": {"groups": groups}})
    rows = [
        {**group, "accelerators": [card | {"mode": 77} for card in group["accelerators"]]}
        for group in device["status"]["groups"]
    ]
    with pytest.raises(ApiError, match="422"):
        api.patch(f"{WORKER}/devices/node-t4-a/status", {"status": {"groups": rows}})

    odd = CUSTOM_TYPE | {"metadata": {"name": "odd"}, "spec": fine | {"acceleratorGroup": "g" * 100}}
    api.post(f"{WORKER}/instancetypes", odd)
    labels = {"nfd.node.kubernetes.io/node-name": "node-cpu"}
    asked = {"acme.example.com/long": "v" * 64, "acme.example.com/" + "k" * 64: "x", "acme.example.com/full": "v" * 63}
    api.post(
        FEATURES,
        {
            "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
            "kind": "NodeFeature",
            "metadata": {"name": "node-cpu-odd", "labels": labels},
            "spec": {"labels": asked},
        },
    )
    try:
        eventually(lambda: _is_told(busy, "SpecRefused", "odd"), 60, what="an Event on the type")
        eventually(lambda: _is_told(busy, "FeatureRejected", "node-cpu"), 60, what="an Event on the node")
        shown = eventually(lambda: api.get(f"{WORKER}/instancetypes/odd").get("status"), 30, what="its status")
        assert (shown["phase"], "delete the InstanceType" in shown["phaseMessage"]) == ("Inactive", True)
        node = api.get("/api/v1/nodes/node-cpu")["metadata"]["labels"]
        assert [key for key in asked if key in node] == ["acme.example.com/full"]
    finally:
        api.delete(f"{WORKER}/instancetypes/odd")
        api.delete(f"{FEATURES}/node-cpu-odd")
    busy.comes_back()


POINTS: dict[str, Callable[[Live], object]] = {
    "definitions": lambda live: live.api.find(f"{CRDS}/devices.worker.gpustack.ai"),
    "node-feature": lambda live: any(name.endswith("-gpustack-worker") for name in live.names(FEATURES)),
    "node": lambda live: any(_is_keyed(each) for each in live.api.get("/api/v1/nodes")["items"]),
    "topology": lambda live: live.names(f"{KUEUE}/topologies"),
    "flavor": lambda live: live.names(f"{KUEUE}/resourceflavors"),
    "type": lambda live: live.names(f"{WORKER}/instancetypes"),
    "queue": lambda live: live.names(f"{KUEUE}/clusterqueues"),
}


@faults
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_as_soon_as_the_first_of_something_is_there(
    rest: Scene, machinery: Machinery, point: str
) -> None:
    if rest.uids:
        for name in list(rest.uids):
            rest.drop(name)
        rest.is_quiet()
        rest.at_rest = rest.photo()
    rest.cold()
    if point == "definitions":
        for each in rest.api.get(CRDS)["items"]:
            if each["spec"]["group"] == "worker.gpustack.ai":
                rest.api.delete(f"{CRDS}/{each['metadata']['name']}")
        eventually(lambda: rest.api.find(f"{CRDS}/devices.worker.gpustack.ai") is None, 30)
    rest.live.worker.start_again()
    if point != "definitions":
        rest.play(machinery)
    rest.kill_when(lambda: POINTS[point](rest.live), f"the first {point}")
    if point == "definitions":
        rest.play(machinery)
    rest.live.worker.start_again()
    rest.comes_back(seconds=240)


@faults
def test_a_kueue_that_is_not_there_yet(rest: Scene, machinery: Machinery) -> None:
    """A cluster of its own: nodes are labelled and counted, and with Kueue all the rest follows."""
    with Cluster.start(with_kueue=False) as cluster, NodePlayer(cluster.api) as player:
        argv = [sys.executable, "-m", "engine", "worker", "--kubeconfig", str(cluster.kubeconfig)]
        live = Live(cluster, player, cluster.spawn("engine-worker", argv))
        player.add([machinery.objects(each) for each in machine_facts([WALKTHROUGH])])
        eventually(
            lambda: all(_is_keyed(each) for each in cluster.api.get("/api/v1/nodes")["items"]), 120, what="labels"
        )
        time.sleep(5)
        assert live.names(f"{WORKER}/instancetypes") == set()
        files = KueueFiles(cluster.folder, cluster.pki, cluster.binaries)
        for crd in files.crds():
            install(cluster, CRDS, crd)
        files.prepare(None)
        for webhook in files.webhooks():
            install(cluster, f"/apis/admissionregistration.k8s.io/v1/{webhook['kind'].lower()}s", webhook)
        for crd in files.crds():
            served = f"{crd['spec']['group']}/{crd['spec']['versions'][-1]['name']}"
            cluster.wait_served(served, crd["spec"]["names"]["plural"], 60)
        cluster.spawn(KUEUE_PROCESS, kueue_command(cluster.binaries, cluster.folder, files.certificates))
        cluster.wait_ready(KUEUE_PROCESS)
        late = Scene.__new__(Scene)
        late.live, late.cluster, late.api, late.workers, late.uids = live, cluster, cluster.api, [live.worker], {}
        jobless = rest.at_rest if not rest.uids else None
        eventually(lambda: {row[-1] for row in live.types().values()} == {"Active"}, 180, what="all types are active")
        if jobless is not None:
            late.comes_back(seconds=180, to=jobless)
        late.is_quiet()


def _took_cards(scene: Scene, node: str) -> bool:
    """Whether the device manager may write that all cards of a node are taken."""
    try:
        scene.live.take_cards(node, mode=1, remaining=0)
    except ApiError:
        return False
    return True


def _is_told(scene: Scene, reason: str, name: str) -> bool:
    events = scene.api.get("/apis/events.k8s.io/v1/events")["items"]
    return any(each["reason"] == reason and each["regarding"]["name"] == name for each in events)


def _door(scene: Scene, queue: str) -> str:
    """The LocalQueue of a queue in the namespace default."""
    return str(scene.api.get(f"{WORKER}/instancetypes/{queue}")["status"]["entrance"])


def _used_flavors(scene: Scene, queue: str) -> set[str]:
    usage = scene.api.get(f"{KUEUE}/clusterqueues/{queue}")["status"].get("flavorsReservation") or ()
    return {each["name"] for each in usage if any(str(one["total"]) != "0" for one in each["resources"])}


def _allocatable(scene: Scene, node: str) -> dict[str, str]:
    found = scene.api.find(f"/api/v1/nodes/{node}")
    return found["status"]["allocatable"] if found else {}


def _is_keyed(node: dict[str, dict[str, dict[str, str]]]) -> bool:
    return any(key.startswith("general.feature.gpustack.ai/") for key in node["metadata"].get("labels") or {})
