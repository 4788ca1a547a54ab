"""What host, device manager and kubelet of a machine write: objects, made from machine files by the shipped rules.

Nothing is sent anywhere. What the worker adds later (its NodeFeature, labels on the Node, counted capacity) is left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.chain.node import NodePlanner
from engine.chain.settings import parse_settings
from engine.domain.facts import NodeFacts
from engine.lang.diagnostics import Diagnostics
from engine.lang.render import render_text
from engine.machines.document import check_names, read_machines
from engine.rulefiles import read_source
from engine.worker.render.devices import devices
from engine.worker.render.nodefeature import device_manager_node_feature, host_node_feature
from tests.cluster.errors import ClusterError
from tests.cluster.rules import shipped_program

Object = dict[str, Any]

UNMANAGED: Final = "false"
"""Planned as a node out of management, a node's capacity is what the kubelet alone says: machine and device plugins."""

_NOT_THE_DEVICE_MANAGERS: Final = ("gpustack.ai/managed", "topology.gpustack.ai/", "general.feature.gpustack.ai/")
"""Labels of Devices that the worker adds. Source: specification 20 §2.5."""


@dataclass(frozen=True, slots=True)
class PlayedNode:
    """One machine as objects. Shape: `allocatable` differs from the capacity while cards are unhealthy."""

    name: str
    node: Object
    features: tuple[Object, ...]
    devices: Object | None


def machine_facts(paths: Iterable[Path | str]) -> list[NodeFacts]:
    """The machines of files, and of folders at any depth, by name. Raises ClusterError."""
    diagnostics = Diagnostics()
    documents = []
    for file in dict.fromkeys(each for path in paths for each in _files(Path(path))):
        found, said = read_machines(read_source(file))
        documents.extend(found)
        diagnostics.extend(said)
    diagnostics.extend(check_names(documents))
    if diagnostics.has_errors:
        raise ClusterError(render_text(diagnostics.sorted()))
    return sorted((each.facts for each in documents), key=lambda facts: facts.name)


def copies(facts: Iterable[NodeFacts], count: int) -> Iterator[NodeFacts]:
    """Each machine `count` times, named `<name>-0001` and on, its cards with UUIDs of their own."""
    for one in facts:
        for number in range(1, count + 1):
            end = f"-{number:04d}"
            libraries = tuple(
                replace(each, cards=tuple(replace(card, uuid=card.uuid + end) for card in each.cards))
                for each in one.libraries
            )
            labels = dict(one.labels)
            if "kubernetes.io/hostname" in labels:
                labels["kubernetes.io/hostname"] = one.name + end
            yield replace(one, name=one.name + end, labels=labels, libraries=libraries)


class Machinery:
    """Turns facts into objects, with the shipped rules and their default settings."""

    def __init__(self) -> None:
        program = shipped_program()
        self._planner = NodePlanner(program, parse_settings(program.block("settings")).values)
        self._slots = {maker: (program.block("identity", maker) or {}).get("slots", ()) for maker in program.makers}

    def objects(self, facts: NodeFacts) -> PlayedNode:
        plan = self._planner.plan(facts, managed_label=UNMANAGED)
        healthy = self._planner.plan(_without_unhealthy(facts), managed_label=UNMANAGED)
        made = devices(plan, self._slots)
        if made is not None:
            labels = made["metadata"]["labels"]
            made["metadata"]["labels"] = {
                key: value for key, value in labels.items() if not key.startswith(_NOT_THE_DEVICE_MANAGERS)
            }
        features = (host_node_feature(plan), device_manager_node_feature(plan))
        allocatable = {name: healthy.capacity.get(name, "0") for name in plan.capacity}
        node = _node(facts, plan.capacity, allocatable)
        return PlayedNode(facts.name, node, tuple(each for each in features if each is not None), made)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise ClusterError(f"{path} is not there; give machine files, or folders that hold them")
    return sorted(path.rglob("*.yaml")) if path.is_dir() else [path]


def _without_unhealthy(facts: NodeFacts) -> NodeFacts:
    libraries = tuple(
        replace(each, cards=tuple(card for card in each.cards if not card.unhealthy)) for each in facts.libraries
    )
    return replace(facts, libraries=libraries)


def _node(facts: NodeFacts, capacity: Any, allocatable: Any) -> Object:
    labels = {"kubernetes.io/os": facts.os, "kubernetes.io/arch": facts.arch, "kubernetes.io/hostname": facts.name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": facts.name,
            "labels": labels | dict(facts.topology_levels) | dict(facts.labels),
            "annotations": dict(facts.annotations),
        },
        "status": {
            "capacity": dict(capacity),
            "allocatable": dict(allocatable),
            "addresses": [
                {"type": "InternalIP", "address": "127.0.0.1"},
                {"type": "Hostname", "address": facts.name},
            ],
            "nodeInfo": {
                "machineID": facts.name,
                "systemUUID": facts.name,
                "bootID": facts.name,
                "kernelVersion": "played",
                "osImage": "played",
                "containerRuntimeVersion": "played://1",
                "kubeletVersion": "v0.0.0-played",
                "kubeProxyVersion": "",
                "operatingSystem": facts.os,
                "architecture": facts.arch,
            },
        },
    }
