"""Plays nodes: acts for the kubelet, the host agent and the device manager of machines that are not there.

Nodes are Ready and keep saying so, Pods bound to them run and go when they are deleted, Devices appear once their kind is
served. One process plays a thousand. What the objects say comes from `machines`; no container is started.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

from tests.cluster.api import STRATEGIC, Api, ApiError
from tests.cluster.errands import LOST, RETRY_SECONDS, Errands
from tests.cluster.layout import SYSTEM_NAMESPACE
from tests.cluster.machines import PlayedNode
from tests.cluster.played_devices import DevicesPublisher, Publication
from tests.cluster.played_pods import PODS, PodPlayer, delete
from tests.cluster.statuses import conditions, lease, now, now_seconds, with_conditions

Object = dict[str, Any]

LEASE_SECONDS: Final = 10.0
STATUS_SECONDS: Final = 300.0
"""A kubelet's own periods: it renews its lease every 10 s and repeats an unchanged status every 5 min."""
LEASES_PER_SECOND: Final = 40
LONGEST_LEASE_PAUSE_SECONDS: Final = 25.0
"""Half of the 50 s after which the controller-manager takes a node for lost."""

_LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_NODES: Final = "/api/v1/nodes"


@dataclass(slots=True)
class _Node:
    played: PlayedNode
    uid: str = ""
    speaks: bool = True
    owner: list[Object] = field(default_factory=list)


