"""From bytes to structs: in any pieces, with unknown fields, one bad object at a time."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.cache import Cache
from engine.cluster.decode import as_map, decode_event, decode_object, decode_page
from engine.cluster.errors import BadObject, Status
from engine.cluster.objects import Node, Owned
from engine.cluster.resources import NODES, PODS, RESOURCE_FLAVORS, RESOURCES, ObjectKey
from engine.cluster.watch import LineSplitter


@given(st.lists(st.text(alphabet='ab{}"é', max_size=9), max_size=8), st.data())
def test_lines_come_whole_however_they_are_cut(lines: list[str], data: st.DataObject) -> None:
    stream = "".join(line + "\n" for line in lines).encode()
    splitter, found, at = LineSplitter(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, 7))
        found += splitter.feed(stream[at : at + size])
        at += size
    assert found == [line.encode() for line in lines if line]


def test_a_line_of_several_megabytes_passes() -> None:
    splitter = LineSplitter()
    pieces = [b"x" * 65536] * 64
    assert [line for piece in pieces for line in splitter.feed(piece)] == []
    assert [len(line) for line in splitter.feed(b"\n{")] == [64 * 65536]


def test_fields_nobody_reads_are_dropped_and_defaults_stand_in() -> None:
    body = {
        "metadata": {"name": "n", "managedFields": [{"manager": "k"}], "future": 1},
        "spec": {"podCIDR": "10.0.0.0/24"},
        "status": {"images": [{"names": ["x"]}], "capacity": {"cpu": "4"}},
    }
    found = decode_object(json.dumps(body).encode(), Node, "here")
    assert found.status.capacity == {"cpu": "4"}
    assert found.metadata.annotations == {}
    assert "managedFields" not in as_map(found)["metadata"]


def test_an_object_we_write_keeps_its_whole_spec_and_who_owns_what() -> None:
    fields = {"f:spec": {"f:a": {}}}
    entry = {"manager": "m", "operation": "Apply", "fieldsV1": fields, "time": "t"}
    body = {"metadata": {"name": "n", "managedFields": [entry]}, "spec": {"a": {"b": [1]}}}
    found = as_map(decode_object(json.dumps(body).encode(), Owned, "here"))
    assert found["spec"] == {"a": {"b": [1]}}
    assert found["metadata"]["managedFields"][0]["fieldsV1"] == fields


def test_a_page_without_items_is_empty_and_garbage_is_an_error() -> None:
    assert decode_page(b'{"metadata":{"resourceVersion":"7"},"items":null}', Node, "x").items == ()
    for body in (b"[]", b"<html>", b"", b'{"items":[{"metadata":{"name":"n"}}'):
        with pytest.raises(BadObject):
            decode_page(body, Node, "x")


def test_of_a_page_only_what_is_bad_is_left_out() -> None:
    items = [{"metadata": {"name": "a"}}, {"metadata": {"name": 7}}, {"metadata": {}}, 3, {"metadata": {"name": "z"}}]
    page = decode_page(json.dumps({"metadata": {}, "items": items}).encode(), Node, "x")
    assert [each.metadata.name for each in page.items] == ["a", "z"]
    assert [each.name for each in page.broken] == ["", "", ""]


def test_a_bad_event_names_its_object_and_a_bad_line_is_an_error() -> None:
    bad = {"metadata": {"name": "n", "namespace": "s", "resourceVersion": "9", "labels": []}}
    event = decode_event(json.dumps({"type": "MODIFIED", "object": bad}).encode(), Node, "x")
    assert not isinstance(event, Status)
    assert event.broken is not None
    assert (event.broken.name, event.broken.namespace, event.resource_version) == ("n", "s", "9")
    with pytest.raises(BadObject):
        decode_event(b'{"type":"ADDED","obj', Node, "x")


def test_the_servers_error_inside_a_watch_is_a_status() -> None:
    line = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}'
    found = decode_event(line, Node, "x")
    assert isinstance(found, Status)
    assert (found.code, found.reason) == (410, "Expired")


def test_paths_are_those_of_the_api() -> None:
    assert NODES.path() == "/api/v1/nodes"
    assert NODES.path("n", subresource="status") == "/api/v1/nodes/n/status"
    assert PODS.path("p", "s") == "/api/v1/namespaces/s/pods/p"
    assert PODS.path() == "/api/v1/pods"
    assert RESOURCE_FLAVORS.path("f") == "/apis/kueue.x-k8s.io/v1beta2/resourceflavors/f"
    assert NODES.api_version == "v1"
    assert str(RESOURCE_FLAVORS) == "resourceflavors.kueue.x-k8s.io"
    assert len({str(resource) for resource in RESOURCES}) == len(RESOURCES)
    assert str(ObjectKey("", "a")) == "a"
    assert str(ObjectKey("s", "a")) == "s/a"


def test_an_index_follows_its_objects() -> None:
    def make(name: str, *values: str) -> Owned:
        return decode_object(json.dumps({"metadata": {"name": name}, "spec": {"v": values}}).encode(), Owned, "x")

    cache: Cache[Owned] = Cache()
    cache.put(make("b", "x"))
    cache.add_index("v", lambda thing: thing.spec["v"])
    cache.put(make("a", "x", "y"))
    assert [thing.metadata.name for thing in cache.by_index("v", "x")] == ["a", "b"]
    cache.put(make("a", "y"))
    assert [thing.metadata.name for thing in cache.by_index("v", "x")] == ["b"]
    cache.remove(ObjectKey("", "b"))
    assert cache.by_index("v", "x") == []
    assert cache.index_values("v") == {"y"}
    assert cache.remove(ObjectKey("", "nobody")) is None
    assert cache.keys() == [ObjectKey("", "a")]
    assert cache.get("a") == make("a", "y")
