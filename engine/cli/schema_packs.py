"""The schemas of pack documents: the models' own, with words for every key, and each section with what its rules may say.

The models judge; this is what an editor shows and completes. It is laxer where a schema cannot follow: in what templates give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.cli.schema_words import described
from engine.lang.model_documents import MODELS
from engine.lang.section import Section
from engine.lang.types import Kind, Type
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT

Schema = dict[str, Any]

_TEMPLATE: Final[Schema] = {"type": "string", "pattern": r"\$\(", "description": "An expression: $(…)"}
_SCALARS: Final = {Kind.BOOL: "boolean", Kind.INT: "integer", Kind.STR: "string"}


def pack_schema(kind: str) -> Schema:
    """The schema of one kind of pack document, without its head."""
    schema: Schema = _tidied(MODELS[kind].model_json_schema(by_alias=True))
    definitions: dict[str, Schema] = schema["$defs"]
    for name, model in [(kind, schema), *definitions.items()]:
        for key, value in model.get("properties", {}).items():
            model["properties"][key] = {**value, **described(name, key)}
    for name, key in ((f"{kind}Spec", "sections"), ("LibrarySpec", "rules")):
        if key in definitions.get(name, {}).get("properties", {}):
            field = definitions[name]["properties"][key]
            field |= {"properties": dict(_sections(kind, definitions)), "additionalProperties": False}
    if "Test" in definitions:
        names = sorted([*CATALOGUE.sections, *JOINT.scenarios])
        definitions["Test"]["properties"]["section"]["enum"] = names
    return schema


def _sections(kind: str, definitions: dict[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """The sections of a kind of pack, each with rules of its own whose `emit` is described."""
    for name, section in sorted(CATALOGUE.sections.items()):
        if kind not in ("Library", section.owner):
            continue
        rule, group = f"Rule-{name}", f"Group-{name}"
        entries = {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in (rule, group)]}}
        definitions[rule] = _with(definitions["Rule"], "emit", _emit(section))
        definitions[group] = _with(definitions["Group"], "rules", entries)
        words = f"{section.help[0].upper()}{section.help[1:].rstrip('.')}. Combined by {section.combine}. Input: {' '.join(section.input.split())}"
        if kind == "Library":
            yield name, {"description": words, **entries}
        else:
            body = _with(definitions["SectionBody"], "rules", entries)
            yield name, {"description": words, "anyOf": [body, entries]}


def _with(definition: Schema, key: str, value: Schema) -> Schema:
    properties = dict(definition["properties"])
    properties[key] = {**{k: v for k, v in properties[key].items() if k in ("description", "examples")}, **value}
    return {**definition, "properties": properties}


def _emit(section: Section) -> Schema:
    shapes = [_written(shape) for shape in section.emit_types({})]
    return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}


def _written(kind: Type) -> Schema:
    """A type as it is written in a rule: any scalar may be a template, and a key may be optional."""
    match kind.kind:
        case Kind.STR if not kind.choices:
            return {"type": "string"}
        case Kind.STR | Kind.INT | Kind.BOOL:
            plain: Schema = {"enum": list(kind.choices)} if kind.choices else {"type": _SCALARS[kind.kind]}
            return {"anyOf": [plain, _TEMPLATE]}
        case Kind.LIST:
            items = {"items": _written(kind.element)} if kind.element is not None else {}
            return {"anyOf": [{"type": "array", **items}, _TEMPLATE]}
        case Kind.MAP:
            values = _written(kind.element) if kind.element is not None else {}
            return {"anyOf": [{"type": "object", "additionalProperties": values}, _TEMPLATE]}
        case Kind.OBJECT:
            properties: Schema = {}
            for name, member in kind.members:
                properties[name] = _written(member.type)
                properties[f"{name}?"] = _written(member.type)
            return {"anyOf": [{"type": "object", "properties": properties, "additionalProperties": False}, _TEMPLATE]}
        case _:
            return {}


def _tidied(part: Any) -> Any:
    """Pydantic's schema as files are: nothing is null there, and no pattern ends the way only Python's engine knows."""
    if isinstance(part, list):
        return [_tidied(each) for each in part]
    if not isinstance(part, dict):
        return part
    made = {
        key: _tidied(value)
        for key, value in part.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value in (None, [], {}))
    }
    if isinstance(made.get("pattern"), str):
        made["pattern"] = _portable(made["pattern"])
    if "patternProperties" in made:
        made["patternProperties"] = {_portable(key): value for key, value in made["patternProperties"].items()}
        made["additionalProperties"] = False
    if isinstance(made.get("description"), str):
        made["description"] = " ".join(made["description"].split())
    if "oneOf" in made:  # a value may fit several: pydantic chooses by a function that a schema cannot hold
        made.pop("discriminator", None)
        made["anyOf"] = made.pop("oneOf")
    alternatives = made.get("anyOf")
    if isinstance(alternatives, list) and {"type": "null"} in alternatives:
        real = [each for each in alternatives if each != {"type": "null"}]
        del made["anyOf"]
        return {**made, **real[0]} if len(real) == 1 else {**made, "anyOf": real}
    return made


def _portable(pattern: str) -> str:
    """A pattern with the end that every engine knows."""
    return pattern.removesuffix(r"\z") + "$" if pattern.endswith(r"\z") else pattern
