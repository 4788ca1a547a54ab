"""When a write is needed, and when it is not: at rest nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.compare import needs_apply, needs_patch, needs_update, owned_paths

EXPLAIN = frozenset({"engine.example.dev/explain"})


def _live(**parts: Any) -> dict[str, Any]:
    fields = {
        "f:metadata": {"f:labels": {"f:a": {}}, "f:annotations": {"f:engine.example.dev/explain": {}}},
        "f:spec": {"f:nodeLabels": {"f:x": {}}, "f:list": {}},
    }
    metadata = {
        "name": "o",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"a": "1", "foreign": "2"},
        "annotations": {"engine.example.dev/explain": "old"},
        "managedFields": ({"manager": "m", "operation": "Apply", "fieldsV1": fields},),
    }
    return {"metadata": metadata, "spec": {"nodeLabels": {"x": "1"}, "list": [{"n": 1, "default": True}]}, **parts}


def _body(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "g/v1",
        "kind": "K",
        "metadata": {"name": "o", "labels": {"a": "1"}, "annotations": {"engine.example.dev/explain": "new"}},
        "spec": {"nodeLabels": {"x": "1"}, "list": [{"n": 1}], **spec},
    }


def test_an_explanation_alone_is_no_reason_to_write() -> None:
    assert not needs_apply(_live(), _body(), "m", EXPLAIN)
    assert needs_apply(_live(), _body(), "m"), "any other annotation is"
    without = _body()
    del without["metadata"]["annotations"]
    assert not needs_apply(_live(), without, "m", EXPLAIN), "nor is its absence"


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeLabels": {"x": "2"}},
        {"nodeLabels": {"x": "1", "y": "1"}},
        {"list": [{"n": 2}]},
        {"list": [{"n": 1}, {"n": 2}]},
        {"list": "text"},
        {"new": 1},
        {"nodeLabels": {}},
    ],
    ids=str,
)
def test_what_is_wanted_and_not_there_is_a_reason(spec: dict[str, Any]) -> None:
    assert needs_apply(_live(), _body(**spec), "m", EXPLAIN)


@pytest.mark.parametrize("spec", [{"nothing": None}, {"empty": {}}, {"none": []}], ids=str)
def test_an_absent_field_and_an_empty_one_are_the_same(spec: dict[str, Any]) -> None:
    assert not needs_apply(_live(), _body(**spec), "m", EXPLAIN)


def test_true_and_one_are_not_the_same() -> None:
    live = _live(spec={"nodeLabels": {"x": "1"}, "list": [{"n": 1}], "flag": 1})
    assert needs_apply(live, _body(flag=True), "m", EXPLAIN)


def test_what_others_own_is_nobodys_reason() -> None:
    live = _live()
    live["metadata"]["managedFields"] += (
        {"manager": "m", "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}},
        {"manager": "o", "operation": "Apply", "fieldsV1": {"f:spec": {"f:third": {}}}},
    )
    assert not needs_apply(live, _body(), "m", EXPLAIN)
    assert owned_paths(live, "m") == [
        ("metadata", "labels", "a"),
        ("metadata", "annotations", "engine.example.dev/explain"),
        ("spec", "nodeLabels", "x"),
        ("spec", "list"),
    ]


def test_a_patch_is_needed_only_for_what_differs() -> None:
    live = _live()
    assert not needs_patch(live, {"metadata": {"labels": {"a": "1", "gone": None}, "resourceVersion": "3"}})
    assert not needs_patch(live, {"metadata": {"annotations": {"engine.example.dev/explain": "new"}}}, EXPLAIN)
    assert not needs_patch(live, {"status": {"x": None}})
    assert not needs_patch({"metadata": {"finalizers": ("a",)}}, {"metadata": {"finalizers": ["a"]}})
    assert needs_patch(live, {"metadata": {"labels": {"a": None}}})
    assert needs_patch(live, {"metadata": {"labels": {"a": "2"}}})
    assert needs_patch(live, {"status": {"x": 1}})
    assert needs_patch(live, {"spec": {"list": []}})
    assert needs_patch(live, {"spec": None})


def test_an_update_is_needed_only_for_what_differs() -> None:
    live = _live()
    other = _live()
    other["metadata"] = other["metadata"] | {"resourceVersion": "9", "managedFields": ()}
    assert not needs_update(live, other)
    other["spec"] = {}
    assert needs_update(live, other)