class NodePlayer:
    """Plays nodes until it is stopped; then they fall silent, as machines without power do.

    Threads: two watches, and those of `Errands`; every public call may come from any thread.
    """

    def __init__(
        self,
        api: Api,
        *,
        namespace: str = SYSTEM_NAMESPACE,
        lease_seconds: float = LEASE_SECONDS,
        status_seconds: float = STATUS_SECONDS,
        writers: int = 8,
        on_error: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._api = api.another()
        self._namespace = namespace
        self._periods = {"lease": lease_seconds, "status": status_seconds}
        self._on_error = on_error
        self._nodes: dict[str, _Node] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._errands = Errands(writers, on_error)
        self._threads = [
            threading.Thread(target=target, name=f"node-player-{target.__name__}", daemon=True)
            for target in (self._watch_pods, self._watch_nodes)
        ]
        self._pods = PodPlayer(self._api, self._errands, self._speaks)
        self._devices = DevicesPublisher(self._api, self._errands)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        self._errands.start()
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """No write after this. The objects stay."""
        self._stopping.set()
        self._errands.stop()
        self._api.close()
        for each in self._threads:
            each.join(5)

    @property
    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._nodes)

    def add(self, nodes: Iterable[PlayedNode]) -> None:
        """Nodes come up: Node, lease, NodeFeatures, and Devices when their kind is served. Returns when all are written.

        Raises: ApiError: one of them was refused; the others are written nevertheless.
        """
        asked: list[Future[None]] = [self._errands.ask(self._come_up, each) for each in nodes]
        errors = [error for each in asked if (error := each.exception()) is not None]
        if errors:
            raise errors[0]

    def remove(self, name: str) -> None:
        """The machine is taken out: no more heartbeat, and the Node is deleted. What it owns is collected by the cluster."""
        with self._lock:
            self._nodes.pop(name, None)
        delete(self._api, f"{_NODES}/{name}")

    def silence(self, name: str) -> None:
        """The machine stops speaking; the controller-manager finds out within a minute."""
        self._node(name).speaks = False

    def speak(self, name: str) -> None:
        """It speaks again, at once."""
        node = self._node(name)
        node.speaks = True
        self._heartbeat_status(node)
        self._heartbeat_lease(node)

    def publish_status(self, name: str, capacity: dict[str, str | None]) -> None:
        """The kubelet changes entries of capacity and allocatable alike; None takes one away."""
        self._api.patch(
            f"{_NODES}/{name}/status", {"status": {"capacity": capacity, "allocatable": capacity}}, STRATEGIC
        )

    def _come_up(self, played: PlayedNode) -> None:
        manifest = with_conditions(played.node)
        try:
            made = self._api.post(_NODES, manifest)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            self._api.patch(f"{_NODES}/{played.name}", {"metadata": {"labels": played.node["metadata"]["labels"]}})
            made = self._api.patch(f"{_NODES}/{played.name}/status", {"status": manifest["status"]}, STRATEGIC)
        node = _Node(played, made["metadata"]["uid"])
        node.owner = [{"apiVersion": "v1", "kind": "Node", "name": played.name, "uid": node.uid}]
        with self._lock:
            self._nodes[played.name] = node
        self._api.make_or_patch(_LEASES, lease(played.name, node.owner))
        for feature in played.features:
            self._api.make_or_patch(
                f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{self._namespace}/nodefeatures", _owned(feature, node)
            )
        if played.devices is not None:
            self._devices.publish(Publication(_owned(played.devices, node), lambda: self._is_current(node)))
        self._repeat(self._lease_pause, node, self._heartbeat_lease)
        self._repeat(lambda: self._periods["status"], node, self._heartbeat_status)

    def _heartbeat_lease(self, node: _Node) -> None:
        self._api.patch(f"{_LEASES}/{node.played.name}", {"spec": {"renewTime": now()}})

    def _heartbeat_status(self, node: _Node) -> None:
        said = conditions(now_seconds())
        for each in said:
            del each["lastTransitionTime"]
        self._api.patch(f"{_NODES}/{node.played.name}/status", {"status": {"conditions": said}}, STRATEGIC)

    def _watch_nodes(self) -> None:
        """A kubelet makes every entry of capacity allocatable, also those that others wrote."""
        self._follow(_NODES, self._see_node)

    def _see_node(self, kind: str, seen: Object) -> None:
        node = self._nodes.get(seen["metadata"]["name"])
        if node is None or node.uid != seen["metadata"]["uid"]:
            return
        if kind == "DELETED":
            with self._lock:
                if self._nodes.get(node.played.name) is node:
                    del self._nodes[node.played.name]
            return
        capacity, allocatable = seen["status"].get("capacity", {}), seen["status"].get("allocatable", {})
        own = node.played.node["status"]["capacity"]
        wanted: dict[str, str | None] = {
            name: amount for name, amount in capacity.items() if name not in own and allocatable.get(name) != amount
        }
        wanted |= {name: None for name in allocatable if name not in capacity}
        if wanted and node.speaks:
            path = f"{_NODES}/{node.played.name}/status"
            self._errands.insist(lambda: self._api.patch(path, {"status": {"allocatable": wanted}}, STRATEGIC))

    def _watch_pods(self) -> None:
        self._follow(PODS, self._pods.see, fieldSelector="spec.nodeName!=")

    def _follow(self, path: str, see: Callable[[str, Object], None], **query: Any) -> None:
        """List, then watch, again from the start whenever that breaks. The pace of a kubelet, not of an informer."""
        while not self._stopping.is_set():
            try:
                listed = self._api.get(path, **query)
                for each in listed["items"]:
                    see("ADDED", each)
                version = listed["metadata"]["resourceVersion"]
                for kind, seen in self._api.watch(path, timeout_seconds=600, resourceVersion=version, **query):
                    if self._stopping.is_set():
                        return
                    see(kind, seen)
            except (ApiError, *LOST) as error:
                if self._stopping.is_set():
                    return
                self._on_error(f"watch {path}: {error}")
                self._stopping.wait(RETRY_SECONDS)

    def _lease_pause(self) -> float:
        """Longer with many nodes: a thousand kubelets have a thousand machines, this has a part of one."""
        spread = min(len(self._nodes) / LEASES_PER_SECOND, LONGEST_LEASE_PAUSE_SECONDS)
        return max(self._periods["lease"], spread)

    def _repeat(self, pause: Callable[[], float], node: _Node, act: Callable[[_Node], None]) -> None:
        def once() -> None:
            if not self._is_current(node):
                return
            self._errands.after(pause(), once)
            if node.speaks:
                act(node)

        self._errands.after(pause(), once)

    def _node(self, name: str) -> _Node:
        with self._lock:
            return self._nodes[name]

    def _speaks(self, name: str) -> bool:
        node = self._nodes.get(name)
        return node is not None and node.speaks

    def _is_current(self, node: _Node) -> bool:
        with self._lock:
            return self._nodes.get(node.played.name) is node


def _owned(manifest: Object, node: _Node) -> Object:
    return manifest | {"metadata": manifest["metadata"] | {"ownerReferences": node.owner}}
