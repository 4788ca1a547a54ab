"""JSON to struct to JSON loses nothing, and what must always be written is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.crd import KINDS
from engine.api.devices import DEVICES, Devices
from engine.api.instance_type import InstanceType
from engine.api.kind import Kind
from tests.unit.api.cases import ACCEPTED, OLD_TYPE, RENDERED
from tests.unit.api.schemas import SCHEMAS, schema_faults

BY_NAME = {kind.kind: kind for kind in KINDS}
WORD = st.text("abcxyz019-/.", min_size=1, max_size=6)


def _through(kind: Kind, thing: dict[str, Any]) -> dict[str, Any]:
    return kind.manifest(msgspec.json.decode(msgspec.json.encode(thing), type=kind.struct))


def _lost(before: Any, after: Any, path: str = "") -> list[str]:
    """Paths whose value is gone or another; an absent field is its empty value."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [lost for key in before for lost in _lost(before[key], after.get(key), f"{path}.{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [lost for index, each in enumerate(before) for lost in _lost(each, after[index], f"{path}[{index}]")]
    return [] if before == after or (after is None and before in ("", 0, False, [], {})) else [path]


def _values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "x-kubernetes-int-or-string" in schema:
        return st.sampled_from(["0", "1", "500m", 4, "16Gi"])
    if "pattern" in schema:
        return st.just("a" * 64 if "{64}" in schema["pattern"] else "/a/b")
    match schema["type"]:
        case "object" if "properties" in schema:
            needed = set(schema.get("required", ()))
            parts = {name: _values(part) for name, part in schema["properties"].items()}
            return st.fixed_dictionaries(
                {name: part for name, part in parts.items() if name in needed},
                optional={name: part for name, part in parts.items() if name not in needed},
            )
        case "object":
            inner = schema.get("additionalProperties")
            return st.just({}) if inner is None else st.dictionaries(WORD, _values(inner), max_size=2)
        case "array":
            return st.lists(_values(schema["items"]), max_size=2)
        case "integer":
            return st.integers(schema.get("minimum", -5), min(schema.get("maximum", 9), 9))
        case "boolean":
            return st.booleans()
        case _:
            return WORD if schema.get("minLength") else st.one_of(st.just(""), WORD)


@pytest.mark.parametrize("thing", [each for each in ACCEPTED if each is not OLD_TYPE], ids=lambda each: each["kind"])
def test_what_was_recorded_and_rendered_comes_back(thing: dict[str, Any]) -> None:
    kind = BY_NAME[thing["kind"]]
    after = _through(kind, thing)
    assert _lost(thing, after) == []
    assert schema_faults(SCHEMAS[kind.kind], after) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_whatever_fits_the_schema_comes_back(kind: Kind) -> None:
    parts = _values({**SCHEMAS[kind.kind], "properties": {k: v for k, v in SCHEMAS[kind.kind]["properties"].items()
                                                        if k in ("spec", "status")}})  # fmt: skip

    @settings(max_examples=40, deadline=None)
    @given(parts)
    def check(body: dict[str, Any]) -> None:
        thing = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x", "labels": {"a": "b"}}}
        before = thing | body
        after = _through(kind, before)
        assert _lost(before, after) == []
        assert _through(kind, after) == after
        assert schema_faults(SCHEMAS[kind.kind], after) == []

    check()


def test_rendered_devices_come_back_equal() -> None:
    thing = next(each for each in RENDERED if each["kind"] == "Devices")
    assert _through(DEVICES, thing) == thing


def test_mode_and_remaining_are_written_even_when_they_are_zero() -> None:
    taken = {"groups": [{"id": "a", "manufacturer": "m", "accelerators": [{"id": "c"}]}]}
    after = _through(DEVICES, {"metadata": {"name": "n"}, "status": taken})
    assert after["status"]["groups"][0]["accelerators"] == [{"id": "c", "index": 0, "mode": 0, "remaining": 0}]


def test_an_absent_remaining_is_nothing_left() -> None:
    """Other writers leave out zeros."""
    taken = {"groups": [{"id": "a", "manufacturer": "m", "accelerators": [{"id": "c", "mode": 1}]}]}
    read = msgspec.convert({"metadata": {"name": "n"}, "status": taken}, Devices)
    assert read.status.groups[0].accelerators[0].remaining == 0


def test_unknown_fields_are_skipped_when_read() -> None:
    read = msgspec.convert(OLD_TYPE, InstanceType)
    assert read.spec.accelerator_group == "nvidia-a10g"
    assert not hasattr(read.spec, "product")


def test_names_of_other_conventions_are_kept() -> None:
    status = {"hostIPs": ["10.0.0.1"], "podIPs": ["10.1.0.1"]}
    instance = next(each for each in ACCEPTED if each["kind"] == "Instance")
    assert _through(BY_NAME["Instance"], {**instance, "status": status})["status"] == status


def test_metadata_is_written_without_what_is_empty() -> None:
    after = _through(DEVICES, {"metadata": {"name": "n", "labels": {}, "finalizers": ["gpustack.ai/controlled"]}})
    assert after["metadata"] == {"name": "n", "finalizers": ["gpustack.ai/controlled"]}
    assert after["apiVersion"] == "worker.gpustack.ai/v1"
