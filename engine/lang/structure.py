"""Faults of a pack's structure as diagnostics: the right key or value, what was seen, what is wanted, what to do.

Translates what pydantic finds; finds nothing itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from engine.lang.diagnostics import Diagnostics, Edit, Fix, nearest
from engine.lang.model_choices import is_tag
from engine.lang.model_shape import homes, known_keys
from engine.lang.scalars import quoted
from engine.lang.source import Place
from engine.lang.tree import Map, Node, Scalar, Seq, Style
from engine.lang.tree_paths import follow, head, key_place

_WANTED = {
    "string_type": "string",
    "int_type": "integer",
    "bool_type": "boolean",
    "model_type": "map",
    "model_attributes_type": "map",
    "dict_type": "map",
    "tuple_type": "list",
    "list_type": "list",
}
_MOST_HOMES = 3  # a key known in more places than this (`name`) says nothing about what was meant


def report(error: ValidationError, model: type[BaseModel], root: Map, diagnostics: Diagnostics) -> None:
    """Report every fault of a document; where the reader already found one, no second is reported."""
    findings = error.errors(include_url=False)
    unknown = {tuple(one["loc"]) for one in findings if one["type"] == "extra_forbidden"}
    for one in findings:
        path = tuple(one["loc"])
        kind = one["type"]
        if kind == "extra_forbidden":
            _unknown_key(path, model, root, diagnostics)
        elif kind == "missing":
            if not _is_misspelt(path, unknown, model):
                _missing_key(path, root, diagnostics)
        else:
            _wrong_value(kind, path, one, root, diagnostics)


def _unknown_key(path: Sequence[Hashable], model: type[BaseModel], root: Map, diagnostics: Diagnostics) -> None:
    key = str(path[-1])
    allowed = known_keys(model, path[:-1])
    place = key_place(root, path)
    if diagnostics.covers(place):
        return
    near = nearest(key, allowed)
    others = homes(model).get(key, ())
    message, fix = f"unknown key `{key}`", None
    if others and len(others) <= _MOST_HOMES and not near:
        message += "; this key belongs under " + " or ".join(f"`{other}`" for other in others)
    elif near:
        message += f"; did you mean `{near}`?"
        fix = (
            Fix((Edit(place.span, near),))
            if place.source.data[place.span.start : place.span.end] == key.encode()
            else None
        )
    diagnostics.error("RP201", message, place, help="known here: " + ", ".join(allowed), fix=fix)


def _is_misspelt(path: tuple[Hashable, ...], unknown: Iterable[tuple[Hashable, ...]], model: type[BaseModel]) -> bool:
    """Whether a missing key stands there under a wrong name: one mistake is one diagnostic."""
    return any(
        other[:-1] == path[:-1] and nearest(str(other[-1]), known_keys(model, other[:-1])) == path[-1]
        for other in unknown
    )


def _missing_key(path: Sequence[Hashable], root: Map, diagnostics: Diagnostics) -> None:
    node = follow(root, path[:-1])
    place = key_place(root, path[:-1]) if not isinstance(node, Map) or not node.entries else node.entries[0].key.place
    parent = _dotted(path[:-1])
    where = f" in `{parent}`" if parent else ""
    diagnostics.error("RP202", f"the key `{path[-1]}` is missing{where}", place, help=f"add `{path[-1]}:`")


def _wrong_value(
    kind: str, path: Sequence[Hashable], one: Mapping[str, Any], root: Map, diagnostics: Diagnostics
) -> None:
    node = follow(root, path)
    place = key_place(root, path) if path and path[-1] == "[key]" else head(node)
    if diagnostics.covers(node.place if isinstance(node, Scalar) else place):
        return
    if isinstance(node, Scalar) and not node.text and diagnostics.covers(key_place(root, path)):
        return  # the reader points at the key of an empty value
    wanted = _WANTED.get(kind)
    if wanted:
        _wrong_type(wanted, node, path, root, diagnostics)
    elif kind == "literal_error":
        _not_allowed(node, one, place, diagnostics)
    elif kind == "string_pattern_mismatch":
        _bad_name(node, path, one, place, diagnostics)
    elif kind.startswith("RP"):
        at = one.get("ctx", {}).get("at")
        where = follow(root, [*path, at]).place if at else place
        if not diagnostics.covers(where):
            diagnostics.error(kind, str(one["msg"]), where)
    else:
        diagnostics.error("RP203", f"`{_dotted(path)}`: {one['msg']}", place)


def _wrong_type(wanted: str, node: Node, path: Sequence[Hashable], root: Map, diagnostics: Diagnostics) -> None:
    what = f"`{_dotted(path)}`" if path else "the document"
    if isinstance(node, Scalar) and node.value is None:
        advice = f"delete the key or give a {wanted}" if wanted != "integer" else "delete the key or give an integer"
        diagnostics.error("RP112", f"{what} has an empty value", key_place(root, path), help=advice)
        return
    if not isinstance(node, Scalar) or wanted in ("map", "list"):
        seen = "a map" if isinstance(node, Map) else "a list" if isinstance(node, Seq) else f"`{_clip(node.text)}`"
        article = "an" if wanted == "integer" else "a"
        diagnostics.error("RP203", f"{what} must be {article} {wanted}, got {seen}", head(node))
        return
    seen = {bool: "boolean", int: "integer"}.get(type(node.value), "string")
    message = f"{what}: expected {wanted}, got {seen} {_written(node)}"
    if wanted == "string":
        advice, fix = f"quote it: {quoted(node.text)}", Fix((Edit(node.span, quoted(node.text)),))
        diagnostics.error("RP111", message, node.place, help=advice, fix=fix)
    else:
        is_typed = wanted == "boolean" and node.text in ("true", "false")
        is_typed = is_typed or (wanted == "integer" and node.text.lstrip("-").isdecimal())
        advice = "remove the quotes" if is_typed and node.style is not Style.PLAIN else f"write the {wanted} itself"
        diagnostics.error("RP111", message, node.place, help=advice)


def _written(node: Scalar) -> str:
    return f"written `{_clip(node.text)}`" if node.style is Style.PLAIN else f"written {quoted(_clip(node.text))}"


def _not_allowed(node: Node, one: Mapping[str, Any], place: Place, diagnostics: Diagnostics) -> None:
    expected = str(one["ctx"]["expected"])
    allowed = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
    seen = node.text if isinstance(node, Scalar) else "a map" if isinstance(node, Map) else "a list"
    near = nearest(seen, allowed)
    message = f"`{_clip(seen)}` is not one of the values allowed here" + (f"; did you mean `{near}`?" if near else "")
    diagnostics.error("RP204", message, place, help="allowed: " + ", ".join(allowed))


def _bad_name(
    node: Node, path: Sequence[Hashable], one: Mapping[str, Any], place: Place, diagnostics: Diagnostics
) -> None:
    pattern = str(one["ctx"]["pattern"])
    is_key = path[-1] == "[key]"
    seen = str(path[-2]) if is_key else node.text if isinstance(node, Scalar) else ""
    what = "the name" if is_key else f"`{_dotted(path)}`:"
    advice = _PATTERNS.get(pattern, f"it must match {pattern}")
    diagnostics.error("RP204", f"{what} {quoted(_clip(seen))} is not well formed", place, help=advice)


_PATTERNS = {
    r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*\z": "lower-case words and digits joined by `-`, starting with a letter",
    r"^[A-Za-z_][A-Za-z0-9_]*\z": "letters, digits and `_`, not starting with a digit: expressions name it",
    r"^[a-z0-9.-]+/[A-Za-z0-9][A-Za-z0-9._-]*\z": "a domain, `/` and a name, such as example.com/gpu",
    r"^[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\z": "a semantic version, such as 1.0.0",
    r"^[a-z][a-z0-9-]*/[a-z][a-z0-9]*(?:-[a-z0-9]+)*\z": "a section, `/` and a rule's id, such as inject/inject-slice",
    r"^[0-9a-f]{4}\z": "four lower-case hexadecimal digits, quoted",
    r"^[0-9a-f]{2,6}\z": "two to six lower-case hexadecimal digits, quoted",
}


def _dotted(path: Sequence[Hashable]) -> str:
    text = ""
    for step in path:
        if is_tag(step) or step == "[key]":
            continue
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _clip(text: str) -> str:
    limit = 60
    text = text.replace("\n", "\\n")
    return text if len(text) <= limit else text[: limit - 1] + "…"
