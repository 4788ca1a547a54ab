"""From the YAML under `emit` to a compiled emit, checked against the section's emit shape.

Every key and template is checked where it stands: unknown fields, missing fields, wrong types, nulls where none may be.
How rules fire is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from msgspec import Struct

from engine.lang import ir
from engine.lang.ast import Literal, Node
from engine.lang.check import Scope
from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.source import Place
from engine.lang.template import Hole, Template, TemplateError, parse_template
from engine.lang.tree import Entry, Map, Scalar, Seq
from engine.lang.tree import Node as TreeNode
from engine.lang.types import ANY, INT, MISSING, STR, Kind, Type, fits, type_of

_PRINTS: Final = (Kind.INT, Kind.BOOL)


class Expressions(Protocol):
    """Parses, checks and folds one expression; None when it has an error (already reported)."""

    def __call__(
        self, scalar: Scalar, scope: Scope, *, text: str, start: int, nullable: bool = False
    ) -> tuple[Node, Type] | None: ...


class EmitBuilder(Struct):
    """Builds emits of one section.

    Shape: `whole` says that one rule alone gives the section's answer (`first`, `list`), so that it has to give every
    required field; in a `merge` another rule may. `on_key` is told every key of a map but those under `unowned` fields.
    """

    expressions: Expressions
    diagnostics: Diagnostics
    whole: bool
    on_key: Callable[[str | ir.Text, Place], None] | None = None
    unowned: tuple[str, ...] = ()

    def shape(self, node: TreeNode, alternatives: tuple[Type, ...], scope: Scope) -> ir.Emit | None:
        """The emit of a rule."""
        return self.value(node, self._chosen(node, alternatives), scope, whole=self.whole)

    def text(self, scalar: TreeNode, scope: Scope) -> ir.TextEmit | None:
        """A message or an `unknown` text."""
        if not isinstance(scalar, Scalar):
            self.diagnostics.error(
                "RP203", "a text is wanted here", scalar.place, help="write a text, with $(…) where it varies"
            )
            return None
        made = self._scalar(scalar, STR, scope, nullable=False)
        return made if isinstance(made, ir.Constant | ir.Computed | ir.Text) else None

    def value(
        self, node: TreeNode, wanted: Type, scope: Scope, *, whole: bool = True, nullable: bool = False
    ) -> ir.Emit | None:
        """One value anywhere in an emit."""
        match node:
            case Scalar():
                return self._scalar(node, wanted, scope, nullable=nullable)
            case Seq():
                return self._list(node, wanted, scope)
            case Map():
                return self._object(node, wanted, scope, whole=whole)

    def _chosen(self, node: TreeNode, alternatives: tuple[Type, ...]) -> Type:
        if len(alternatives) == 1 or not isinstance(node, Map):
            return alternatives[0]
        keys = {entry.key.text.removesuffix("?") for entry in node.entries}
        for one in alternatives:
            if keys <= set(one.names):
                return one
        all_names = {name for one in alternatives for name in one.names}
        if keys <= all_names:
            shapes = " or ".join(str(one) for one in alternatives)
            self.diagnostics.error(
                "RP423",
                f"{', '.join(sorted(keys))} do not go together",
                node.place,
                help=f"give exactly one of {shapes}",
            )
            return ANY
        return max(alternatives, key=lambda one: len(keys & set(one.names)))

    # containers

    def _list(self, node: Seq, wanted: Type, scope: Scope) -> ir.Emit | None:
        if wanted.kind not in (Kind.LIST, Kind.ANY):
            self._kind(node.place, wanted, "a list")
            return None
        element = wanted.element or ANY
        made = [self.value(item, element, scope) for item in node.items]
        return ir.Items(tuple(item for item in made if item is not None)) if None not in made else None

    def _object(self, node: Map, wanted: Type, scope: Scope, *, whole: bool) -> ir.Emit | None:
        if wanted.kind not in (Kind.OBJECT, Kind.MAP, Kind.ANY):
            self._kind(node.place, wanted, "an object")
            return None
        entries: list[ir.Entry] = []
        ok = True
        for entry in node.entries:
            made = self._entry(entry, wanted, scope, whole=whole)
            if made is None:
                ok = False
            else:
                entries.append(made)
        if wanted.kind is Kind.OBJECT and whole:
            given = {entry.key.text.removesuffix("?") for entry in node.entries}
            missing = [n for n, m in wanted.members if n not in given and not m.optional and m.default is MISSING]
            if missing:
                self.diagnostics.error(
                    "RP423", f"{', '.join(missing)} is missing", node.place, help=f"the shape is {wanted.required()}"
                )
                ok = False
        return ir.Entries(tuple(entries)) if ok else None

    def _entry(self, entry: Entry, wanted: Type, scope: Scope, *, whole: bool) -> ir.Entry | None:
        written = entry.key.text
        optional = written.endswith("?")
        name = written[:-1] if optional else written
        key = self._key(entry.key, name, scope)
        if key is None:
            return None
        element, must = wanted.element or ANY, False
        if wanted.kind is Kind.OBJECT:
            if not isinstance(key, str):
                self.diagnostics.error(
                    "RP423",
                    "a computed key, where the fields are fixed",
                    entry.key.place,
                    help=f"fields: {', '.join(wanted.names)}",
                )
                return None
            member = wanted.member(key)
            if member is None:
                self._unknown_field(entry.key.place, key, wanted)
                return None
            element, must = member.type.required(), not member.optional and member.default is MISSING
        if optional and must and whole:
            self.diagnostics.error(
                "RP423",
                f"`{name}` has to be there, and `{written}` may leave it out",
                entry.key.place,
                help=f"write `{name}:`",
            )
        if self.on_key is not None and wanted.kind in (Kind.MAP, Kind.ANY):
            self.on_key(key, entry.key.place)
        with self._unwatched(wanted, name):
            value = self.value(entry.value, element, scope, whole=whole, nullable=optional)
        return None if value is None else ir.Entry(key, optional, value, name)

    @contextmanager
    def _unwatched(self, wanted: Type, name: str) -> Iterator[None]:
        """Below a field whose keys are no keys of objects, `on_key` is told nothing."""
        watched = self.on_key
        if wanted.kind is Kind.OBJECT and name in self.unowned:
            self.on_key = None
        try:
            yield
        finally:
            self.on_key = watched

    def _key(self, scalar: Scalar, text: str, scope: Scope) -> str | ir.Text | None:
        template = self._template(scalar, text)
        if template is None:
            return None
        parts = self._parts(scalar, template, scope, nullable=False)
        if parts is None:
            return None
        joined = _joined(parts)
        return joined if isinstance(joined, str) else ir.Text(joined)

    # scalars

    def _scalar(self, scalar: Scalar, wanted: Type, scope: Scope, *, nullable: bool) -> ir.Emit | None:
        if not isinstance(scalar.value, str):
            return self._literal(scalar, wanted)
        template = self._template(scalar, scalar.value)
        if template is None:
            return None
        hole = template.alone
        if hole is not None:
            return self._computed(scalar, hole, wanted, scope, nullable=nullable)
        literal = template.literal
        if literal is not None:
            return self._literal(scalar, wanted, literal)
        parts = self._parts(scalar, template, scope, nullable=nullable)
        if parts is None:
            return None
        if wanted.kind not in (Kind.STR, Kind.ANY):
            self._kind(scalar.place, wanted, "text")
            return None
        joined = _joined(parts)
        return ir.Constant(joined) if isinstance(joined, str) else ir.Text(joined)

    def _literal(self, scalar: Scalar, wanted: Type, text: str | None = None) -> ir.Emit | None:
        value = scalar.value if text is None else text
        if value is None:
            self.diagnostics.error("RP112", "an empty value", scalar.place, help="write the value, or delete the key")
            return None
        given = type_of(value)
        if not fits(given, wanted):
            shown = json.dumps(value, ensure_ascii=False)
            advice = f'quote it: "{scalar.text}"' if wanted.kind is Kind.STR else f"write {_article(wanted)}"
            self.diagnostics.error("RP421", f"expected {wanted.required()}, got {shown}", scalar.place, help=advice)
            return None
        if wanted.choices and value not in wanted.choices:
            meant = nearest(str(value), wanted.choices)
            self.diagnostics.error(
                "RP421",
                f"{value} is none of {', '.join(wanted.choices)}",
                scalar.place,
                help=f"did you mean `{meant}`?" if meant else f"write one of {', '.join(wanted.choices)}",
            )
            return None
        return ir.Constant(value)

    def _computed(self, scalar: Scalar, hole: Hole, wanted: Type, scope: Scope, *, nullable: bool) -> ir.Emit | None:
        found = self.expressions(scalar, scope, text=hole.text, start=hole.start, nullable=nullable)
        if found is None:
            return None
        node, given = found
        place = self._place(scalar, hole)
        if given.nullable and given.kind is not Kind.ANY and not nullable:
            self.diagnostics.error(
                "RP413",
                "the value may be null, and a null here is an error",
                place,
                help="write `key?:` to leave the key out, or default(x, y), or required(x, 'why')",
            )
            return None
        as_text = wanted.kind is Kind.STR and given.kind in _PRINTS
        if not as_text and not fits(given.required(), wanted):
            self.diagnostics.error(
                "RP421", f"expected {wanted.required()}, got {given}", place, help=_advice(wanted, given)
            )
            return None
        if isinstance(node, Literal) and isinstance(node.value, str | int | bool):
            value = str(node.value).lower() if as_text and isinstance(node.value, bool) else node.value
            return ir.Constant(str(value) if as_text else value)
        return ir.Computed(node, as_text)

    # templates

    def _template(self, scalar: Scalar, text: str) -> Template | None:
        try:
            return parse_template(text)
        except TemplateError as error:
            place = Place(scalar.source, scalar.locate(error.start, error.end))
            self.diagnostics.error("RP320", error.what, place, help=error.remedy)
            return None

    def _parts(self, scalar: Scalar, template: Template, scope: Scope, *, nullable: bool) -> list[str | Node] | None:
        parts: list[str | Node] = []
        ok = True
        for part in template.parts:
            if isinstance(part, str):
                parts.append(part)
                continue
            found = self.expressions(scalar, scope, text=part.text, start=part.start, nullable=nullable)
            if found is None:
                ok = False
                continue
            node, given = found
            ok = self._part_type(given, self._place(scalar, part), nullable=nullable) and ok
            parts.append(node)
        return parts if ok else None

    def _part_type(self, given: Type, place: Place, *, nullable: bool) -> bool:
        if given.kind is Kind.ANY:
            return True
        if given.nullable and not nullable:
            self.diagnostics.error(
                "RP413",
                "a part of a text may be null",
                place,
                help="write `key?:`, default(x, y) or required(x, 'why')",
            )
            return False
        if not (fits(given.required(), STR) or fits(given.required(), INT)):
            self.diagnostics.error(
                "RP422",
                f"a part of a text is {given.required()}",
                place,
                help="text takes texts and integers; use json(x) or if()",
            )
            return False
        return True

    def _place(self, scalar: Scalar, hole: Hole) -> Place:
        return Place(scalar.source, scalar.locate(hole.start, hole.start + len(hole.text)))

    def _kind(self, place: Place, wanted: Type, got: str) -> None:
        self.diagnostics.error(
            "RP421", f"expected {wanted.required()}, got {got}", place, help=f"write {_article(wanted)}"
        )

    def _unknown_field(self, place: Place, name: str, wanted: Type) -> None:
        meant = nearest(name, wanted.names)
        known = f"known: {', '.join(wanted.names)}"
        self.diagnostics.error(
            "RP423", f"unknown field `{name}`", place, help=f"did you mean `{meant}`? {known}" if meant else known
        )


def _joined(parts: list[str | Node]) -> str | tuple[str | Node, ...]:
    """Parts with folded constants melted in: a text when nothing varies."""
    made: list[str | Node] = []
    for part in parts:
        value = part
        if isinstance(part, Literal) and isinstance(part.value, str | int) and not isinstance(part.value, bool):
            value = str(part.value)
        if isinstance(value, str) and made and isinstance(made[-1], str):
            made[-1] += value
        else:
            made.append(value)
    if all(isinstance(part, str) for part in made):
        return "".join(part for part in made if isinstance(part, str))
    return tuple(made)


def _article(wanted: Type) -> str:
    words = {
        Kind.LIST: "a list",
        Kind.MAP: "an object",
        Kind.OBJECT: "an object",
        Kind.STR: "a text",
        Kind.INT: "an integer",
    }
    return words.get(wanted.kind, "true or false")


def _advice(wanted: Type, given: Type) -> str:
    if wanted.choices and given.kind is Kind.STR:
        return f"one of {', '.join(wanted.choices)}"
    return f"write an expression that gives {_article(wanted)}"
