"""A private world leaves nothing behind, however its maker ends. Needs root and namespaces, no binaries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.fixtures import stay_out
from tests.cluster.layout import REPOSITORY, Folder
from tests.cluster.needs import missing_to_run
from tests.cluster.world import World, is_alive
from tests.e2e.waiting import eventually

pytestmark = pytest.mark.e2e

MAKER = """
import sys, time
from tests.cluster.layout import Folder
from tests.cluster.world import World
world = World.make(Folder.named(sys.argv[1]))
(world.folder.path / "pki").mkdir()
(world.folder.path / "pki" / "secret.key").write_text("key")
world.spawn("plain", ["sleep", "1000"])
world.spawn("stubborn", ["sh", "-c", "trap '' TERM; setsid sleep 1000 & mount -t tmpfs tmpfs /mnt; sleep 1000"])
print(world.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def _a_machine_that_can() -> None:
    stay_out("; ".join(missing_to_run()))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENGINE_CLUSTER_RUNS", str(tmp_path))
    return tmp_path


def namespaces_of(pid: int) -> dict[str, str]:
    return {kind: str(Path(f"/proc/{pid}/ns/{kind}").readlink()) for kind in ("net", "mnt", "pid")}


def inhabitants(spaces: dict[str, str]) -> list[int]:
    """Processes of this machine in any of some namespaces."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        for kind, space in spaces.items():
            try:
                if str((entry / "ns" / kind).readlink()) == space:
                    found.append(int(entry.name))
                    break
            except OSError:
                continue
    return found


@pytest.mark.parametrize("victim", ["maker", "unshare", "supervisor"])
def test_nothing_is_left_after_kill_9(runs: Path, victim: str) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", MAKER, "w"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert maker.stdout is not None
    try:
        pid = int(maker.stdout.readline())
        spaces = namespaces_of(pid)
        eventually(lambda: len(inhabitants(spaces)) >= 5, what="the world is full")
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill({"maker": maker.pid, "unshare": parent, "supervisor": pid}[victim], signal.SIGKILL)
        eventually(lambda: not inhabitants(spaces), what="every process and namespace of the world is gone")
        assert str(runs) not in Path("/proc/self/mounts").read_text()
        if victim == "maker":
            left = [each.name for each in (runs / "w").iterdir()]
            assert left == ["log"], "keys and data are gone, logs are kept"
    finally:
        maker.kill()
        maker.wait()
        maker.stdout.close()


def test_two_worlds_use_one_port_side_by_side(runs: Path) -> None:
    serve = [sys.executable, "-m", "http.server", "8080", "--bind", "127.0.0.1"]
    worlds = [World.make(Folder.named(name)) for name in ("a", "b")]
    try:
        for world in worlds:
            world.spawn("server", serve)
        for world in worlds:
            answer = [
                *world.command([sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 8080))"])
            ]
            eventually(lambda answer=answer: subprocess.run(answer, check=False, capture_output=True).returncode == 0)
            assert world.process("server").is_running
    finally:
        for world in worlds:
            world.stop()


def test_a_world_reaches_nothing_outside(runs: Path) -> None:
    world = World.make(Folder.named("w"))
    try:
        told = subprocess.run(
            world.command(["cat", "/proc/net/route", "/proc/net/dev"]), check=True, capture_output=True
        )
        devices = [line.split(b":")[0].strip() for line in told.stdout.splitlines() if b":" in line]
        assert devices == [b"lo"]
    finally:
        world.stop()


def test_a_process_can_be_paused_killed_and_started_again(runs: Path) -> None:
    world = World.make(Folder.named("w"))
    try:
        process = world.spawn("sleeper", ["sleep", "1000"])
        process.pause()
        assert process.told()["state"] == "paused"
        process.resume()
        assert process.told()["state"] == "running"
        process.kill()
        assert process.wait(0) == -signal.SIGKILL
        process.start_again()
        assert process.is_running
        assert process.told()["starts"] == 2
        assert world.spawn("brief", ["sh", "-c", "echo said; exit 3"]).wait(5) == 3
        assert world.folder.log("brief").read_text() == "said\n"
    finally:
        world.stop()
    assert not is_alive(world.folder)


CLUSTER_MAKER = """
import sys, time
from tests.cluster.cluster import Cluster
cluster = Cluster.start(sys.argv[1])
print(cluster.world.pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.faults
def test_nothing_is_left_of_a_whole_cluster_after_kill_9_of_its_maker(runs: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-c", CLUSTER_MAKER, "c"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert maker.stdout is not None
    try:
        spaces = namespaces_of(int(maker.stdout.readline()))
        assert len(inhabitants(spaces)) >= 6
        maker.kill()
        eventually(lambda: not inhabitants(spaces), what="every process and namespace of the cluster is gone")
        assert [each.name for each in (runs / "c").iterdir() if each.name in ("pki", "etcd")] == []
        assert str(runs) not in Path("/proc/self/mounts").read_text()
    finally:
        maker.kill()
        maker.wait()
        maker.stdout.close()
