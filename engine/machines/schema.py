"""The JSON Schema of machine documents, generated from their types for editors and other tools.

Diagnostics do not come from it: `shape` names the field, a schema validator would name a branch.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from engine.machines.model import API_VERSION, KIND, Machine

SCHEMA_ID: Final = "urn:gpustack:engine:machine.v1alpha1"


def machine_schema() -> dict[str, Any]:
    """The schema, draft 2020-12."""
    (root,), components = msgspec.json.schema_components([Machine], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": f"{KIND} of {API_VERSION}",
        **root,
        "$defs": {name: _without_null(part) for name, part in sorted(components.items())},
    }


def schema_text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(machine_schema(), indent=2, ensure_ascii=False) + "\n"


def _without_null(part: Any) -> Any:
    """A field that is not known is left out, so `null` is no value of it; only free maps may hold one."""
    if isinstance(part, list):
        return [_without_null(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {
        key: _without_null(value) for key, value in part.items() if not (key == "default" and value in (None, [], {}))
    }
    alternatives = made.get("anyOf")
    if alternatives and len(alternatives) == 2 and {"type": "null"} in alternatives:
        (real,) = (each for each in alternatives if each != {"type": "null"})
        del made["anyOf"]
        return made | real
    return made
