"""Entering the network of a run from this thread, and commands that run wholly inside.

A socket belongs to the network in which it was made, so code that only connects needs to be inside only for a moment.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000

_LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside_network(pid: int) -> Iterator[None]:
    """This thread, and threads and processes that it starts, are in the network of a process until the block ends."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        within = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(within)
        finally:
            os.close(within)
        try:
            yield
        finally:
            _enter(before)
    finally:
        os.close(before)


def inside_command(pid: int, argv: Sequence[str], cwd: Path | None = None) -> list[str]:
    """The command that runs another in all namespaces of a process, so that it ends with the run at the latest."""
    where = cwd or Path.cwd()
    return ["nsenter", f"--target={pid}", "--net", "--pid", "--mount", f"--wd={where}", "--", *argv]


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")
