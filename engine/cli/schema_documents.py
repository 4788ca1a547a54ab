"""The published JSON Schemas (2020-12): packs by kind, machines, the input and output of every section, findings.

Generated from the declarations that the engine itself works by; a test compares them with the committed files. For
editors and other tools: Engine's own diagnostics do not come from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from engine.cli.documents import json_text
from engine.cli.schema_packs import pack_schema
from engine.lang.codes import Severity
from engine.lang.model_documents import MODELS
from engine.lang.notation import parse_type
from engine.lang.outline import API_VERSION
from engine.lang.render import JSON_VERSION
from engine.lang.section import Combine, Section
from engine.lang.types import MISSING, Kind, Member, Type
from engine.machines.schema import machine_schema
from engine.sections.catalog import CATALOGUE, VOCABULARY

Schema = dict[str, Any]
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
ID: Final = "urn:gpustack:engine:"
VERSION: Final = API_VERSION.rpartition("/")[2]
_SETTINGS: Final[Schema] = {
    "type": "object",
    "additionalProperties": {"type": ["boolean", "integer", "string"]},
    "description": "All settings by camelCase name.",
}
_SIMPLE: Final = {Kind.BOOL: "boolean", Kind.INT: "integer", Kind.STR: "string", Kind.LIST: "array"}


def schema_files() -> Mapping[str, Callable[[], Schema]]:
    """Every schema, by its file under `schemas/`, made when called."""
    made: dict[str, Callable[[], Schema]] = {f"{kind.lower()}.{VERSION}": partial(_pack, kind) for kind in MODELS}
    made["machine.v1alpha1"] = machine_schema
    made[f"diagnostics.v{JSON_VERSION}"] = _diagnostics
    major = VOCABULARY.partition(".")[0]
    for name, section in CATALOGUE.sections.items():
        made[f"sections/{name}.v{major}"] = partial(section_schema, section)
    return {f"{name}.schema.json": make for name, make in made.items()}


def schema_text(schema: Schema) -> str:
    """A schema as the committed file holds it."""
    return json_text(schema) + "\n"


def section_schema(section: Section) -> Schema:
    """A recorded question to a section: its `input`, and the `output` it gave."""
    name = f"sections/{section.name}.v{VOCABULARY.partition('.')[0]}"
    given = type_schema(parse_type("{" + section.input + "}", {}))
    if section.settings:
        given["properties"]["settings"] = _SETTINGS
    return {
        **_head(name, f"Section {section.name} of {section.owner} packs", section.help),
        "type": "object",
        "properties": {"input": given, "output": _output(section)},
        "additionalProperties": False,
    }


def type_schema(kind: Type) -> Schema:
    """The schema of a type; an object takes the members it declares and no other."""
    made: Schema = {} if kind.kind is Kind.ANY else {"type": _SIMPLE.get(kind.kind, "object")}
    if kind.kind is Kind.NULL:
        return {"type": "null"}
    if kind.choices:
        made["enum"] = list(kind.choices)
    if kind.kind is Kind.LIST and kind.element is not None:
        made["items"] = type_schema(kind.element)
    if kind.kind is Kind.MAP and kind.element is not None:
        made["additionalProperties"] = type_schema(kind.element)
    if kind.kind is Kind.OBJECT:
        made["properties"] = {name: _member(member) for name, member in kind.members}
        required = [name for name, member in kind.members if not member.optional and member.default is MISSING]
        made |= {"required": required} if required else {}
        made["additionalProperties"] = False
    return _or_null(made) if kind.nullable and kind.kind is not Kind.ANY else made


def _member(member: Member) -> Schema:
    made = type_schema(member.type)
    return made if member.default is MISSING else {**made, "default": member.default}


def _or_null(schema: Schema) -> Schema:
    if "enum" in schema:
        return {**schema, "type": [schema["type"], "null"], "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def _output(section: Section) -> Schema:
    shapes = [type_schema(shape) for shape in section.emit_types({})]
    if section.message == "":
        for shape in shapes:
            shape["properties"]["message"] = {"type": "string", "description": "The rule's message."}
    made = shapes[0] if len(shapes) == 1 else {"oneOf": shapes}
    if section.combine is Combine.LIST:
        return {"type": "array", "items": made}
    if section.must:
        return made
    return {"oneOf": [made, {"type": "null", "description": "Nothing: no rule fired."}]}


def _pack(kind: str) -> Schema:
    schema = pack_schema(kind)
    description = str(schema.pop("description", ""))
    schema.pop("title", None)
    return {**_head(f"{kind.lower()}.{VERSION}", f"{kind} of {API_VERSION}", description), **schema}


def _diagnostics() -> Schema:
    place = {
        "path": {"type": "string", "description": "The file, as it was given."},
        "start": {"$ref": "#/$defs/position"},
        "end": {"$ref": "#/$defs/position"},
    }
    edit = {"start": {"type": "integer"}, "end": {"type": "integer"}, "text": {"type": "string"}}
    finding = {
        "code": {"type": "string", "pattern": "^RP[0-9]{3}$"},
        "severity": {"enum": [str(level) for level in Severity]},
        "message": {"type": "string"},
        **place,
        "help": {"type": "string", "description": "What to do about it."},
        "related": {"type": "array", "items": _closed({"message": {"type": "string"}, **place})},
        "fix": _closed({"edits": {"type": "array", "items": _closed(edit)}}),
    }
    counts = {name: {"type": "integer", "minimum": 0} for name in ("packs", "errors", "warnings")}
    return {
        **_head(f"diagnostics.v{JSON_VERSION}", "Findings", "What `engine validate --format json` prints."),
        **_closed(
            {
                "version": {"const": JSON_VERSION},
                "diagnostics": {"type": "array", "items": _closed(finding, "code", "severity", "message")},
                "summary": _closed(counts),
            }
        ),
        "$defs": {
            "position": _closed({name: {"type": "integer", "minimum": 0} for name in ("line", "column", "offset")})
        },
    }


def _closed(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required or properties),
        "additionalProperties": False,
    }


def _head(name: str, title: str, description: str) -> Schema:
    return {"$schema": DIALECT, "$id": f"{ID}{name.replace('/', ':')}", "title": title, "description": description}
