"""What objects share with each other and with their states before, and that they say the same as without."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from engine.api.devices import Devices
from engine.cluster.cache import Cache
from engine.cluster.decode import decode_object
from engine.cluster.objects import Node, Owned
from engine.cluster.sharing import share
from engine.features.objects import NodeFeature

LONG = "acceleratable.gpustack.ai/a-model-with-a-name-longer-than-any-decoder-keeps"


def body(version: str = "1", **metadata: Any) -> bytes:
    """A Node. Made anew each time, so that no text of it is another's."""
    status = {"capacity": {"cpu": "16"}, "nodeInfo": {"architecture": "amd64"}, "conditions": [{"type": "Ready"}]}
    labels = {LONG: "true", "zone": "north"}
    return json.dumps(
        {"metadata": {"name": "node-a", "resourceVersion": version, "labels": labels} | metadata, "status": status}
    ).encode()


def node(version: str = "1", **metadata: Any) -> Node:
    return decode_object(body(version, **metadata), Node, "x")


def devices(version: str, *remaining: int) -> Devices:
    cards = [{"id": f"GPU-{at}", "index": at, "remaining": each} for at, each in enumerate(remaining)]
    status = {"groups": [{"id": "a10g", "manufacturer": "acme", "accelerators": cards}]}
    spec = {"groups": [{"id": "a10g", "manufacturer": "acme", "accelerators": [{"id": each["id"]} for each in cards]}]}
    return decode_object(
        json.dumps({"metadata": {"name": "a", "resourceVersion": version}, "spec": spec, "status": status}).encode(),
        Devices,
        "x",
    )


def feature(version: str, **elements: str) -> NodeFeature:
    features = {
        "attributes": {"cpu.model": {"elements": elements}},
        "instances": {"pci.device": {"elements": [{"attributes": {"vendor": "10de"}}]}},
    }
    thing = {
        "metadata": {"name": "a", "resourceVersion": version},
        "spec": {"labels": {LONG: "1"}, "features": features},
    }
    return decode_object(json.dumps(thing).encode(), NodeFeature, "x")


def owned(version: str, spec: dict[str, Any]) -> Owned:
    return decode_object(
        json.dumps({"metadata": {"name": "a", "resourceVersion": version}, "spec": spec}).encode(), Owned, "x"
    )


def test_a_state_that_is_told_twice_stays_the_one_that_others_have_parts_of() -> None:
    cache: Cache[Node] = Cache()
    written = node("2")
    cache.put(written)
    assert cache.put(node("2")) is written
    assert cache.get("node-a") is written


def test_a_heartbeat_has_everything_but_its_version_in_common_with_the_state_before() -> None:
    cache: Cache[Node] = Cache()
    before, after = node("1"), node("2")
    cache.put(before)
    cache.put(after)
    assert cache.get("node-a") is after
    assert after.metadata.resource_version == "2"
    assert after.metadata.labels is before.metadata.labels
    assert after.metadata.name is before.metadata.name
    assert after.status is before.status
    assert before.metadata.resource_version == "1"


def test_a_label_that_changed_leaves_the_other_parts_in_common() -> None:
    before, after = node("1", annotations={"a": "b"}), node("2", annotations={"a": "b"}, labels={LONG: "false"})
    share(before, None)
    share(after, before)
    assert after.metadata.labels == {LONG: "false"}
    assert before.metadata.labels == {LONG: "true", "zone": "north"}
    assert after.metadata.annotations is before.metadata.annotations


def test_a_card_that_was_taken_leaves_the_rows_beside_it_in_common() -> None:
    before, after = devices("1", 10, 10, 10), devices("2", 10, 0, 10)
    share(before, None)
    share(after, before)
    old, new = (each.status.groups[0].accelerators for each in (before, after))
    assert [each.remaining for each in new] == [10, 0, 10]
    assert [each.remaining for each in old] == [10, 10, 10]
    assert [one is other for one, other in zip(old, new, strict=True)] == [True, False, True]
    assert new[1].id is old[1].id
    assert after.spec is before.spec


def test_texts_of_different_nodes_are_one_text() -> None:
    cache: Cache[Node] = Cache()
    one, other = node(name="node-a", labels={LONG: "a long value"}), node(name="node-b", labels={LONG: "a long value"})
    cache.put(one)
    cache.put(other)
    (key, value), (same_key, same_value) = (next(iter(each.metadata.labels.items())) for each in (one, other))
    assert key is same_key
    assert value is same_value
    assert one.status.node_info.architecture is other.status.node_info.architecture


PAIRS: list[tuple[Any, Any]] = [
    (lambda: node("1"), lambda: node("2")),
    (lambda: node("1"), lambda: node("2", labels={})),
    (lambda: node("1"), lambda: decode_object(b'{"metadata": {"name": "node-a"}}', Node, "x")),
    (lambda: decode_object(b'{"metadata": {"name": "node-a"}}', Node, "x"), lambda: node("2", uid="u")),
    (lambda: node("1"), lambda: node("2", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a/b"])),
    (lambda: devices("1", 10, 10), lambda: devices("2", 10)),
    (lambda: devices("1"), lambda: devices("2", 10, 0)),
    (lambda: feature("1", vendor="acme"), lambda: feature("2", vendor="acme", family="6")),
    (lambda: owned("1", {"a": {"b": [1, {"c": "d"}]}}), lambda: owned("2", {"a": {"b": [1, {"c": "e"}]}})),
    (lambda: owned("1", {"a": [1]}), lambda: owned("2", {"a": None, "b": 2, "c": True, "d": 0.5, "e": {}})),
]


@pytest.mark.parametrize(("make_before", "make_after"), PAIRS)
def test_no_object_says_anything_else_for_what_it_shares(make_before: Any, make_after: Any) -> None:
    before, after = make_before(), make_after()
    share(before, None)
    share(after, before)
    assert msgspec.json.encode(before) == msgspec.json.encode(make_before())
    assert msgspec.json.encode(after) == msgspec.json.encode(make_after())


def test_an_index_is_not_touched_by_what_it_does_not_ask() -> None:
    cache: Cache[Node] = Cache()
    cache.add_index("zone", lambda each: [each.metadata.labels.get("zone", "")])
    cache.put(node("1"))
    cache.put(node("2"))
    assert [each.metadata.resource_version for each in cache.by_index("zone", "north")] == ["2"]
    cache.put(node("3", labels={}))
    assert cache.index_values("zone") == {""}
