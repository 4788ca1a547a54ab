"""Building what a rule emits.

Templates are filled, keys computed, nulls refused or left out (`key?:`). What a section's fields mean is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import EvaluationError
from engine.lang import ir
from engine.lang.ast import Node
from engine.lang.compile import compile_node
from engine.lang.functions import FUNCTIONS
from engine.lang.limits import MAX_OUTPUT_STRING_BYTES
from engine.lang.observe import Observer

Build = Callable[[dict[str, Any], Observer | None], Any]


class Builder:
    """Turns the emit of one rule into closures `(scope, observer) -> value`."""

    def __init__(self, names: Mapping[str, Callable[[Any], Any]], section: str, rule_id: str) -> None:
        self._names = names
        self._section = section
        self._rule = rule_id
        self._where = f"{section}/{rule_id}"

    def build(self, emit: ir.Emit, path: str = "", *, nullable: bool = False) -> Build:
        """A closure for one emit. In a `nullable` place a null passes through functions that take none."""
        match emit:
            case ir.Constant(value):
                return lambda _scope, _observer: value
            case ir.Computed(node, as_text):
                return self._computed(node, path, as_text=as_text, nullable=nullable)
            case ir.Text(parts):
                return self._text(parts, path, nullable=nullable)
            case ir.Items(items):
                return self._items(tuple(self.build(item, path) for item in items), path)
            case ir.Entries(entries):
                return self._entries(entries, path)

    def _compile(self, node: Node, *, nullable: bool) -> Callable[[Any], Any]:
        return compile_node(node, FUNCTIONS, names=self._names, propagate_null=nullable)

    def _fail(self, path: str, what: str) -> EvaluationError:
        return EvaluationError(what, where=f"{self._where} {path}".rstrip())

    def _computed(self, node: Node, path: str, *, as_text: bool, nullable: bool) -> Build:
        closure = self._compile(node, nullable=nullable)

        def build(scope: dict[str, Any], _observer: Observer | None) -> Any:
            try:
                value = closure(scope)
            except EvaluationError as error:
                raise self._fail(path, str(error)) from error
            return _as_text(value) if as_text else value

        return build

    def _text(self, parts: tuple[str | Node, ...], path: str, *, nullable: bool) -> Build:
        made = tuple(part if isinstance(part, str) else self._compile(part, nullable=nullable) for part in parts)

        def build(scope: dict[str, Any], _observer: Observer | None) -> Any:
            pieces: list[str] = []
            for part in made:
                if part.__class__ is str:
                    pieces.append(part)
                    continue
                try:
                    value = part(scope)  # type: ignore[operator]
                except EvaluationError as error:
                    raise self._fail(path, str(error)) from error
                if value.__class__ is str:
                    pieces.append(value)
                elif value.__class__ is int:
                    pieces.append(str(value))
                elif value is None and nullable:
                    return None
                else:
                    raise self._fail(path, f"a template part is {_named(value)}, and text needs a text or an integer")
            text = "".join(pieces)
            if len(text) > MAX_OUTPUT_STRING_BYTES:
                raise self._fail(path, f"a text of {len(text)} characters, over {MAX_OUTPUT_STRING_BYTES} bytes")
            return text

        return build

    def _items(self, builds: tuple[Build, ...], path: str) -> Build:
        def build(scope: dict[str, Any], observer: Observer | None) -> list[Any]:
            made = [one(scope, observer) for one in builds]
            for number, value in enumerate(made):
                if value is None:
                    raise self._fail(path, f"a null in a list, at position {number}")
            return made

        return build

    def _entries(self, entries: tuple[ir.Entry, ...], path: str) -> Build:
        rows: list[tuple[str | Build, bool, Build, str]] = []
        for entry in entries:
            name = entry.key if isinstance(entry.key, str) else entry.written
            here = f"{path}.{name}" if path else name
            key = (
                entry.key
                if isinstance(entry.key, str)
                else self._text(entry.key.parts, f"{here} (key)", nullable=False)
            )
            rows.append((key, entry.optional, self.build(entry.value, here, nullable=entry.optional), here))

        def build(scope: dict[str, Any], observer: Observer | None) -> dict[str, Any]:
            made: dict[str, Any] = {}
            for key, optional, value_of, here in rows:
                value = value_of(scope, observer)
                if optional:
                    if observer is not None:
                        observer.optional_key(self._section, self._rule, here, present=value is not None)
                    if value is None:
                        continue
                elif value is None:
                    raise self._fail(here, "the value is null: could not tell")
                name: str = key if isinstance(key, str) else key(scope, observer)
                if name in made:
                    raise self._fail(here, f"the key `{name}` twice in one rule")
                made[name] = value
            return made

        return build


def _as_text(value: Any) -> Any:
    if value is True:
        return "true"
    if value is False:
        return "false"
    return str(value) if value.__class__ is int else value


def _named(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    return "a list" if isinstance(value, list) else "an object"
