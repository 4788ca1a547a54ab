"""Errands: small writes that are done soon, later, or again until the server takes them, by a few threads.

What an errand does is not known here. An answer that its object is gone or was changed meanwhile ends it without a word.
"""

from __future__ import annotations

import heapq
import http.client
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final

from tests.cluster.api import ApiError

RETRY_SECONDS: Final = 0.5
PASSED: Final = (404, 409)
"""Gone meanwhile, or somebody was quicker: nothing to complain about."""
LOST: Final = (OSError, http.client.HTTPException)
"""What it looks like when the server cannot be reached."""


class Errands:
    """A clock and a pool of threads. `on_error` hears, from any of them, what went wrong."""

    def __init__(self, threads: int, on_error: Callable[[str], None]) -> None:
        self._on_error = on_error
        self._stopping = threading.Event()
        self._due: list[tuple[float, int, Callable[[], Any]]] = []
        self._due_count = 0
        self._wake = threading.Condition()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="errand")
        # what is asked for comes in thousands at once, and a heartbeat must not queue up behind it
        self._asked = ThreadPoolExecutor(threads, thread_name_prefix="asked")
        self._clock = threading.Thread(target=self._keep_time, name="errands", daemon=True)

    def start(self) -> None:
        self._clock.start()

    def stop(self) -> None:
        """No errand starts after this, and none runs."""
        self._stopping.set()
        with self._wake:
            self._wake.notify_all()
        for pool in (self._asked, self._pool):
            pool.shutdown(wait=True, cancel_futures=True)

    def ask(self, act: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """At once; whoever asks sees to the outcome."""
        return self._asked.submit(act, *arguments)

    def after(self, seconds: float, act: Callable[[], Any]) -> None:
        with self._wake:
            self._due_count += 1
            heapq.heappush(self._due, (time.monotonic() + seconds, self._due_count, act))
            self._wake.notify()

    def _keep_time(self) -> None:
        while not self._stopping.is_set():
            with self._wake:
                pause = self._due[0][0] - time.monotonic() if self._due else 60.0
                if pause > 0:
                    self._wake.wait(pause)
                    continue
                act = heapq.heappop(self._due)[2]
            self.soon(act)

    def insist(self, act: Callable[[], Any]) -> None:
        """Again until the server took it: what is done once must not be lost to a restart."""

        def insistent() -> None:
            try:
                act()
            except (ApiError, *LOST) as error:
                if not (isinstance(error, ApiError) and error.status in (*PASSED, 422)):
                    self.after(RETRY_SECONDS, insistent)
                raise

        self.soon(insistent)

    def soon(self, act: Callable[[], Any]) -> None:
        def guarded() -> None:
            if self._stopping.is_set():
                return
            try:
                act()
            except ApiError as error:
                if error.status not in PASSED:
                    self._on_error(str(error))
            except LOST as error:
                self._on_error(f"{type(error).__name__}: {error}")

        with suppress(RuntimeError):  # the pool has been shut down
            self._pool.submit(guarded)
