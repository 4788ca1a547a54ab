"""A real control plane in a private world: etcd, API server, controller-manager, scheduler, Kueue.

`Cluster.start()` makes one that ends with this process; `attach` finds one that the command line started. Nodes are played
by `player`; machines are not known here.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.cluster.api import Api, ApiError
from tests.cluster.binaries import Binaries, find
from tests.cluster.boot import boot
from tests.cluster.certificates import AUTHORITY, Pki, make_pki, write_kubeconfig
from tests.cluster.components import API, HEALTH, KUEUE
from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.kueue_files import KueueFiles
from tests.cluster.layout import API_PORT, ETCD_PORT, REPOSITORY, Folder
from tests.cluster.needs import missing_to_run
from tests.cluster.world import Process, World, is_alive, tail

READY_SECONDS: Final = 90.0
"""How long a component may take to be ready; a busy machine takes ten times the usual."""
_POLL_SECONDS: Final = 0.05


@dataclass(slots=True)
class Cluster:
    """A cluster that runs. Shape: `timings` are seconds since the start at which each step was done."""

    folder: Folder
    world: World
    binaries: Binaries
    pki: Pki
    api: Api
    timings: dict[str, float] = field(default_factory=dict)

    @classmethod
    def start(
        cls,
        name: str | None = None,
        *,
        detached: bool = False,
        with_kueue: bool = True,
        kueue_configuration: Path | None = None,
        say: Callable[[str], None] = lambda _line: None,
    ) -> Cluster:
        """A new cluster. Cost: about ten seconds.

        Raises: MissingError: this machine cannot run it, or the binaries are not built. ClusterError: it did not come up.
        """
        binaries = ready_binaries()
        folder = Folder.named(name or f"test-{os.getpid()}-{time.monotonic_ns() % 100_000}")
        begun = time.monotonic()
        world = World.make(folder, detached=detached)
        try:
            pki = make_pki(folder)
            made = cls(folder, world, binaries, pki, _admin(world, pki))
            boot(made, begun, say, with_kueue=with_kueue, kueue_configuration=kueue_configuration)
        except BaseException:
            world.stop()
            _forget(folder)
            raise
        return made

    @classmethod
    def attach(cls, name: str) -> Cluster:
        """A cluster that another process started. Raises ClusterError when it does not run."""
        folder = Folder.named(name)
        if not is_alive(folder) or not folder.state.exists():
            raise ClusterError(f"no cluster {name} runs; start it with `python -m tests.cluster up --name {name}`")
        told = json.loads(folder.state.read_text("utf-8"))
        world, pki = World(folder), Pki(folder.pki)
        binaries = Binaries(Path(told["binaries"]))
        return cls(folder, world, binaries, pki, _admin(world, pki), told["timings"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop(keep_logs=error is not None)

    def stop(self, *, keep_logs: bool = False) -> None:
        """Everything ends; keys and data go, logs too unless they are to be kept."""
        self.api.close()
        self.world.stop()
        if keep_logs:
            _forget(self.folder)
        else:
            shutil.rmtree(self.folder.path, ignore_errors=True)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.folder.kubeconfig("admin")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread, and what it starts, is in the cluster's network until the block ends."""
        with self.world.entered():
            yield

    def kubectl(self, *arguments: str, given: str | None = None, check: bool = True) -> str:
        """What kubectl prints. Shape: `given` is its standard input. Raises ClusterError when it fails and `check`."""
        argv = [str(self.binaries.path("kubectl")), f"--kubeconfig={self.kubeconfig}", *arguments]
        done = self.run(argv, given=given)
        if check and done.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def run(self, argv: Sequence[str], *, given: str | None = None) -> subprocess.CompletedProcess[str]:
        """A command inside, to its end; it cannot outlive the cluster."""
        return subprocess.run(self.world.command(argv), input=given, capture_output=True, text=True, check=False)

    def spawn(self, name: str, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> Process:
        """A process inside that may run on, with KUBECONFIG set; see `World.spawn`."""
        return self.world.spawn(name, argv, env={"KUBECONFIG": str(self.kubeconfig), **(env or {})}, cwd=REPOSITORY)

    def process(self, name: str) -> Process:
        """A component or a spawned process: kill, pause, resume, stop, wait."""
        return self.world.process(name)

    def restart(self, name: str, *, kill: bool = False, kueue_configuration: Path | None = None) -> None:
        """Ends a component and starts it anew; returns when it is ready. `kill`: by SIGKILL."""
        process = self.process(name)
        process.resume()
        if kill:
            process.kill()
        else:
            process.stop()
        if name == KUEUE and kueue_configuration is not None:
            KueueFiles(self.folder, self.pki, self.binaries).configure(kueue_configuration)
        process.start_again()
        self.wait_ready(name)

    def kill(self, name: str) -> None:
        self.process(name).kill()

    def pause(self, name: str) -> None:
        self.process(name).pause()

    def resume(self, name: str) -> None:
        self.process(name).resume()

    def log(self, name: str, lines: int = 50) -> str:
        """The end of a process's log."""
        return tail(self.folder.log(name), lines)

    def wait_ready(self, name: str, timeout_seconds: float = READY_SECONDS) -> None:
        """Until a component says that it is ready. Raises ClusterError with the end of its log."""
        deadline = time.monotonic() + timeout_seconds
        while not self._is_ready(name):
            if not self.process(name).is_running:
                raise ClusterError(f"{name} ended; its log ends:\n{self.log(name)}")
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{name} is not ready after {timeout_seconds:.0f} s; its log ends:\n{self.log(name)}"
                )
            time.sleep(_POLL_SECONDS)

    def compact(self) -> int:
        """Makes etcd forget the past: older resource versions are gone after this. The revision it compacted to."""
        revision = int(self._etcd("/v3/kv/range", {"key": "AA==", "count_only": True})["header"]["revision"])
        self._etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        return revision

    def account_kubeconfig(self, namespace: str, account: str) -> Path:
        """A kubeconfig with the token of a ServiceAccount, which must exist."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        told = self.api.post(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        file = self.folder.kubeconfig(f"{namespace}-{account}")
        write_kubeconfig(file, self.pki, account, {"token": told["status"]["token"]})
        return file

    def wait_served(self, group_version: str, plural: str, timeout_seconds: float = 30.0) -> None:
        """Until the API server serves a kind. Raises ClusterError."""
        deadline = time.monotonic() + timeout_seconds
        while not self.is_served(group_version, plural):
            if time.monotonic() > deadline:
                raise ClusterError(f"{plural} of {group_version} is not served")
            time.sleep(_POLL_SECONDS)

    def is_served(self, group_version: str, plural: str) -> bool:
        found = self.api.find(f"/apis/{group_version}")
        return found is not None and any(each["name"] == plural for each in found["resources"])

    def _is_ready(self, name: str) -> bool:
        with suppress(OSError, http.client.HTTPException, ApiError):
            if name == API:
                return self.api.text("/readyz") == "ok"
            if name not in HEALTH:
                return self.process(name).is_running
            port, path = HEALTH[name]
            with self._plain(port) as connection:
                connection.request("GET", path)
                return connection.getresponse().status == 200
        return False

    def _etcd(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._plain(ETCD_PORT) as connection:
            connection.request("POST", path, json.dumps(body))
            response = connection.getresponse()
            answer = response.read()
            if response.status != 200:
                raise ClusterError(f"etcd {path}: {answer.decode('utf-8', 'replace')}")
            told: dict[str, Any] = json.loads(answer)
            return told

    @contextmanager
    def _plain(self, port: int) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            with self.world.entered():
                connection.connect()
            yield connection
        finally:
            connection.close()


def ready_binaries() -> Binaries:
    """The binaries. Raises MissingError: they are not built, or this machine cannot run them."""
    lacks = missing_to_run()
    binaries = find()
    missing = binaries.missing()
    if missing:
        lacks.append(f"{', '.join(missing)} not built; run `python -m tests.cluster build` (about 15 minutes, once)")
    if lacks:
        raise MissingError(lacks)
    return binaries


def _admin(world: World, pki: Pki) -> Api:
    context = ssl.create_default_context(cafile=str(pki.certificate(AUTHORITY)))
    context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
    return Api(world, API_PORT, context)


def _forget(folder: Folder) -> None:
    """All but the logs."""
    for each in folder.path.iterdir() if folder.path.exists() else ():
        if each == folder.logs:
            continue
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)
