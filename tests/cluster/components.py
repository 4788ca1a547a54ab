"""The commands of the control plane: what each component is started with, and when it is ready.

Starting them, and in which order, is `cluster`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.cluster.binaries import Binaries
from tests.cluster.certificates import AUTHORITY, FRONT_PROXY, Pki
from tests.cluster.errors import ClusterError
from tests.cluster.layout import (
    ADVERTISED,
    API_PORT,
    ETCD_PEER_PORT,
    ETCD_PORT,
    KUEUE_HEALTH_PORT,
    SERVICE_RANGE,
    Folder,
)

ETCD, API, MANAGER, SCHEDULER, KUEUE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kueue",
)
COMPONENTS: Final = (ETCD, API, MANAGER, SCHEDULER, KUEUE)

HEALTH: Final = {ETCD: (ETCD_PORT, "/health"), KUEUE: (KUEUE_HEALTH_PORT, "/readyz")}
"""Where a component says that it is ready, without TLS. The API server is asked with a certificate; the controller-manager
and the scheduler serve nothing."""

API_ENVIRONMENT: Final = {"GOGC": "400", "GOMEMLIMIT": "3GiB"}
"""The garbage of a small heap is collected all the time: 2 ms of the 7 ms that a write costs. Measured with 400 nodes."""

_ETCD_URL: Final = f"http://127.0.0.1:{ETCD_PORT}"
_PEER_URL: Final = f"http://127.0.0.1:{ETCD_PEER_PORT}"


def component(name: str) -> str:
    """A component's name from what a person types: `kueue`, `apiserver`. Raises ClusterError."""
    for each in COMPONENTS:
        if name in (each, each.removeprefix("kube-")):
            return each
    raise ClusterError(f"there is no component {name}; there are {', '.join(COMPONENTS)}")


def etcd(binaries: Binaries, folder: Folder) -> list[str]:
    return [
        str(binaries.path(ETCD)),
        f"--data-dir={folder.etcd}",
        f"--listen-client-urls={_ETCD_URL}",
        f"--advertise-client-urls={_ETCD_URL}",
        f"--listen-peer-urls={_PEER_URL}",
        f"--initial-advertise-peer-urls={_PEER_URL}",
        f"--initial-cluster=default={_PEER_URL}",
        "--unsafe-no-fsync",  # nothing here outlives the machine
        "--log-level=warn",
    ]


def kube_apiserver(binaries: Binaries, pki: Pki) -> list[str]:
    """Shape: the front-proxy flags let a local process serve an aggregated API."""
    return [
        str(binaries.path(API)),
        f"--etcd-servers={_ETCD_URL}",
        "--bind-address=127.0.0.1",
        f"--advertise-address={ADVERTISED}",
        f"--secure-port={API_PORT}",
        f"--client-ca-file={pki.certificate(AUTHORITY)}",
        f"--tls-cert-file={pki.certificate(API)}",
        f"--tls-private-key-file={pki.key(API)}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki.account_public}",
        f"--service-account-signing-key-file={pki.account_key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        f"--requestheader-client-ca-file={pki.certificate(FRONT_PROXY)}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki.certificate('front-proxy-client')}",
        f"--proxy-client-key-file={pki.key('front-proxy-client')}",
        f"--kubelet-client-certificate={pki.certificate('admin')}",
        f"--kubelet-client-key={pki.key('admin')}",
        "--kubelet-preferred-address-types=InternalIP",
    ]


def kube_controller_manager(binaries: Binaries, folder: Folder, pki: Pki) -> list[str]:
    return [
        str(binaries.path(MANAGER)),
        f"--kubeconfig={folder.kubeconfig(MANAGER)}",
        f"--service-account-private-key-file={pki.account_key}",
        f"--root-ca-file={pki.certificate(AUTHORITY)}",
        "--use-service-account-credentials",
        "--leader-elect=false",
        "--secure-port=0",
        f"--cluster-signing-cert-file={pki.certificate(AUTHORITY)}",
        f"--cluster-signing-key-file={pki.key(AUTHORITY)}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def kube_scheduler(binaries: Binaries, folder: Folder) -> list[str]:
    return [
        str(binaries.path(SCHEDULER)),
        f"--kubeconfig={folder.kubeconfig(SCHEDULER)}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def kueue(binaries: Binaries, folder: Folder, certificates: Path) -> list[str]:
    """Kueue reads the certificate of its metrics from a fixed path below /etc, so it gets an /etc of its own: a mount that
    only this process has, and that ends with it. Shape: `certificates` holds tls.crt and tls.key.
    """
    script = (
        "mount -t tmpfs tmpfs /etc && echo '127.0.0.1 localhost' > /etc/hosts && mkdir -p /etc/kueue/metrics"
        ' && ln -s "$1" /etc/kueue/metrics/certs && shift && exec "$@"'
    )
    command = [
        str(binaries.path(KUEUE)),
        f"--config={folder.kueue_configuration}",
        f"--kubeconfig={folder.kubeconfig('admin')}",
    ]
    return ["unshare", "--mount", "sh", "-c", script, "sh", str(certificates), *command]
