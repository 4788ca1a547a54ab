"""A private world: network, mount and process namespaces with a supervisor as their first process.

What runs in it is not known here. A world that was made with a lifeline ends when the process that made it ends, by
whatever way; the other kind stays until it is told to stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.errors import ClusterError
from tests.cluster.layout import REPOSITORY, Folder
from tests.cluster.namespaces import inside_command, inside_network

START_SECONDS: Final = 10.0
STOP_SECONDS: Final = 10.0
_SUPERVISOR: Final = Path(__file__).resolve().parent / "supervisor.py"
_UNSHARE: Final = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a world, by its name."""

    world: World
    name: str

    def told(self) -> dict[str, Any]:
        """What the supervisor knows of it: state, pid (inside), code, starts, seconds, argv."""
        return self.world.ask("wait", name=self.name, timeout=0)

    @property
    def is_running(self) -> bool:
        return self.told()["code"] is None

    @property
    def log(self) -> Path:
        return self.world.folder.log(self.name)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal("SIGKILL")
        self.wait(STOP_SECONDS)

    def stop(self, grace_seconds: float = 5.0) -> int:
        """SIGTERM, SIGKILL when that is not enough; the exit code."""
        self.signal("SIGTERM")
        code = self.wait(grace_seconds)
        if code is None:
            self.kill()
        ended: int = self.told()["code"]
        return ended

    def pause(self) -> None:
        self.signal("SIGSTOP")

    def resume(self) -> None:
        self.signal("SIGCONT")

    def signal(self, name: str) -> None:
        self.world.ask("signal", name=self.name, signal=name)

    def wait(self, timeout_seconds: float | None = None) -> int | None:
        """The exit code; None when it still runs after that time."""
        code: int | None = self.world.ask("wait", name=self.name, timeout=timeout_seconds)["code"]
        return code

    def start_again(self) -> None:
        """As it was started before; it must have ended."""
        self.world.ask("start", name=self.name)


class World:
    """A world that exists."""

    def __init__(self, folder: Folder, *, unshare: subprocess.Popen[bytes] | None = None, lifeline: int = -1) -> None:
        self.folder = folder
        self._unshare = unshare
        self._lifeline = lifeline
        self.pid = _supervisor_pid(folder)

    @classmethod
    def make(cls, folder: Folder, *, detached: bool = False) -> World:
        """A new world over an empty folder. `detached`: it outlives this process.

        Raises: ClusterError: it did not come up.
        """
        if is_alive(folder):
            raise ClusterError(f"{folder.path} is in use; stop that run first, or take another name")
        shutil.rmtree(folder.path, ignore_errors=True)
        folder.logs.mkdir(parents=True, mode=0o700)
        folder.path.chmod(0o700)
        argv = [*_UNSHARE, sys.executable, "-P", str(_SUPERVISOR), str(folder.path)]
        if detached:
            reading = writing = -1
        else:
            reading, writing = os.pipe()
            argv.append(f"--lifeline={reading}")
        with folder.log("supervisor").open("ab") as log:
            unshare = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C goes to the runner, which stops the world when it is done with it
                pass_fds=() if detached else (reading,),
                cwd="/",
            )
        if reading >= 0:
            os.close(reading)
        deadline = time.monotonic() + START_SECONDS
        while not is_alive(folder):
            if unshare.poll() is not None or time.monotonic() > deadline:
                unshare.kill()
                unshare.wait()
                if writing >= 0:
                    os.close(writing)
                raise ClusterError(f"no private world: {tail(folder.log('supervisor')) or 'unshare did not start'}")
            time.sleep(0.01)
        return cls(folder, unshare=unshare, lifeline=writing)

    def ask(self, op: str, **question: Any) -> dict[str, Any]:
        """One question to the supervisor. Raises ClusterError when it cannot do that, or is not there."""
        try:
            with _connected(self.folder) as connection, connection.makefile("rwb") as stream:
                stream.write(json.dumps({"op": op, **question}).encode() + b"\n")
                stream.flush()
                answer = stream.readline()
        except OSError as error:
            raise ClusterError(f"the run in {self.folder.path} does not answer: {error}") from error
        told = json.loads(answer) if answer else {"error": "the supervisor went away"}
        if "error" in told:
            raise ClusterError(told["error"])
        return told

    def spawn(
        self, name: str, argv: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path = REPOSITORY
    ) -> Process:
        """A process inside, by name; its output goes to the log of that name. Raises ClusterError."""
        self.ask(
            "start",
            name=name,
            argv=[str(each) for each in argv],
            env={**os.environ, **(env or {})},
            cwd=str(cwd),
            log=str(self.folder.log(name)),
        )
        return Process(self, name)

    def process(self, name: str) -> Process:
        return Process(self, name)

    def processes(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.ask("list")["processes"]
        return listed

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread is in the world's network until the block ends."""
        with inside_network(self.pid):
            yield

    def command(self, argv: Sequence[str], cwd: Path | None = None) -> list[str]:
        """The command that runs another inside."""
        return inside_command(self.pid, argv, cwd)

    def stop(self) -> None:
        """Everything in the world ends, and the world with it. Files stay. Does nothing to a world that is gone."""
        with contextlib.suppress(ClusterError):
            self.ask("stop")
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        deadline = time.monotonic() + STOP_SECONDS
        while (is_alive(self.folder) or self._is_there()) and time.monotonic() < deadline:
            time.sleep(0.02)
        if self._unshare is not None:
            if self._unshare.poll() is None:
                self._unshare.kill()
            self._unshare.wait()

    def _is_there(self) -> bool:
        if self._unshare is not None:
            return self._unshare.poll() is None
        return Path(f"/proc/{self.pid}").exists()


def is_alive(folder: Folder) -> bool:
    """Whether a supervisor answers for a folder."""
    try:
        _connected(folder).close()
    except OSError:
        return False
    return True


def tail(file: Path, lines: int = 20) -> str:
    """The end of a log."""
    try:
        return "\n".join(file.read_text("utf-8", "replace").splitlines()[-lines:])
    except OSError:
        return ""


def _connected(folder: Folder) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(folder.control_socket))
    except OSError:
        connection.close()
        raise
    return connection


def _supervisor_pid(folder: Folder) -> int:
    """The supervisor's pid as seen from here: it does not know it itself, the kernel translates it for a socket's peer."""
    with _connected(folder) as connection:
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", told)[0]
    return pid
