"""What passes cost: a thousand Nodes cold, and the same again when nothing changed."""

from __future__ import annotations

import time
from typing import Any

from engine.features.book import FeatureBook
from engine.features.bookkeeping import Owned
from engine.features.neighbourhood import Memory
from engine.features.objects import FeatureObject, NodeView, read_feature
from engine.features.planner import plan
from engine.features.rules import HostRules
from engine.lang.outcome import Outcome
from tests.unit.features.world import NAMESPACE, document, policy, program, rules

NODES = 1000
GROWTH = 3.0
"""How much dearer a Node may be among ten times as many. Measured: 1.0; 0.24 ms a Node, cold and again."""


class Counted:
    """The shipped program, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.makers = program().makers

    def block(self, name: str, maker: str | None = None) -> Any:
        return program().block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        self.asked += 1
        return program().evaluate(section, inputs, maker)


def _book(nodes: int = NODES) -> FeatureBook:
    book = FeatureBook(60.0)
    book.listed_seconds = 0.0
    for number in range(nodes):
        name = f"node-{number}"
        book.put_node(NodeView(name, f"uid-{number}", "1", {"kubernetes.io/hostname": name}))
        for place, told in _objects(number).items():
            book.put_object(read_feature(document(f"{name}-gpustack-{place}", {**told, "node": name})))
    return book


def _objects(number: int) -> dict[str, dict[str, object]]:
    cpu = {
        "vendor_id": "AMD",
        "family": "25",
        "id": "1",
        "name": f"AMD EPYC {7000 + number % 8}",
        "logical_cores": "128",
    }
    key = f"acceleratable.feature.gpustack.ai/nvidia-card-{number % 16}"
    return {
        "host": {
            "attributes": {"cpu.model": cpu},
            "pci": [["0302", "10de", "2237", "10de", "152f"]] * 8,
            "labels": {"pci-10de.present": "true", "cpu-model.vendor_id": "AMD", "cpu-model.family": "25"},
        },
        "device-manager": {
            "labels": {
                "feature.gpustack.ai/acceleratable": "true",
                "acceleratable.feature.gpustack.ai/nvidia": "true",
                key: "true",
                **{f"{key}.{name}": "24Gi" for name in ("product", "memory", "cores", "count", "family", "comcap")},
            }
        },
        "worker": {
            "labels": {"gpustack.ai/managed": "true", "general.feature.gpustack.ai/amd": "true", "x.io/n": str(number)}
        },
    }


def _pass(book: FeatureBook, host_rules: HostRules) -> int:
    written = 0
    for name in book.nodes():
        seen = book.neighbourhood(name, 1000.0)
        assert seen is not None
        made = plan(seen, host_rules, policy())
        book.remember(name, made.memory)
        for action in made.actions:
            parts = action.patch["metadata"]  # type: ignore[union-attr]
            labels, annotations = dict(seen.node.labels), dict(seen.node.annotations)
            labels.update(parts.get("labels", {}))
            annotations.update(parts.get("annotations", {}))
            book.put_node(NodeView(name, seen.node.uid, "2", labels, annotations))
            written += 1
    return written


def test_each_kind_of_host_is_asked_about_once_and_what_is_unchanged_is_not_written() -> None:
    counted = Counted()
    host_rules = HostRules(counted)  # type: ignore[arg-type]
    book = _book()
    assert _pass(book, host_rules) == NODES
    assert counted.asked == 8 + 1, "eight kinds of CPU, and the switch"
    assert _pass(book, host_rules) == 0
    assert counted.asked == 8 + 1


def test_nodes_of_one_kind_are_remembered_as_one() -> None:
    book = FeatureBook(60.0)
    for name in ("node-a", "node-b", "node-c"):
        book.put_node(NodeView(name))
        book.remember(name, Memory(is_first=False, labels={"cpu": "acme"}, owned=Owned(frozenset({"cpu"}))))
    book.remember("node-c", Memory(is_first=False, labels={"cpu": "other"}, owned=Owned(frozenset({"cpu"}))))
    one, same, other = (_memory(book, name) for name in ("node-a", "node-b", "node-c"))
    assert same is one
    assert other.labels == {"cpu": "other"}


def _memory(book: FeatureBook, name: str) -> Memory:
    seen = book.neighbourhood(name, 1000.0)
    assert seen is not None
    return seen.memory


def test_a_node_costs_the_same_among_many() -> None:
    def seconds_a_node(nodes: int) -> float:
        book = _book(nodes)
        began = time.process_time()
        assert _pass(book, rules()) == nodes
        return (time.process_time() - began) / nodes

    few = min(seconds_a_node(NODES // 10) for _ in range(3))
    assert seconds_a_node(NODES) < GROWTH * few


def test_an_object_that_says_the_same_again_concerns_nobody() -> None:
    book = _book()
    seen = read_feature(document("node-1-gpustack-worker", {**_objects(1)["worker"], "node": "node-1"}))
    assert book.put_object(seen) == []
    assert book.put_object(FeatureObject(NAMESPACE, "new", "node-1", {"k": "v"})) == ["node-1"]
