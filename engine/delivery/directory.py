"""The mounted directory that packs are delivered in: read in one piece, and watched.

The only place where delivered files are opened. A kubelet swaps one link, `..data`, between whole directories; whatever
event comes, it only means that the content is looked at again. What is in the files is `candidate`'s.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.cluster.clock import SYSTEM_CLOCK, Clock
from engine.delivery.candidate import Candidate, delivered
from engine.lang.codes import Severity
from engine.lang.diagnostics import Diagnostic
from engine.lang.limits import MAX_ALL_PACKS_BYTES, MAX_PACK_BYTES

DATA: Final = "..data"
"""The link to the directory in force. Source: Kubernetes' atomic writer of volumes."""

REHASH_SECONDS: Final = 60.0
DEBOUNCE_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 30.0
"""How long a delivery may be incomplete or on the move before it is judged as it is. Source: rule language, 4.7."""

_DEEPEST: Final = 8
_TRIES: Final = 3

Events = Callable[[Path], AsyncIterator[object]]
"""Something for each time that a directory may have changed."""


def reload_fault(mount: Path) -> Diagnostic | None:
    """Why packs in this directory can never be swapped as a whole, if so: said once, at start."""
    if (mount / DATA).is_symlink():
        return None
    return _fault(
        "RP910",
        mount,
        f"there is no {DATA} link: live rules cannot be swapped here",
        "mount the volume without subPath",
    )


def read_mount(mount: Path, *, origin: str = "") -> Candidate:
    """What is delivered now. What cannot be read is a fault of the candidate; nothing is raised.

    Shape: `origin` is the namespace of the ConfigMaps. `..data` is resolved once and all is read below the directory that it led to; paths are relative to that, so they
    are the same after each swap.
    """
    fault = _fault("RP911", mount, "the directory changed each time it was read", "wait for the next delivery")
    for _ in range(_TRIES):
        try:
            files: dict[str, bytes] = {}
            faults = _read_below(_real(mount), "", files, _DEEPEST)
            return delivered(files, faults, origin=origin)
        except FileNotFoundError as error:  # swapped away meanwhile, or not there yet
            fault = _fault("RP911", mount, f"{error.filename} is not there", "check the volume and its ConfigMaps")
        except OSError as error:
            fault = _fault("RP911", mount, f"it cannot be read: {error.strerror}", "check the volume and its rights")
    return delivered({}, [fault], origin=origin)


class Mount:
    """A directory of packs over time."""

    def __init__(
        self, path: Path, *, origin: str = "", clock: Clock = SYSTEM_CLOCK, events: Events | None = None
    ) -> None:
        self._path = path
        self._origin = origin
        self._clock = clock
        self._events = events or watched

    def read(self) -> Candidate:
        """What is delivered now."""
        return read_mount(self._path, origin=self._origin)

    async def deliveries(self) -> AsyncIterator[Candidate]:
        """Each content once it is at rest, beginning with the first; contents that came and went meanwhile are skipped."""
        stirred = asyncio.Event()
        last = ""
        watching = asyncio.create_task(self._watch(stirred))
        try:
            while True:
                stirred.clear()
                candidate = await self._at_rest()
                if candidate.digest != last:
                    last = candidate.digest
                    yield candidate
                await self._next(stirred)
                if watching.done():  # the directory was not there, or watches ran out: the slow look goes on
                    watching.result()
                    watching = asyncio.create_task(self._watch(stirred))
        finally:
            await _stop(watching)

    async def _watch(self, stirred: asyncio.Event) -> None:
        # Without a watch the slow look is enough, so an error here is not the end of deliveries.
        with suppress(OSError, RuntimeError):
            async for _ in self._events(self._path):
                stirred.set()

    async def _next(self, stirred: asyncio.Event) -> None:
        tasks = [
            asyncio.create_task(stirred.wait()),
            asyncio.create_task(self._clock.sleep(REHASH_SECONDS)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                await _stop(task)

    async def _at_rest(self) -> Candidate:
        """The content that is the same after the debounce, and complete; after 30 s as it is."""
        started = self._clock.monotonic()
        candidate = self.read()
        while True:
            await self._clock.sleep(DEBOUNCE_SECONDS)
            again = self.read()
            at_rest = again.digest == candidate.digest and not again.awaited
            if at_rest or self._clock.monotonic() - started >= PATIENCE_SECONDS:
                return again
            candidate = again


async def watched(path: Path) -> AsyncIterator[object]:
    """Events of a directory and all below it. Raises: OSError, RuntimeError: it cannot be watched."""
    from watchfiles import awatch

    # No filter by kind or name: which events a swap gives differs between kernels and kubelets.
    async for changes in awatch(path, watch_filter=None, step=50, debounce=200):
        yield changes


async def _stop(task: asyncio.Task[object]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _real(mount: Path) -> Path:
    link = mount / DATA
    return mount / link.readlink() if link.is_symlink() else mount


def _read_below(folder: Path, prefix: str, files: dict[str, bytes], depth: int) -> list[Diagnostic]:
    faults: list[Diagnostic] = []
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        path = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if depth == 0:
                faults.append(_fault("RP911", Path(path), "folders are nested too deep", "lay packs out flat"))
            else:
                faults += _read_below(Path(entry.path), f"{path}/", files, depth - 1)
        # A pipe among the files would block for ever; and past the limit the set is refused, whatever else is in it.
        elif entry.is_file() and sum(len(data) for data in files.values()) <= MAX_ALL_PACKS_BYTES:
            with Path(entry.path).open("rb") as file:
                files[path] = file.read(MAX_PACK_BYTES + 1)
    return faults


def _fault(code: str, path: Path, message: str, advice: str) -> Diagnostic:
    return Diagnostic(code, message, Severity.ERROR, path=str(path), help=advice)
