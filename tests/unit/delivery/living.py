"""A worker's side: deliveries judged as they come, the outcome published into a cluster of maps, restarts.

No assertions here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from engine.cluster.actions import Apply, Delete, MergePatch
from engine.delivery.decide import NO_OVERRIDES
from engine.delivery.directory import Mount
from engine.delivery.publish import approval_action, program_actions, rule_pack_actions
from engine.delivery.standing import Standing, after_approval, after_delivery
from engine.delivery.stored import HEAD, approved_in, restored, start
from engine.delivery.verdict import InForce, State
from tests.fakes.virtual import VirtualClock
from tests.unit.delivery.mounts import ORIGIN, image, snapshot

NAMESPACE = "gpustack-system"


class Cluster:
    """ConfigMaps and RulePacks, as far as delivery writes them."""

    def __init__(self) -> None:
        self.maps: dict[str, dict[str, str]] = {}
        self.annotations: dict[str, str] = {}
        self.packs: dict[str, dict[str, Any]] = {}

    def write(self, actions: list[Any], *, only_first: int | None = None) -> None:
        for action in actions[:only_first]:
            match action:
                case Apply(resource=resource, body=body) if resource.kind == "ConfigMap":
                    self.maps[body["metadata"]["name"]] = dict(body["data"])
                case Apply(body=body):
                    self.packs.setdefault(body["metadata"]["name"], {}).update(body)
                case Delete(resource=resource, key=key):
                    (self.maps if resource.kind == "ConfigMap" else self.packs).pop(key.name, None)
                case MergePatch(patch=patch):
                    self.annotations |= patch["metadata"]["annotations"]

    @property
    def approved(self) -> frozenset[str]:
        return approved_in(self.annotations)

    def statuses(self) -> dict[str, Any]:
        return {name: each.get("status", {}) for name, each in self.packs.items()}

    def status(self, name: str) -> dict[str, Any]:
        return dict(self.packs[name]["status"])


class Worker:
    """One process after the other over one cluster and one mount. Counters: `judged` and `swapped` (programs)."""

    def __init__(self, mount: Path, cluster: Cluster | None = None) -> None:
        self.cluster = cluster or Cluster()
        self.origin = ""
        self.notes: tuple[str, ...] = ()
        self.judged = 0
        self.served: list[str] = []
        self.standing = Standing()
        self._path = mount
        self._stirred: asyncio.Queue[None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        mount = Mount(self._path, origin=ORIGIN, clock=VirtualClock(), events=self._events)
        begun = start(restored(self.cluster.maps), mount.read(), image(), self.cluster.approved)
        self.origin, self.notes, self.standing = begun.origin, begun.notes, begun.standing
        self._publish(None)
        self._task = asyncio.create_task(self._live(mount))

    async def stop(self) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def stir(self) -> None:
        """An event of the directory, whatever it was."""
        self._stirred.put_nowait(None)

    def approve(self) -> None:
        assert self.standing.verdict is not None
        self.cluster.write([approval_action(self.standing.verdict.digest, NAMESPACE)])
        self._move(after_approval(self.standing, self.cluster.approved))

    @property
    def serving(self) -> InForce:
        assert self.standing.serving is not None
        return self.standing.serving

    @property
    def state(self) -> str:
        return str(self.standing.verdict.state) if self.standing.verdict else ""

    async def _live(self, mount: Mount) -> None:
        async for candidate in mount.deliveries():
            known = self.standing.verdict
            self.judged += known is None or known.candidate != candidate.digest
            self._move(
                after_delivery(self.standing, candidate, snapshot(), self.cluster.approved, overrides=NO_OVERRIDES)
            )

    def _move(self, standing: Standing) -> None:
        before, self.standing = self.standing.serving, standing
        self._publish(before)

    def _publish(self, before: InForce | None) -> None:
        self.served.append(self.serving.program.digest)
        verdict = self.standing.verdict
        waiting = verdict.digest if verdict is not None and verdict.state is State.HELD else ""
        self.cluster.write(
            program_actions(
                self.serving, NAMESPACE, previous=before, waiting=waiting, existing=sorted(self.cluster.maps)
            )
        )
        if verdict is not None:
            now = VirtualClock().wall().strftime("%Y-%m-%dT%H:%M:%SZ")
            self.cluster.write(rule_pack_actions(verdict, self.cluster.statuses(), now))
        assert HEAD in self.cluster.maps

    async def _events(self, _path: Path) -> AsyncIterator[object]:
        while True:
            yield await self._stirred.get()
