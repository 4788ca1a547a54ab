"""The outline of the pack models as plain data: which keys, kinds and choices there are, without the words for what is wrong.

Reads the models' own schemas, so that nothing is said twice. `python -m engine.lang.model_outline` writes `outline.json`
anew; `engine.lang.outline` uses it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine.errors import ContractError
from engine.lang import model_choices
from engine.lang.model_documents import MODELS
from engine.lang.outline import OUTLINE_FILE


def outline() -> dict[str, Any]:
    """Every document kind and every model that several models name, by name."""
    shapes: dict[str, Any] = {}
    for kind, model in MODELS.items():
        schema: Any = model.__pydantic_core_schema__
        if schema["type"] == "definitions":
            shapes |= {_name(one["ref"]): _shape(one) for one in schema["definitions"]}
            schema = schema["schema"]
        shapes[kind] = _shape(schema)
    return {"shapes": dict(sorted(shapes.items()))}


def outline_text() -> str:
    """The outline as it is kept in its file."""
    return json.dumps(outline(), indent=1) + "\n"


def _shape(schema: Mapping[str, Any]) -> Any:  # noqa: C901 - one case a kind of schema
    match schema["type"]:
        case "any" | "int" | "bool" as plain:
            return plain
        case "str":
            return {"pattern": schema["pattern"]} if "pattern" in schema else "str"
        case "literal":
            return {"literal": list(schema["expected"])}
        case "definition-ref":
            return {"ref": _name(schema["schema_ref"])}
        case "nullable":
            return {"or_null": _shape(schema["schema"])}
        case "tuple":
            return {"list": _shape(schema["items_schema"][0])}
        case "dict":
            return {"map": [_shape(schema["keys_schema"]), _shape(schema["values_schema"])]}
        case "tagged-union":
            choices = {tag: _shape(one) for tag, one in schema["choices"].items()}
            return {"choose": _known(schema["discriminator"]), "of": choices}
        case "function-before":
            return {"read_as": _known(schema["function"]["function"]), "then": _shape(schema["schema"])}
        case "function-wrap":
            return {"without": _known(schema["function"]["function"]), "then": _shape(schema["schema"])}
        case "model":
            return _model(schema["schema"]["fields"])
        case other:
            raise ContractError(f"the outline has no word for {other}", remedy="give it one here and in outline.py")


def _model(fields: Mapping[str, Any]) -> dict[str, Any]:
    keys = {field["validation_alias"]: field["schema"] for field in fields.values()}
    return {
        "required": [key for key, inner in keys.items() if inner["type"] != "default"],
        "keys": {key: _shape(inner["schema"] if inner["type"] == "default" else inner) for key, inner in keys.items()},
    }


def _name(ref: str) -> str:
    """`Rule` for `engine.lang.model_rules.Rule:94…`."""
    return ref.partition(":")[0].rpartition(".")[2]


def _known(function: Any) -> str:
    name = str(function.__name__)
    if not hasattr(model_choices, name):
        raise ContractError(f"{name} decides on a pack's shape and is not in model_choices")
    return name


if __name__ == "__main__":
    OUTLINE_FILE.write_text(outline_text(), encoding="utf-8")
