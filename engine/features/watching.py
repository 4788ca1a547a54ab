"""What of a real NFD is watched: Pods that look like its master, and its Lease.

Gathers signals for `foreign`, which judges them. Masters are found by their labels alone: to look at every Pod's image would
mean to watch every Pod.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from engine.cluster.client import Client, Selection
from engine.cluster.informer import Informer, Trouble
from engine.cluster.objects import Condition, Lease, Meta, Part
from engine.cluster.resources import LEASES, PODS, Resource
from engine.features.foreign import LEASE, LeaseSeen, PodSeen, Signals

MASTERS: Final = ("app.kubernetes.io/name=node-feature-discovery,role=master", "app=nfd-master")


class MasterStatus(Part, frozen=True):
    conditions: tuple[Condition, ...] = ()


class MasterPod(Part, frozen=True):
    """A Pod, and whether it is ready."""

    metadata: Meta
    status: MasterStatus = MasterStatus()


_MASTER_PODS: Final[Resource[MasterPod]] = Resource(
    PODS.group, PODS.version, PODS.plural, PODS.kind, is_namespaced=True, struct=MasterPod
)


class ForeignWatch:
    """The informers, and what they have seen. `changed` is called when a signal may be another."""

    def __init__(
        self, client: Client, *, changed: Callable[[], None], report: Callable[[Trouble], None] = lambda _: None
    ) -> None:
        self._clock = client.clock
        self._changed = changed
        self._leases: dict[tuple[str, str], LeaseSeen] = {}
        self._wrote: tuple[float, str] | None = None
        self._pods = [Informer(client, _MASTER_PODS, Selection(labels=each), report=report) for each in MASTERS]
        lease = Informer(client, LEASES, Selection(fields=f"metadata.name={LEASE}"), report=report)
        lease.add_handler(self._take_lease)
        for each in self._pods:
            each.add_handler(lambda _before, _after: changed())
        self.informers: tuple[Informer[MasterPod] | Informer[Lease], ...] = (*self._pods, lease)

    def wrote(self, node: str) -> None:
        """A real NFD's bookkeeping has just grown on a Node."""
        self._wrote = (self._clock.monotonic(), node)
        self._changed()

    def signals(self) -> Signals:
        """What is known now."""
        pods = {(pod.metadata.namespace, pod.metadata.name): pod for each in self._pods for pod in each.cache}
        seconds, node = self._wrote or (None, "")
        return Signals(
            pods=tuple(_seen(pods[key]) for key in sorted(pods)),
            leases=tuple(self._leases[key] for key in sorted(self._leases)),
            wrote_seconds=seconds,
            wrote_node=node,
        )

    def _take_lease(self, before: Lease | None, after: Lease | None) -> None:
        if after is None:
            if before is not None:
                self._leases.pop((before.metadata.namespace, before.metadata.name), None)
        elif before is None or before.spec.renew_time != after.spec.renew_time:
            key = (after.metadata.namespace, after.metadata.name)
            age_seconds = self._age_seconds(after.spec.renew_time) if before is None else 0.0
            self._leases[key] = LeaseSeen(*key, self._clock.monotonic(), age_seconds)
        self._changed()

    def _age_seconds(self, renewed: str) -> float:
        try:
            return (self._clock.wall() - datetime.fromisoformat(renewed)).total_seconds()
        except (ValueError, TypeError):
            return 0.0


def _seen(pod: MasterPod) -> PodSeen:
    is_ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return PodSeen(pod.metadata.namespace, pod.metadata.name, pod.metadata.labels, is_ready=is_ready)
