"""A cluster as far as node features go: Nodes and NodeFeatures as maps, a clock that is moved, and passes until all is quiet.

Plays the API server (versions, conflicts, merge patches) and the controller around the pure core. No assertions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from engine.cluster.actions import Action, EmitEvent, MergePatch
from engine.cluster.objects import ManagedFields
from engine.features.book import FeatureBook, Permission, nfd_has_written
from engine.features.foreign import PodSeen, Provider, Signals, Standing, judge, manager_of
from engine.features.keys import NODE_NAME
from engine.features.merge import Trust
from engine.features.neighbourhood import Policy
from engine.features.objects import NodeView, read_feature
from engine.features.planner import MANAGER, plan
from engine.features.rules import HostRules
from engine.lang.linking import link
from engine.lang.program import Program
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE

NAMESPACE = "gpustack-system"
MASTER = PodSeen("nfd", "nfd-master-0", {"app": "nfd-master"})
PCI_FIELDS = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")


@cache
def program() -> Program:
    linked = link(shipped_packs(), CATALOGUE)
    assert linked.program is not None, [f"{each.place}: {each.message}" for each in linked.diagnostics.sorted()]
    return linked.program


@cache
def rules() -> HostRules:
    return HostRules(program())


def policy(**changes: Any) -> Policy:
    return replace(Policy(trust=Trust(NAMESPACE), installation=NAMESPACE), **changes)


class ConflictError(Exception):
    """The Node was written since it was read."""


@dataclass
class Node:
    name: str
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    uid: str = ""
    version: int = 1
    writers: dict[str, str] = field(default_factory=dict)

    def view(self) -> NodeView:
        return NodeView(self.name, self.uid, str(self.version), dict(self.labels), dict(self.annotations))

    def edit(self, part: str, changes: Mapping[str, str | None], by: str) -> None:
        held = getattr(self, part)
        for key, value in changes.items():
            if value is None:
                held.pop(key, None)
            else:
                held[key] = value
                self.writers[key] = by
        self.version += 1


def document(place: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """A NodeFeature from its short form: labels, attributes, pci (rows), node, owner."""
    namespace, _, name = place.rpartition("/")
    metadata: dict[str, Any] = {"name": name, "namespace": namespace or NAMESPACE}
    if "owner" in told:
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", **told["owner"]}]
    elif told.get("node", "n1") is not None:
        metadata["labels"] = {NODE_NAME: told.get("node", "n1")}
    features: dict[str, Any] = {}
    if "attributes" in told:
        features["attributes"] = {name: {"elements": each} for name, each in told["attributes"].items()}
    if "pci" in told:
        rows = [dict(zip(PCI_FIELDS, row, strict=False)) for row in told["pci"]]
        features["instances"] = {"pci.device": {"elements": [{"attributes": row} for row in rows]}}
    spec = {name: each for name, each in (("labels", told.get("labels")), ("features", features)) if each}
    return {"metadata": metadata, "spec": spec}


class World:
    """One cluster and the provider in it."""

    def __init__(self, given: Policy | None = None) -> None:
        self.policy = given or policy()
        self.now = 1000.0
        self.nodes: dict[str, Node] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.events: list[EmitEvent] = []
        self.writes: list[MergePatch] = []
        self.attempts = 0
        self.history: list[tuple[str, dict[str, str]]] = []
        self.is_nfd_alive = False
        self._version = 100
        self.start()

    def start(self, *, is_listed: bool = True) -> None:
        """A new process: lists everything, remembers nothing."""
        self.book = FeatureBook(self.policy.absence_grace_seconds)
        self.book.listed_seconds = self.now if is_listed else None
        self.standing = Standing(self.now)
        self.wrote: tuple[float, str] | None = None
        self.due: dict[str, float] = {}
        for node in self.nodes.values():
            self.book.put_node(node.view())
        for each in self.objects.values():
            self.book.put_object(read_feature(each))

    def put_node(self, name: str, told: Mapping[str, Any] | None = None) -> None:
        told = told or {}
        self.nodes[name] = Node(
            name, dict(told.get("labels") or {}), dict(told.get("annotations") or {}), told.get("uid", f"uid-{name}")
        )
        self.book.put_node(self.nodes[name].view())

    def remove_node(self, name: str) -> None:
        del self.nodes[name]
        self.book.remove_node(name)

    def put_object(self, place: str, told: Mapping[str, Any] | None) -> None:
        place = place if "/" in place else f"{NAMESPACE}/{place}"
        if told is None:
            del self.objects[place]
            namespace, _, name = place.partition("/")
            self.book.remove_object(namespace, name, self.now)
            return
        self._version += 1
        made = document(place, told)
        made["metadata"]["resourceVersion"] = str(self._version)
        self.objects[place] = made
        self.book.put_object(read_feature(made))

    def edit(self, name: str, part: str, changes: Mapping[str, str | None], by: str = "kubectl") -> None:
        node = self.nodes[name]
        before = node.view()
        node.edit(part, changes, by)
        self.history.append((name, dict(node.labels)))
        self.book.put_node(node.view())
        if by == "nfd-master" and nfd_has_written(before, node.view()):
            self.wrote = (self.now, name)

    def advance(self, seconds: float) -> None:
        """Time passes, and passes run when they are due."""
        end = self.now + seconds
        self.settle()
        while self.now < end:
            self.now = min((each for each in self.due.values() if each <= end), default=end)
            self.settle()

    def settle(self) -> None:
        """Passes over all Nodes until none wants anything."""
        self._judge()
        for _ in range(8):
            wanted = [name for name in self.book.nodes() if self.run(name)]
            if not wanted:
                return
        raise AssertionError("passes go on for ever")

    def run(self, name: str, *, meanwhile: Mapping[str, str | None] | None = None) -> tuple[Action, ...]:
        """One pass; `meanwhile` is what somebody labels after the pass has looked."""
        neighbourhood = self.book.neighbourhood(name, self.now)
        assert neighbourhood is not None
        made = plan(neighbourhood, rules(), self.policy)
        if meanwhile:
            self.nodes[name].edit("labels", meanwhile, "kubectl")
        try:
            for action in made.actions:
                self._do(action)
        except ConflictError:
            self.book.put_node(self.nodes[name].view())
            return self.run(name)
        for each in made.stopped:
            fields = [_managed(key, writer) for key, writer in self.nodes[name].writers.items()]
            writer = manager_of(fields, each.key, is_label=each.is_label)
            self.events.append(
                EmitEvent(None, "FeatureStopped", f"{each.key} is rewritten by {writer}", "")  # type: ignore[arg-type]
            )
        self.book.remember(name, made.memory)
        self.due.pop(name, None)
        if made.again_after_seconds is not None:
            self.due[name] = self.now + made.again_after_seconds
        return made.actions

    def _judge(self) -> None:
        wrote = self.wrote or (None, "")
        signals = Signals(pods=(MASTER,) if self.is_nfd_alive else (), wrote_seconds=wrote[0], wrote_node=wrote[1])
        self.standing = judge(Provider.BUILTIN, signals, self.standing, self.now)
        self.book.permission = Permission(self.standing.permission.may_write, self.standing.permission.may_adopt)

    def _do(self, action: Action) -> None:
        if isinstance(action, EmitEvent):
            self.events.append(action)
            return
        assert isinstance(action, MergePatch)
        self.attempts += 1
        if action.resource.kind == "NodeFeature":
            self._patch_object(action)
            return
        node = self.nodes[action.key.name]
        if action.resource_version != str(node.version):
            raise ConflictError
        self.writes.append(action)
        for part, changes in action.patch["metadata"].items():
            node.edit(part, changes, MANAGER)
        self.history.append((node.name, dict(node.labels)))
        self.book.put_node(node.view())

    def _patch_object(self, action: MergePatch) -> None:
        held = self.objects[str(action.key)]
        if action.resource_version != held["metadata"]["resourceVersion"]:
            raise ConflictError
        labels = held["spec"].setdefault("labels", {})
        for key, value in action.patch["spec"]["labels"].items():
            if value is None:
                labels.pop(key, None)
            else:
                labels[key] = value
        self._version += 1
        held["metadata"]["resourceVersion"] = str(self._version)
        self.book.put_object(read_feature(held))


def _managed(key: str, writer: str) -> ManagedFields:
    return ManagedFields(manager=writer, operation="Update", fields={"f:metadata": {"f:labels": {f"f:{key}": {}}}})
