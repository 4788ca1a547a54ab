"""The elector in real processes: one is stopped with SIGSTOP, another takes over, the first wakes and must not write."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from engine.cluster.clock import SystemClock
from tests.fakes.apiserver import ApiServer
from tests.fakes.http_server import served

SCRIPT = Path(__file__).with_name("candidate.py")


def _start(argv: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, env=os.environ | {"PYTHONPATH": "."})


def test_a_process_stopped_past_its_lease_writes_nothing_when_it_wakes() -> None:
    async def main() -> None:
        server = ApiServer(SystemClock())

        def turns() -> list[str]:
            found: list[str] = []
            for seen in server.writes():
                if "/configmaps/" in seen.path and found[-1:] != [seen.sender]:
                    found.append(seen.sender)
            return found

        async def until_leads(name: str) -> None:
            async with asyncio.timeout(30):
                while turns()[-1:] != [name]:  # noqa: ASYNC110 - looked at from outside
                    await asyncio.sleep(0.02)

        async with served(server) as url:
            processes: dict[str, subprocess.Popen[bytes]] = {}
            try:
                for name in ("first", "second"):
                    argv = [sys.executable, str(SCRIPT), url, name]
                    processes[name] = _start(argv)
                    await until_leads("first")
                await asyncio.sleep(2)
                processes["first"].send_signal(signal.SIGSTOP)
                await until_leads("second")
                processes["first"].send_signal(signal.SIGCONT)
                await asyncio.sleep(3)
                assert turns() == ["first", "second"]
                assert processes["first"].poll() is None
            finally:
                for process in processes.values():
                    process.kill()
                    process.wait()

    asyncio.run(main())
