"""From an empty world to a cluster that works: the order in which things are started and installed.

What each component is started with is `components`; afterwards nothing here is needed any more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.cluster import components
from tests.cluster.api import ApiError
from tests.cluster.components import API, ETCD, KUEUE, MANAGER, SCHEDULER
from tests.cluster.errands import LOST
from tests.cluster.errors import ClusterError
from tests.cluster.kueue_files import KueueFiles
from tests.cluster.layout import KUEUE_NAMESPACE, SYSTEM_NAMESPACE
from tests.cluster.node_features import node_feature_crd

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

ACCOUNT_SECONDS: Final = 90.0
INSTALL_SECONDS: Final = 90.0
_NOT_YET: Final = (403, 404, 429, 500, 503, 504)
"""What an API server answers while it starts."""
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
    cluster.spawn(API, components.kube_apiserver(binaries, pki), env=components.API_ENVIRONMENT)
    files = KueueFiles(folder, pki, binaries)
    with ThreadPoolExecutor(16) as pool:
        # Kinds go in as soon as the API server listens: the largest of Kueue's takes it seconds to digest, and while it
        # does so it can become ready. The rules are linked at the same time.
        crds = files.crds() if with_kueue else []
        asked = [pool.submit(install, cluster, _CRDS, each) for each in (*crds, node_feature_crd())]
        for name in (SYSTEM_NAMESPACE, KUEUE_NAMESPACE):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            asked.append(pool.submit(install, cluster, "/api/v1/namespaces", namespace))
        prepared = pool.submit(files.prepare, kueue_configuration) if with_kueue else None
        cluster.wait_ready(API)
        done(API)
        cluster.spawn(MANAGER, components.kube_controller_manager(binaries, folder, pki))
        cluster.spawn(SCHEDULER, components.kube_scheduler(binaries, folder))
        for each in asked:
            each.result()
        if prepared is not None:
            prepared.result()
            for webhook in files.webhooks():
                install(cluster, f"{_WEBHOOKS}/{webhook['kind'].lower()}s", webhook)
            for crd in crds:
                group = f"{crd['spec']['group']}/{crd['spec']['versions'][-1]['name']}"
                cluster.wait_served(group, crd["spec"]["names"]["plural"])
            done("kinds")
            cluster.spawn(KUEUE, components.kueue(binaries, folder, files.certificates))
            cluster.wait_ready(KUEUE)
            done(KUEUE)
    _wait_account(cluster)
    done("ready")
    _write_commands(cluster)
    told = {"binaries": str(binaries.folder), "timings": cluster.timings}
    folder.state.write_text(json.dumps(told), "utf-8")


def install(cluster: Cluster, path: str, body: dict[str, Any]) -> None:
    """Tried until the API server, which may only be starting, takes it. Raises ClusterError."""
    deadline = time.monotonic() + INSTALL_SECONDS
    while True:
        try:
            cluster.api.post(path, body)
        except ApiError as error:
            if error.reason == "AlreadyExists":
                return
            if error.status not in _NOT_YET or time.monotonic() > deadline:
                raise
        except LOST as error:
            if time.monotonic() > deadline:
                raise ClusterError(f"{path}: {error}; its log ends:\n{cluster.log(API)}") from error
        else:
            return
        time.sleep(0.1)


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
