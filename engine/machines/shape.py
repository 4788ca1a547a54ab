"""Checks a YAML tree against the document's types: every fault with its place, the value seen and the value wanted.

Knows types, not meaning: that two cards have one UUID is found in `document`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import inspect

from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.tree import Map, Node, Scalar, Seq, plain

_UNIT_HINTS = (
    (re.compile(r"^([0-9]+)\s*(Mi|MiB|M|MB)$"), 1),
    (re.compile(r"^([0-9]+)\s*(Gi|GiB|G|GB)$"), 1024),
    (re.compile(r"^([0-9]+)\s*(Ti|TiB|T|TB)$"), 1024 * 1024),
)
BYTES_PER_MIB = 1 << 20


class ShapeCheck:
    """One walk over one document."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics

    def check(self, node: Node, wanted: inspect.Type, path: str) -> None:
        """Reports whatever in the tree is not as the type says; `path` is printed before each fault."""
        match wanted:
            case inspect.Metadata(type=inner):
                self.check(node, inner, path)
            case inspect.UnionType():
                self._union(node, wanted, path)
            case inspect.StructType():
                self._struct(node, wanted, path)
            case inspect.DictType(value_type=value):
                self._map(node, value, path)
            case inspect.VarTupleType(item_type=item):
                self._list(node, item, path)
            case inspect.AnyType():
                pass
            case _:
                self._scalar(node, wanted, path)

    def _union(self, node: Node, wanted: inspect.UnionType, path: str) -> None:
        real = [each for each in wanted.types if not isinstance(each, inspect.NoneType)]
        if len(real) == 1:
            self.check(node, real[0], path)
        elif not isinstance(node, Scalar):
            self._wrong_node(node, "a text, a number or a boolean", path)

    def _map(self, node: Node, value: inspect.Type, path: str) -> None:
        if not isinstance(node, Map):
            self._wrong_node(node, "a map", path)
            return
        for entry in node.entries:
            self.check(entry.value, value, f"{path}.{entry.key.text}")

    def _list(self, node: Node, item: inspect.Type, path: str) -> None:
        if not isinstance(node, Seq):
            self._wrong_node(node, "a list", path)
            return
        for number, each in enumerate(node.items):
            self.check(each, item, f"{path}[{number}]")

    def _struct(self, node: Node, wanted: inspect.StructType, path: str) -> None:
        if not isinstance(node, Map):
            self._wrong_node(node, "a map", path)
            return
        fields = {each.encode_name: each for each in wanted.fields}
        for entry in node.entries:
            key = entry.key.text
            if key in fields:
                self.check(entry.value, fields[key].type, f"{path}.{key}" if path else key)
                continue
            guess = nearest(key, fields)
            self._diagnostics.error(
                "RP201",
                f"{path or 'the document'} has no field {key}",
                entry.key.place,
                help=f"did you mean {guess}?" if guess else f"known fields: {', '.join(fields)}",
            )
        present = {entry.key.text for entry in node.entries}
        for name, each in fields.items():
            if each.required and name not in present:
                self._diagnostics.error("RP202", f"{path or 'the document'} lacks {name}", node.place)

    def _scalar(self, node: Node, wanted: inspect.Type, path: str) -> None:
        if not isinstance(node, Scalar):
            self._wrong_node(node, _name(wanted), path)
            return
        value = node.value
        match wanted:
            case inspect.LiteralType(values=values) if isinstance(value, str):
                if value not in values:
                    self._value(
                        node, f"{path} is {_show(value)}, wanted one of {', '.join(map(str, values))}", value, values
                    )
            case inspect.StrType() if isinstance(value, str):
                self._text(node, wanted, value, path)
            case inspect.IntType() if isinstance(value, int) and not isinstance(value, bool):
                self._number(node, wanted, value, path)
            case inspect.BoolType() if isinstance(value, bool):
                pass
            case _:
                self._diagnostics.error(
                    "RP111", f"{path} is {_show(value)}, wanted {_name(wanted)}", node.place, help=_hint(wanted, value)
                )

    def _text(self, node: Scalar, wanted: inspect.StrType, value: str, path: str) -> None:
        if wanted.min_length and len(value) < wanted.min_length:
            self._diagnostics.error(
                "RP204", f"{path} is empty", node.place, help="leave the key out when it is not known"
            )
        elif wanted.max_length is not None and len(value) > wanted.max_length:
            message = f"{path} has {len(value)} characters, at most {wanted.max_length} are wanted"
            self._diagnostics.error("RP204", message, node.place)
        elif wanted.pattern is not None and re.search(wanted.pattern, value) is None:
            lower = value.lower().removeprefix("0x")
            fits = lower != value and re.search(wanted.pattern, lower) is not None
            message = f"{path} is {_show(value)}, wanted a text like {wanted.pattern}"
            self._diagnostics.error("RP204", message, node.place, help=f'write "{lower}"' if fits else "")

    def _number(self, node: Scalar, wanted: inspect.IntType, value: int, path: str) -> None:
        if wanted.ge is not None and value < wanted.ge:
            remedy = "leave the key out when it cannot be measured" if value < 0 else ""
            message = f"{path} is {value}, wanted {wanted.ge} or more"
            self._diagnostics.error("RP204", message, node.place, help=remedy)
        elif wanted.le is not None and value > wanted.le:
            in_mib = value // BYTES_PER_MIB
            remedy = f"{value} bytes are {in_mib} MiB" if path.endswith("Mib") else ""
            message = f"{path} is {value}, wanted {wanted.le} or less"
            self._diagnostics.error("RP204", message, node.place, help=remedy)

    def _value(self, node: Scalar, message: str, value: str, values: tuple[Any, ...]) -> None:
        guess = nearest(value, [each for each in values if isinstance(each, str)])
        self._diagnostics.error("RP204", message, node.place, help=f"did you mean {guess}?" if guess else "")

    def _wrong_node(self, node: Node, wanted: str, path: str) -> None:
        seen = {Map: "a map", Seq: "a list"}.get(type(node)) or _show(plain(node))
        self._diagnostics.error("RP203", f"{path or 'the document'} is {seen}, wanted {wanted}", node.place)


def _name(wanted: inspect.Type) -> str:
    match wanted:
        case inspect.IntType():
            return "a whole number"
        case inspect.BoolType():
            return "true or false"
        case _:
            return "a text"


def _hint(wanted: inspect.Type, value: object) -> str:
    if isinstance(wanted, inspect.IntType) and isinstance(value, str):
        if value.isascii() and value.isdigit():
            return "write it without quotes"
        for pattern, mib in _UNIT_HINTS:
            found = pattern.match(value)
            if found:
                return f"write MiB as a number: {int(found.group(1)) * mib}"
    if isinstance(wanted, inspect.StrType | inspect.LiteralType) and value is not None:
        return f'write it in quotes: "{_show(value)}"'
    return ""


def _show(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
