"""From a struct to the structural schema of a CustomResourceDefinition: a type at every node, nothing by reference.

Knows neither kinds nor versions.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, assert_never, cast

from msgspec import inspect

from engine.api.base import Fields

Schema = dict[str, Any]

_ROOT: Final[Schema] = {
    "apiVersion": {"type": "string", "description": "Version of the kind, as group/version."},
    "kind": {"type": "string", "description": "The kind."},
    "metadata": {"type": "object"},
}

Shape = (
    inspect.Metadata
    | inspect.StructType
    | inspect.DictType
    | inspect.VarTupleType
    | inspect.UnionType
    | inspect.StrType
    | inspect.IntType
    | inspect.BoolType
)
"""The types that our structs are made of."""


def structural_schema(struct: type[Fields]) -> Schema:
    """The schema of a whole object. Shape: `spec` and `status` are checked, metadata is the API server's."""
    made = _schema(_shape(struct))
    return {
        **made,
        "properties": _ROOT | {name: part for name, part in made["properties"].items() if name not in _ROOT},
    }


@cache
def _shape(struct: type[Fields]) -> inspect.Type:
    """Cost: nearly all of a schema's, 60 ms; a start asks for each several times."""
    return inspect.type_info(struct)


def _schema(given: inspect.Type) -> Schema:
    shape = cast("Shape", given)
    match shape:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            return {**_schema(inner), **(extra or {})}
        case inspect.StructType():
            return _object(shape)
        case inspect.DictType(value_type=value):
            return {"type": "object", "additionalProperties": _schema(value)}
        case inspect.VarTupleType(item_type=item):
            return {"type": "array", "items": _schema(item)}
        case inspect.UnionType(types=types):
            return _union(types)
        case inspect.StrType(min_length=least, max_length=most):
            return _with({"type": "string"}, minLength=least, maxLength=most)
        case inspect.IntType(ge=least, le=most):
            return _with({"type": "integer"}, minimum=least, maximum=most)
        case inspect.BoolType():
            return {"type": "boolean"}
        case _:
            assert_never(shape)


def _object(shape: inspect.StructType) -> Schema:
    made: Schema = {"type": "object", "description": " ".join((shape.cls.__doc__ or "").split())}
    required = [each.encode_name for each in shape.fields if each.required and each.encode_name != "metadata"]
    properties = {each.encode_name: _schema(each.type) for each in shape.fields if each.encode_name != "metadata"}
    if required:
        made["required"] = required
    if properties:
        made["properties"] = properties
    rules = cast("type[Fields]", shape.cls).RULES
    if rules:
        made["x-kubernetes-validations"] = [rule.schema() for rule in rules]
    return made


def _union(types: tuple[inspect.Type, ...]) -> Schema:
    """`T | None` is T that may be absent; a text or a number is what Kubernetes calls int-or-string."""
    real = [each for each in types if not isinstance(each, inspect.NoneType)]
    if len(real) == 1:
        return _schema(real[0])
    return {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


def _with(schema: Schema, **bounds: int | None) -> Schema:
    return schema | {name: bound for name, bound in bounds.items() if bound is not None}
