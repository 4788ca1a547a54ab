"""What `bench_worker` sees and plays: when objects change, what a process costs, and kubelets that repeat their status.

Measures from outside; what the figures should be is not known here.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final, Self

from tests.cluster.api import STRATEGIC, Api, ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.statuses import conditions, now_seconds

Object = dict[str, Any]

NODES: Final = "/api/v1/nodes"
THREADS: Final = 3
"""That play kubelets. Chosen: a hundred heartbeats a second without a part of a core spent on waiting for each other."""
METRICS_PORT: Final = 31443
_REQUEST: Final = re.compile(r"^engine_api_requests_total\{(.*)\} (\S+)$", re.MULTILINE)
_READS: Final = frozenset({"get", "list", "watch"})
_NOISE: Final = ("leases", "events")


class Changes:
    """A watch of one kind that notes when something was first seen of an object.

    Shape: `read` names what an object shows, each text noted once; both ends of a difference are seen by this one reader.
    """

    def __init__(self, api: Api, path: str, read: Callable[[Object], Sequence[str]]) -> None:
        self._api = api.another()
        self._path = path
        self._read = read
        self._seen: dict[tuple[str, str], float] = {}
        self._news = threading.Condition()
        listed = self._api.get(path)
        self._version = listed["metadata"]["resourceVersion"]
        for each in listed["items"]:
            self._note(each)
        self._thread = threading.Thread(target=self._run, name="changes", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._api.close()
        self._thread.join(5)

    def when(self, name: str, text: str, seconds: float = 60.0) -> float:
        """When it was first seen. Raises: AssertionError: it was not, in that time."""
        with self._news:
            if not self._news.wait_for(lambda: (name, text) in self._seen, seconds):
                raise AssertionError(f"{name} did not show {text} within {seconds:.0f} s")
            return self._seen[name, text]

    def known(self, name: str) -> frozenset[str]:
        """What was seen of an object so far."""
        with self._news:
            return frozenset(text for each, text in self._seen if each == name)

    def next_of(self, name: str, known: frozenset[str], seconds: float = 60.0) -> float:
        """When anything else was first seen of an object. Raises: AssertionError: nothing was, in that time."""

        def newer() -> list[float]:
            return [at for (each, text), at in self._seen.items() if each == name and text not in known]

        with self._news:
            if not self._news.wait_for(newer, seconds):
                raise AssertionError(f"{name} did not change within {seconds:.0f} s")
            return min(newer())

    def _note(self, seen: Object) -> None:
        at = time.monotonic()
        with self._news:
            for text in self._read(seen):
                self._seen.setdefault((seen["metadata"]["name"], text), at)
            self._news.notify_all()

    def _run(self) -> None:
        with suppress(OSError, HTTPException, ApiError, ValueError):
            for _, seen in self._api.watch(self._path, resourceVersion=self._version):
                self._note(seen)


class Kubelets:
    """Repeats the status of every Node again and again, evenly, as kubelets without Leases of their own would."""

    def __init__(self, api: Api, names: Sequence[str], period_seconds: float) -> None:
        self._api = api.another()
        self._names = names
        self._pause = period_seconds / len(names)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._began = 0.0
        self.beats = 0
        self._threads = [
            threading.Thread(target=self._run, name=f"kubelets-{at}", daemon=True) for at in range(THREADS)
        ]

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for each in self._threads:
            each.join(30)
        self._api.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            with self._lock:
                at, self.beats = self.beats, self.beats + 1
            # A server that cannot follow is not hurried to make up for it.
            if self._stopping.wait(max(0.0, self._began + at * self._pause - time.monotonic())):
                return
            said = conditions(now_seconds())
            for each in said:
                del each["lastTransitionTime"]
            path = f"{NODES}/{self._names[at % len(self._names)]}/status"
            self._api.patch(path, {"status": {"conditions": said}}, STRATEGIC)


@dataclass(frozen=True, slots=True)
class Cost:
    """A process so far: seconds of CPU time, resident memory now."""

    cpu_seconds: float
    resident_kib: int


def cost(cluster: Cluster) -> Cost:
    """Of the worker's process, from the kernel. Raises: AssertionError: it does not run."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes()
            if b"engine\0worker\0" in command and str(cluster.folder.path).encode() in command:
                (resident,) = re.findall(r"VmRSS:\s+(\d+) kB", (folder / "status").read_text("utf-8"))
                spent = (folder / "stat").read_text("utf-8").rpartition(") ")[2].split()[11:13]
                return Cost(sum(map(int, spent)) / os.sysconf("SC_CLK_TCK"), int(resident))
    raise AssertionError("the worker does not run")


def writes(cluster: Cluster) -> Counter[str]:
    """What the worker has written or tried to write so far, by its own count: `<verb> <kind> <answer>`, but for Leases.

    The API server's count has the controller-manager's in it, which taints Nodes when a busy machine is late with Leases.
    """
    with cluster.entered():
        connection = HTTPConnection("127.0.0.1", METRICS_PORT, timeout=30)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
    found: Counter[str] = Counter()
    for labels, value in _REQUEST.findall(text):
        told = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if told["verb"] not in _READS and not told["resource"].startswith(_NOISE):
            found[f"{told['verb']} {told['resource']} {told['code']}"] += int(float(value))
    return found


def until(is_so: Callable[[], bool], seconds: float, *, what: str) -> None:
    """Waits for something. Raises: AssertionError: it took too long."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"not so after {seconds:.0f} s: {what}")
        time.sleep(0.1)


def at_percent(samples: Sequence[float], percent: float) -> float:
    """The least sample that so many per cent are not above."""
    ordered: Final = sorted(samples)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def show(what: str, figure: float, unit: str, target: str = "") -> None:
    """One line."""
    text = f"{figure:,.0f}" if unit in ("", "MiB", "us", "kB") else f"{figure:.1f}"
    print(f"worker: {what:<56} {text:>9} {unit:<3}{f' (target {target})' if target else ''}".rstrip(), flush=True)


def say(what: str, text: str) -> None:
    """One line of words."""
    print(f"worker: {what}: {text}", flush=True)
