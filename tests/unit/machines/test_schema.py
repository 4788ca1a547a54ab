"""The published schema: it is the one the types give, and it takes and refuses what the decoder does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain
from engine.machines.document import read_machines
from engine.machines.schema import machine_schema, schema_text

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "schemas" / "machine.v1alpha1.schema.json"
FILES = sorted((ROOT / "tests" / "machines").rglob("*.yaml"))
WALKTHROUGH = ROOT / "tests" / "machines" / "walkthrough" / "node-a10g.yaml"


def _validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(machine_schema())


def _plain(file: Path) -> list[Any]:
    documents, _ = read(Source(file.name, file.read_bytes()))
    return [plain(document.root) for document in documents]


def _objects(part: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(part, dict):
        if "properties" in part:
            found.append(part)
        for value in part.values():
            found += _objects(value)
    elif isinstance(part, list):
        for value in part:
            found += _objects(value)
    return found


def test_the_committed_schema_is_the_one_the_types_give() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == schema_text(), "write schema_text() to the file"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(machine_schema())


def test_every_object_is_closed_and_described() -> None:
    objects = _objects(machine_schema())
    assert len(objects) == 10
    for each in objects:
        assert each["additionalProperties"] is False
        assert each["description"]


def test_no_field_takes_a_null() -> None:
    for each in _objects(machine_schema()):
        for name, field in each["properties"].items():
            assert {"type": "null"} not in field.get("anyOf", []), name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_schema_takes_every_machine_that_the_decoder_takes(file: Path) -> None:
    documents, _ = read_machines(Source(file.name, file.read_bytes()))
    taken = {each.facts.name for each in documents}
    for value in _plain(file):
        errors = [error.message for error in _validator().iter_errors(value)]
        if value["metadata"]["name"] in taken:
            assert errors == []


@pytest.mark.parametrize("name", ["misspelt-key", "negative-memory"])
def test_the_schema_refuses_what_is_wrong_in_shape(name: str) -> None:
    (value,) = _plain(ROOT / "tests" / "machines" / "broken" / f"{name}.yaml")
    assert list(_validator().iter_errors(value))


def test_the_schema_is_ready_for_editors() -> None:
    schema = json.loads(schema_text())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    card = schema["$defs"]["Card"]["properties"]
    assert card["memoryMib"] == {
        "description": "Memory in MiB, a whole number.", "type": "integer", "minimum": 1, "maximum": 16777216,
    }  # fmt: skip
    (value,) = _plain(WALKTHROUGH)
    value["spec"]["libraries"][0]["cards"][0]["memoryMib"] = "24Gi"
    (error,) = _validator().iter_errors(value)
    assert error.json_path == "$.spec.libraries[0].cards[0].memoryMib"
