"""One leader at a time, by a Lease.

No clock is compared with another machine's: a candidate measures, on its own monotonic clock, how long the Lease has not
changed. A leader counts from before its last successful renewal was sent, stops `renew_deadline_seconds` after that, whatever
it is doing, and others wait for `lease_seconds`, which is longer. A process that was paused finds its time over when it wakes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from engine.cluster.client import Client
from engine.cluster.clock import micro_time
from engine.cluster.errors import AlreadyExists, ClusterError, Conflict, NotFound, NotLeader
from engine.cluster.objects import Lease
from engine.cluster.resources import LEASES
from engine.cluster.retry import ONCE
from engine.errors import ContractError


@dataclass(frozen=True, slots=True)
class ElectorSettings:
    """`identity` is unique to this process. Times: request < renew deadline < lease."""

    name: str
    namespace: str
    identity: str
    lease_seconds: int = 15
    renew_deadline_seconds: float = 10.0
    retry_seconds: float = 2.0
    request_seconds: float = 4.0

    def __post_init__(self) -> None:
        if not 0 < self.request_seconds < self.renew_deadline_seconds < self.lease_seconds:
            raise ContractError("an elector's times do not fit: request < renew deadline < lease", where=repr(self))
        if self.retry_seconds + self.request_seconds > self.renew_deadline_seconds:
            raise ContractError("a failed renewal could not be tried again before the deadline", where=repr(self))


class Elector:
    """Also a write gate: hand it to `Client.gated` for the client that the leading work uses."""

    def __init__(
        self,
        client: Client,
        settings: ElectorSettings,
        *,
        report: Callable[[str, ClusterError | None], None] = lambda _what, _error: None,
    ) -> None:
        self._client = client.limited(settings.request_seconds, ONCE)
        self._clock = client.clock
        self._settings = settings
        self._report = report
        self._leads_until = float("-inf")
        self._seen: Lease | None = None
        self._seen_at = 0.0
        self._is_at_work = False
        self.holder = ""

    def is_leader(self) -> bool:
        """May write now."""
        return self._clock.monotonic() < self._leads_until

    def is_overdue(self) -> bool:
        """The time is over and the leading work has not ended: nothing is written, and a restart is due."""
        return self._is_at_work and not self.is_leader()

    def check(self) -> float:
        """Seconds for which this process surely leads. Raises: NotLeader."""
        left_seconds = self._leads_until - self._clock.monotonic()
        if left_seconds <= 0:
            raise NotLeader("this process does not lead", where=self._where(), why="its lease was not renewed in time")
        return left_seconds

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Waits for the lease, leads, and gives the lease up when `lead` ends, fails or is cancelled.

        Raises: NotLeader: the lease was lost while leading (`lead` was cancelled); what `lead` raises.
        """
        await self._acquire()
        self._report("leads", None)
        self._is_at_work = True
        work = asyncio.ensure_future(lead())
        renewing = asyncio.ensure_future(self._renew_until_lost())
        try:
            await asyncio.wait({work, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                # Lost: writes are already held back by the gate; the work ends before anybody is told.
                await _cancelled(work)
                self._report("lost the lease", None)
                raise NotLeader("the lease was lost", where=self._where(), why="it could not be renewed in time")
            await work
        finally:
            await _cancelled(renewing)
            await _cancelled(work)
            self._is_at_work = False
            await self._release()

    async def _acquire(self) -> None:
        while True:
            try:
                if await self._try():
                    return
            except ClusterError as error:
                self._report("cannot get the lease", error)
            await self._clock.sleep(self._settings.retry_seconds * (1 + 0.2 * self._client.chance()))

    async def _renew_until_lost(self) -> None:
        """Returns when this process no longer leads, at the latest at its deadline."""
        while self.is_leader():
            await self._clock.sleep(min(self._settings.retry_seconds, self._left_seconds()))
            if not self.is_leader():
                return
            try:
                async with asyncio.timeout(self._left_seconds()):
                    if not await self._try():
                        self._leads_until = float("-inf")
                        return
            except (ClusterError, TimeoutError) as error:
                self._report("cannot renew the lease", error if isinstance(error, ClusterError) else None)

    async def _try(self) -> bool:
        """One attempt; True when this process now leads until the deadline counted from before the request."""
        if self.is_leader() and self._seen is not None:
            # The version of our own last write is known; only when somebody touched the Lease is it read again.
            with contextlib.suppress(Conflict, NotFound):
                return await self._take(self._seen)
        try:
            lease = await self._client.get(LEASES, self._settings.name, self._settings.namespace)
        except NotFound:
            # Deleted by hand under a leader that does not know yet: as good as held until its time is over.
            if self._seen is None or self.is_leader() or self._has_expired(self._seen):
                return await self._create()
            return False
        self._observe(lease)
        if lease.spec.holder_identity != self._settings.identity and not self._has_expired(lease):
            return False
        try:
            return await self._take(lease)
        except Conflict:
            return await self._is_still_ours()

    async def _take(self, lease: Lease) -> bool:
        sent_at = self._clock.monotonic()
        taken = await self._client.merge_patch(
            LEASES,
            self._settings.name,
            {"spec": self._spec(lease)},
            manager=self._settings.identity,
            namespace=self._settings.namespace,
            resource_version=lease.metadata.resource_version,
        )
        self._won(taken, sent_at)
        return True

    async def _create(self) -> bool:
        sent_at = self._clock.monotonic()
        body = LEASES.body(self._settings.name, self._settings.namespace, spec=self._spec(None))
        try:
            made = await self._client.create(LEASES, body, manager=self._settings.identity)
        except AlreadyExists:
            return False
        self._won(made, sent_at)
        return True

    async def _is_still_ours(self) -> bool:
        """After a conflict: somebody wrote the Lease, but not necessarily took it."""
        lease = await self._client.get(LEASES, self._settings.name, self._settings.namespace)
        self._observe(lease)
        return self.is_leader() and lease.spec.holder_identity == self._settings.identity

    def _observe(self, lease: Lease) -> None:
        self.holder = lease.spec.holder_identity
        if lease != self._seen:
            self._seen, self._seen_at = lease, self._clock.monotonic()

    def _has_expired(self, lease: Lease) -> bool:
        if not lease.spec.holder_identity:
            return True
        # The longer of the holder's time and ours: a holder with other settings must not be cut short.
        seconds = max(lease.spec.lease_duration_seconds, self._settings.lease_seconds)
        return self._clock.monotonic() >= self._seen_at + seconds

    def _spec(self, lease: Lease | None) -> dict[str, Any]:
        now = micro_time(self._clock.wall())
        is_ours = lease is not None and lease.spec.holder_identity == self._settings.identity
        spec = {
            "holderIdentity": self._settings.identity,
            "leaseDurationSeconds": self._settings.lease_seconds,
            "renewTime": now,
        }
        if not is_ours:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = 0 if lease is None else lease.spec.lease_transitions + 1
        return spec

    def _won(self, lease: Lease, sent_at: float) -> None:
        self._observe(lease)
        self._leads_until = sent_at + self._settings.renew_deadline_seconds

    async def _release(self) -> None:
        """Lets others in at once, when the lease is still surely ours."""
        if not self.is_leader():
            return
        self._leads_until = float("-inf")
        with contextlib.suppress(ClusterError):
            lease = await self._client.get(LEASES, self._settings.name, self._settings.namespace)
            if lease.spec.holder_identity != self._settings.identity:
                return
            await self._client.merge_patch(
                LEASES,
                self._settings.name,
                {"spec": {"holderIdentity": None, "leaseDurationSeconds": 1}},
                manager=self._settings.identity,
                namespace=self._settings.namespace,
                resource_version=lease.metadata.resource_version,
            )

    def _left_seconds(self) -> float:
        return max(0.0, self._leads_until - self._clock.monotonic())

    def _where(self) -> str:
        return f"lease {self._settings.namespace}/{self._settings.name}"


async def _cancelled(task: asyncio.Future[None]) -> None:
    """Ends a task and waits for its end; its own error is raised by whoever awaits it, if anybody does."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
