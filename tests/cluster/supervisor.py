"""The first process of a run: starts the others, tells how they fare, and takes them all along when it ends.

Runs as process 1 of its own PID namespace, so that the kernel ends every process of the run with it, however it ends. It
knows no component: what to start comes over a socket, one JSON line a question and one an answer. Standard library only,
and run by path, so that it starts at once.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECRETS = ("pki", "etcd", "bin")
GRACE_SECONDS = 3.0
"""How long processes may take to end before they are made to; chosen: nothing here holds anything of value."""

SIOCSIFFLAGS = 0x8914
IFF_UP, IFF_RUNNING = 0x1, 0x40


@dataclass(slots=True)
class Process:
    """One process that was asked for, running or not. Shape: `code` is negative for a signal, as in `subprocess`."""

    name: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    log: str
    pid: int = 0
    code: int | None = None
    paused: bool = False
    starts: int = 0
    started: float = 0.0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_running(self) -> bool:
        return self.pid != 0 and self.code is None

    def told(self) -> dict[str, Any]:
        state = "running" if self.is_running else "ended"
        return {
            "name": self.name,
            "state": "paused" if self.paused and self.is_running else state,
            "pid": self.pid,
            "code": self.code,
            "starts": self.starts,
            "seconds": round(time.monotonic() - self.started, 1),
            "argv": self.argv,
        }


class Supervisor:
    """All processes of a run, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, Process] = {}
        self._stopping = asyncio.Event()

    async def run(self, listener: socket.socket, lifeline: int | None) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        if lifeline is not None:
            loop.add_reader(lifeline, self._lifeline_moved, lifeline)
        server = await asyncio.start_unix_server(self._serve, sock=listener, limit=2**22)
        await self._stopping.wait()
        server.close()
        await self._end_all()

    def forget_secrets(self) -> None:
        """Removes keys and data, by name. Never anything that is mounted: what hangs there may be the machine's own."""
        mounted = Path("/proc/self/mounts").read_text("utf-8")
        if f" {self._folder}/" in mounted:
            return
        for name in SECRETS:
            shutil.rmtree(self._folder / name, ignore_errors=True)
        for file in [*self._folder.glob("*.kubeconfig"), self._folder / "control.sock"]:
            file.unlink(missing_ok=True)

    def _lifeline_moved(self, lifeline: int) -> None:
        if not os.read(lifeline, 1):  # nobody holds the other end any more: the runner is dead
            asyncio.get_running_loop().remove_reader(lifeline)
            self._stopping.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                try:
                    answer = await self._answer(json.loads(line))
                except Exception as error:  # one bad question must not end a run
                    answer = {"error": f"{type(error).__name__}: {error}"}
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        match question["op"]:
            case "start":
                return self._start(question).told()
            case "signal":
                process = self._signal(self._named(question), signal.Signals[question["signal"]])
                if process.paused:
                    await self._standstill(process)
                return process.told()
            case "wait":
                process = self._named(question)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.ended.wait(), question.get("timeout"))
                return process.told()
            case "list":
                return {"processes": [each.told() for each in self._processes.values()]}
            case "stop":
                self._stopping.set()
                return {}
            case other:
                return {"error": f"there is no question {other}"}

    def _named(self, question: dict[str, Any]) -> Process:
        name = question["name"]
        if name not in self._processes:
            raise LookupError(f"there is no process {name}; there are {', '.join(sorted(self._processes)) or 'none'}")
        return self._processes[name]

    def _start(self, question: dict[str, Any]) -> Process:
        name = question["name"]
        process = self._processes.get(name)
        if process is not None and process.is_running:
            raise RuntimeError(f"{name} runs already")
        if "argv" in question:
            starts = process.starts if process else 0
            process = Process(name, question["argv"], question["env"], question["cwd"], question["log"], starts=starts)
            self._processes[name] = process
        elif process is None:
            process = self._named(question)
        with Path(process.log).open("ab") as log:
            child = subprocess.Popen(
                process.argv,
                env=process.env,
                cwd=process.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process.pid, process.code, process.paused = child.pid, None, False
        process.starts, process.started = process.starts + 1, time.monotonic()
        process.ended = asyncio.Event()
        child.returncode = 0  # reaped below, never by subprocess
        return process

    def _signal(self, process: Process, number: signal.Signals) -> Process:
        if process.is_running:
            if number in (signal.SIGSTOP, signal.SIGCONT):
                process.paused = number == signal.SIGSTOP
            # the group as well: what a process started is stopped, paused and ended with it
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        return process

    async def _standstill(self, process: Process) -> None:
        """A signal is only on its way when `kill` returns; the kernel reports when every thread has stopped."""
        for _ in range(1000):
            if not process.is_running or _has_stopped(process.pid):
                return
            await asyncio.sleep(0.001)

    def _reap(self) -> None:
        """As process 1 this inherits every orphan of the run."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for process in self._processes.values():
                if process.pid == pid and process.code is None:
                    process.code = os.waitstatus_to_exitcode(status)
                    process.ended.set()

    async def _end_all(self) -> None:
        for process in self._processes.values():
            self._signal(process, signal.SIGCONT)
            self._signal(process, signal.SIGTERM)
        waits = [each.ended.wait() for each in self._processes.values() if each.is_running]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*waits), GRACE_SECONDS)
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            await asyncio.sleep(0.05)


def _has_stopped(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None


def bring_loopback_up() -> None:
    """A new network has a loopback device that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP | IFF_RUNNING))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lifeline", type=int)
    options = parser.parse_args()
    bring_loopback_up()
    path = options.folder / "control.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(64)
        supervisor = Supervisor(options.folder)
        asyncio.run(supervisor.run(listener, options.lifeline))
    supervisor.forget_secrets()


if __name__ == "__main__":
    main()
