"""From an empty world to a cluster that works: the order in which things are started and installed.

What each component is started with is `components`; afterwards nothing here is needed any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.cluster import components
from tests.cluster.api import Api, ApiError
from tests.cluster.components import API, ETCD, KUEUE, MANAGER, SCHEDULER
from tests.cluster.errors import ClusterError
from tests.cluster.kueue_files import KueueFiles
from tests.cluster.layout import KUEUE_NAMESPACE, SYSTEM_NAMESPACE
from tests.cluster.node_features import node_feature_crd

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

ACCOUNT_SECONDS: Final = 90.0
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS: Final = "/apis/admissionregistration.k8s.io/v1"


def boot(
    cluster: Cluster,
    begun: float,
    say: Callable[[str], None],
    *,
    with_kueue: bool,
    kueue_configuration: Path | None,
) -> None:
    """Starts everything; returns when Pods can be made and queues answer. Raises ClusterError."""

    def done(step: str) -> None:
        cluster.timings[step] = round(time.monotonic() - begun, 2)
        say(f"{step} after {cluster.timings[step]:.1f} s")

    done("certificates")
    binaries, folder, pki = cluster.binaries, cluster.folder, cluster.pki
    cluster.spawn(ETCD, components.etcd(binaries, folder))
    cluster.spawn(API, components.kube_apiserver(binaries, pki))
    files = KueueFiles(folder, pki, binaries)
    with ThreadPoolExecutor(16) as pool:
        # rules are linked while the API server starts
        prepared = pool.submit(files.prepare, kueue_configuration) if with_kueue else None
        cluster.wait_ready(API)
        done(API)
        cluster.spawn(MANAGER, components.kube_controller_manager(binaries, folder, pki))
        cluster.spawn(SCHEDULER, components.kube_scheduler(binaries, folder))
        asked = [pool.submit(_install, cluster.api, _CRDS, node_feature_crd())]
        for name in (SYSTEM_NAMESPACE, KUEUE_NAMESPACE):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            asked.append(pool.submit(_install, cluster.api, "/api/v1/namespaces", namespace))
        if prepared is not None:
            prepared.result()
            _start_kueue(cluster, files, pool, asked)
            done(KUEUE)
        for each in asked:
            each.result()
    _wait_account(cluster)
    done("ready")
    _write_commands(cluster)
    told = {"binaries": str(binaries.folder), "timings": cluster.timings}
    folder.state.write_text(json.dumps(told), "utf-8")


def _start_kueue(cluster: Cluster, files: KueueFiles, pool: ThreadPoolExecutor, asked: list[Future[None]]) -> None:
    crds = files.crds()
    asked += [pool.submit(_install, cluster.api, _CRDS, each) for each in crds]
    for each in asked:
        each.result()
    for crd in crds:
        group = f"{crd['spec']['group']}/{crd['spec']['versions'][-1]['name']}"
        cluster.wait_served(group, crd["spec"]["names"]["plural"])
    for each in files.webhooks():
        _install(cluster.api, f"{_WEBHOOKS}/{each['kind'].lower()}s", each)
    cluster.spawn(KUEUE, components.kueue(cluster.binaries, cluster.folder, files.certificates))
    cluster.wait_ready(KUEUE)


def _install(api: Api, path: str, body: dict[str, Any]) -> None:
    try:
        api.post(path, body)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise


def _wait_account(cluster: Cluster) -> None:
    """Pods of a namespace wait for its account, which the controller-manager makes."""
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while cluster.api.find("/api/v1/namespaces/default/serviceaccounts/default") is None:
        if time.monotonic() > deadline:
            raise ClusterError(f"{MANAGER} made no service account; its log ends:\n{cluster.log(MANAGER)}")
        time.sleep(0.05)


def _write_commands(cluster: Cluster) -> None:
    """`kubectl` for a shell: the network is private, so it must run inside."""
    folder = cluster.folder
    folder.commands.mkdir(exist_ok=True)
    inside = " ".join(cluster.world.command([str(cluster.binaries.path("kubectl"))], Path("/")))
    inside = inside.replace("--wd=/", '--wd="$PWD"')
    script = folder.commands / "kubectl"
    script.write_text(f'#!/bin/sh\nexec {inside} --kubeconfig="${{KUBECONFIG:-{cluster.kubeconfig}}}" "$@"\n', "utf-8")
    script.chmod(0o755)
