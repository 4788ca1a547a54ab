"""Walking structural schemas: every node with its path, what a schema would prune, what a schema and its rules blame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema

from engine.api.crd import KINDS, crd
from engine.api.structural import structural_schema

Schema = dict[str, Any]
SCHEMAS: dict[str, Schema] = {kind.kind: structural_schema(kind.struct) for kind in KINDS}
DOCUMENTS = {kind.kind: crd(kind) for kind in KINDS}


def nodes(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """The schema and all below it. `[]` is an item, `{}` a value of a map."""
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}.{name}" if path else name)
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


def pruned(schema: Schema, value: Any, path: str = "") -> list[str]:
    """The fields that an API server would drop."""
    if isinstance(value, list):
        return [lost for index, each in enumerate(value) for lost in pruned(schema["items"], each, f"{path}[{index}]")]
    if not isinstance(value, dict) or path == "metadata":
        return []
    found = []
    for name, each in value.items():
        where = f"{path}.{name}" if path else name
        part = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        found += [where] if part is None else pruned(part, each, where)
    return found


def schema_faults(schema: Schema, value: Any) -> list[tuple[str, str]]:
    """What the types say against a value: field and words. A field that must be there is blamed itself."""
    faults = []
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        path = error.json_path.removeprefix("$").removeprefix(".")
        if error.validator == "required":
            missing = re.match(r"'([^']+)'", error.message)
            assert missing
            path = f"{path}.{missing[1]}"
        faults.append((path, f"{error.message} ({error.validator_value})"))
    return faults


def rule_blames(schema: Schema) -> set[tuple[str, str]]:
    """What the rules may say: field and message."""
    blames = set()
    for path, node in nodes(schema):
        for rule in node.get("x-kubernetes-validations", []):
            field = f"{path}{rule.get('fieldPath', '')}".removeprefix(".")
            blames.add((field, rule["message"]))
    return blames


def rules(schema: Schema) -> Iterator[tuple[Schema, dict[str, Any]]]:
    """Every rule with the node it is about."""
    for _, node in nodes(schema):
        for rule in node.get("x-kubernetes-validations", []):
            yield node, rule
