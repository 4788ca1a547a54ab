"""The control plane's binaries, built once from the pinned Go module and kept outside the tree.

The folder is named by what the binaries depend on: go.mod, go.sum, flags and the Go release. Beside them lie the CRDs and
webhooks of Kueue, taken from its module: the repository has no copy of them. Nothing is started here.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from tests.cluster.errors import ClusterError, MissingError
from tests.cluster.layout import MODULES, cache_home
from tests.cluster.modules.generate import KUBERNETES
from tests.cluster.needs import missing_to_build

MODULE: Final = MODULES / "control-plane"
KUEUE_MODULE: Final = "sigs.k8s.io/kueue"

TOOLS: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kueue": "sigs.k8s.io/kueue/cmd/kueue",
}
"""In the order in which they are built: what is needed first comes first."""

_MAJOR, _MINOR = KUBERNETES.removeprefix("v").split(".")[:2]
_VERSION: Final = "k8s.io/component-base/version"
FLAGS: Final = (
    "-trimpath",
    "-ldflags",
    f"-s -w -X {_VERSION}.gitVersion={KUBERNETES} -X {_VERSION}.gitMajor={_MAJOR} -X {_VERSION}.gitMinor={_MINOR}",
)
ENVIRONMENT: Final = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}

PROGRESS_SECONDS: Final = 15.0
LOG_LINES: Final = 30

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder of binaries, complete or not."""

    folder: Path

    @property
    def kueue_crds(self) -> Path:
        return self.folder / "kueue-crds.json"

    @property
    def kueue_webhooks(self) -> Path:
        return self.folder / "kueue-webhooks.json"

    def path(self, tool: str) -> Path:
        return self.folder / tool

    def missing(self) -> list[str]:
        """What is not there yet, in the order of building."""
        wanted = [*TOOLS, self.kueue_crds.name, self.kueue_webhooks.name]
        return [name for name in wanted if not (self.folder / name).exists()]


def find() -> Binaries:
    """Where the binaries are, or would be. Without Go: the newest complete folder of the same go.sum and flags."""
    try:
        release = _go_release()
    except MissingError:
        base = _digest("")[:12]
        kept = sorted(cache_home().glob(f"{base}-*"), key=lambda each: each.stat().st_mtime, reverse=True)
        complete = [Binaries(each) for each in kept if each.is_dir() and not Binaries(each).missing()]
        return complete[0] if complete else Binaries(cache_home() / f"{base}-none")
    return Binaries(cache_home() / f"{_digest('')[:12]}-{_digest(release)[:12]}")


def build(say: Say) -> Binaries:
    """Builds what is missing, one builder at a time.

    Raises: MissingError: there is no Go. ClusterError: a tool does not build; the message has the end of its log.
    """
    binaries = find()
    if not binaries.missing():
        return binaries
    lacks = missing_to_build()
    if lacks:
        raise MissingError(lacks)
    binaries.folder.mkdir(parents=True, exist_ok=True)
    with _lock(binaries.folder.with_suffix(".lock"), say):
        missing = binaries.missing()
        tools = [name for name in missing if name in TOOLS]
        if tools:
            say(f"building {', '.join(tools)} into {binaries.folder} (about 15 minutes on two cores, once)")
        for number, tool in enumerate(tools, 1):
            _build_tool(binaries, tool, f"{number} of {len(tools)}", say)
        if set(missing) - set(tools):
            _take_kueue_files(binaries)
    return binaries


def kueue_module() -> Path:
    """The folder of Kueue's module, downloaded when need be. Raises ClusterError."""
    told = json.loads(_go("mod", "download", "-json", KUEUE_MODULE))
    return Path(told["Dir"])


def read_yaml(file: Path) -> list[dict[str, Any]]:
    """The documents of a YAML file that somebody else wrote."""
    return [each for each in YAML(typ="safe").load_all(file.read_text("utf-8")) if each]


def write_whole(file: Path, text: str) -> None:
    """A file that is there as a whole or not at all, however many write it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as unfinished:
        unfinished.write(text)
    Path(unfinished.name).rename(file)


def _take_kueue_files(binaries: Binaries) -> None:
    """Kept as JSON: reading a megabyte of YAML takes longer than starting an API server."""
    components = kueue_module() / "config" / "components"
    crds = [doc for file in sorted((components / "crd" / "bases").glob("*.yaml")) for doc in read_yaml(file)]
    write_whole(binaries.kueue_crds, json.dumps(crds, default=str))
    write_whole(binaries.kueue_webhooks, json.dumps(read_yaml(components / "webhook" / "manifests.yaml"), default=str))


def _build_tool(binaries: Binaries, tool: str, which: str, say: Say) -> None:
    start = said = time.monotonic()
    packages = 0
    last: deque[str] = deque(maxlen=LOG_LINES)
    say(f"{tool} ({which})")
    unfinished = binaries.path(f".{tool}.{os.getpid()}")
    log = binaries.folder / f"{tool}.build.log"
    argv = ["go", "build", "-v", *FLAGS, "-o", str(unfinished), TOOLS[tool]]
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            argv, cwd=MODULE, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as go,
    ):
        assert go.stdout is not None
        for line in go.stdout:
            kept.write(line)
            last.append(line.rstrip())
            packages += 1
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                say(f"{tool} ({which}): {packages} packages, {said - start:.0f} s, now {last[-1]}")
    if go.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise ClusterError(f"{tool} does not build (log: {log}); the end of it:\n" + "\n".join(last))
    unfinished.rename(binaries.path(tool))
    say(f"{tool} ({which}): built in {time.monotonic() - start:.0f} s")


def _digest(release: str) -> str:
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((MODULE / name).read_bytes())
    digest.update(repr((FLAGS, sorted(ENVIRONMENT.items()), sys.platform, platform.machine(), release)).encode())
    return digest.hexdigest()


def _go_release() -> str:
    """The release that would build, which may be another than that of the `go` on PATH."""
    return _go("env", "GOVERSION").strip()


def _go(*arguments: str) -> str:
    go = shutil.which("go")
    if go is None:
        raise MissingError(missing_to_build())
    done = subprocess.run([go, *arguments], cwd=MODULE, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"go {' '.join(arguments)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _environment() -> dict[str, str]:
    return {**os.environ, **ENVIRONMENT}


@contextmanager
def _lock(file: Path, say: Say) -> Iterator[None]:
    with file.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another build has {file}; waiting for it")
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
