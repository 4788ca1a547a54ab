"""Where a run keeps its files, and on which ports its processes listen.

Ports are fixed: every run has a network of its own, so two never meet. Nothing is created here.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
MODULES: Final = Path(__file__).resolve().parent / "modules"

ETCD_PORT: Final = 2379
ETCD_PEER_PORT: Final = 2380
API_PORT: Final = 6443
KUEUE_WEBHOOK_PORT: Final = 9443
KUEUE_HEALTH_PORT: Final = 8081
KUEUE_METRICS_PORT: Final = 8443

API_SERVER: Final = f"https://127.0.0.1:{API_PORT}"
SERVICE_RANGE: Final = "10.0.0.0/16"
FIRST_SERVICE: Final = "10.0.0.1"
ADVERTISED: Final = "10.99.0.1"
"""The API server wants an address that is no loopback; with no default route it must be told one, and any will do."""

SYSTEM_NAMESPACE: Final = "gpustack-system"
KUEUE_NAMESPACE: Final = "kueue-system"


def cache_home() -> Path:
    """Where binaries are kept, outside the tree: `ENGINE_CLUSTER_CACHE`, or a folder of the user's cache."""
    given = os.environ.get("ENGINE_CLUSTER_CACHE")
    if given:
        return Path(given).resolve()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "engine-cluster"


def runs_home() -> Path:
    """Where runs are kept: short, because the path of a socket has at most 107 bytes."""
    given = os.environ.get("ENGINE_CLUSTER_RUNS")
    return Path(given).resolve() if given else Path(tempfile.gettempdir()) / f"engine-cluster-{os.getuid()}"


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of one run."""

    path: Path

    @classmethod
    def named(cls, name: str) -> Folder:
        return cls(runs_home() / name)

    @property
    def control_socket(self) -> Path:
        return self.path / "control.sock"

    @property
    def pki(self) -> Path:
        return self.path / "pki"

    @property
    def logs(self) -> Path:
        return self.path / "log"

    @property
    def etcd(self) -> Path:
        return self.path / "etcd"

    @property
    def commands(self) -> Path:
        """Commands for a user's PATH: each runs its namesake inside."""
        return self.path / "bin"

    @property
    def kueue_configuration(self) -> Path:
        return self.path / "kueue.json"

    @property
    def state(self) -> Path:
        return self.path / "cluster.json"

    def kubeconfig(self, user: str) -> Path:
        return self.path / f"{user}.kubeconfig"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"
