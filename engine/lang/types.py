"""The types of the rule language: comparing, joining and printing them, and where a value breaks one.

Knows nothing of expressions (`check` infers types) and nothing of how types are written down (`notation` reads that).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import ContractError


class Kind(StrEnum):
    """What a value is."""

    ANY = "any"
    NULL = "null"
    BOOL = "bool"
    INT = "int"
    STR = "str"
    LIST = "list"
    MAP = "map"
    OBJECT = "object"


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


class Member(Struct, frozen=True):
    """One field of an object type. `default` is MISSING unless the shape gives one."""

    type: Type
    optional: bool = False
    default: Any = MISSING

    def __hash__(self) -> int:  # a default may be a list
        return hash((self.type, self.optional))


class Type(Struct, frozen=True):
    """A type. `element` for lists and maps, `members` for objects, `choices` for enumerated texts."""

    kind: Kind
    nullable: bool = False
    element: Type | None = None
    members: tuple[tuple[str, Member], ...] = ()
    choices: tuple[str, ...] = ()

    def member(self, name: str) -> Member | None:
        """The member of that name, or None."""
        for key, member in self.members:
            if key == name:
                return member
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of an object's members, as declared."""
        return tuple(name for name, _ in self.members)

    def __str__(self) -> str:
        match self.kind:
            case Kind.LIST:
                text = f"{self.element}[]"
            case Kind.MAP:
                text = f"map<{self.element}>"
            case Kind.OBJECT:
                inner = ", ".join(f"{n}{'?' if m.optional else ''}: {m.type.required()}" for n, m in self.members)
                text = "{" + inner + "}"
            case Kind.STR if self.choices:
                text = "|".join(f"'{choice}'" for choice in self.choices)
            case _:
                text = self.kind.value
        return f"{text}?" if self.nullable and self.kind not in (Kind.ANY, Kind.NULL) else text

    def required(self) -> Type:
        """This type without null."""
        return replace(self, nullable=False) if self.nullable else self

    def or_null(self) -> Type:
        """This type or null."""
        return self if self.nullable or self.kind in (Kind.ANY, Kind.NULL) else replace(self, nullable=True)


ANY: Final = Type(Kind.ANY, nullable=True)
NULL: Final = Type(Kind.NULL, nullable=True)
BOOL: Final = Type(Kind.BOOL)
INT: Final = Type(Kind.INT)
STR: Final = Type(Kind.STR)


def list_of(element: Type) -> Type:
    """`element[]`."""
    return Type(Kind.LIST, element=element)


def map_of(element: Type) -> Type:
    """`map<element>`."""
    return Type(Kind.MAP, element=element)


def object_of(members: Mapping[str, Type | Member]) -> Type:
    """An object type; a nullable type makes its member optional."""
    made = tuple((n, m if isinstance(m, Member) else Member(m, optional=m.nullable)) for n, m in members.items())
    return Type(Kind.OBJECT, members=made)


def join(left: Type, right: Type) -> Type | None:
    """The least type both fit, or None when there is none (a text and a number)."""
    if left == right:
        return left
    if left.kind is Kind.NULL:
        return right.or_null()
    if right.kind is Kind.NULL:
        return left.or_null()
    nullable = left.nullable or right.nullable
    if Kind.ANY in (left.kind, right.kind):
        return ANY
    if left.kind is not right.kind:
        if {left.kind, right.kind} == {Kind.MAP, Kind.OBJECT}:
            return _join_map(left, right, nullable=nullable)
        return None
    match left.kind:
        case Kind.STR:
            known = left.choices and right.choices
            return Type(Kind.STR, nullable, choices=tuple(dict.fromkeys(left.choices + right.choices)) if known else ())
        case Kind.LIST | Kind.MAP:
            element = join(_element(left), _element(right))
            return None if element is None else Type(left.kind, nullable, element=element)
        case Kind.OBJECT:
            return _join_objects(left, right, nullable=nullable)
        case _:
            return replace(left, nullable=nullable)


def _element(value: Type) -> Type:
    return value.element if value.element is not None else ANY


def _join_map(left: Type, right: Type, *, nullable: bool) -> Type | None:
    mapping, record = (left, right) if left.kind is Kind.MAP else (right, left)
    element: Type | None = _element(mapping)
    for _, member in record.members:
        element = join(element, member.type) if element is not None else None
    return None if element is None else Type(Kind.MAP, nullable, element=element)


def _join_objects(left: Type, right: Type, *, nullable: bool) -> Type | None:
    members: list[tuple[str, Member]] = []
    for name in dict.fromkeys(left.names + right.names):
        mine, theirs = left.member(name), right.member(name)
        if mine is None or theirs is None:
            only = mine or theirs
            assert only is not None
            members.append((name, Member(only.type.or_null(), optional=True)))
            continue
        both = join(mine.type, theirs.type)
        if both is None:
            return None
        members.append((name, Member(both, optional=mine.optional or theirs.optional)))
    return Type(Kind.OBJECT, nullable, members=tuple(members))


def type_of(value: Any) -> Type:
    """The type of a constant. Raises ContractError for what the language has no type for (floats)."""
    if value is None:
        return NULL
    if value is True or value is False:
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, str):
        return STR
    if isinstance(value, list | tuple):
        element: Type | None = None
        for item in value:
            element = type_of(item) if element is None else (join(element, type_of(item)) or ANY)
        return list_of(element or ANY)
    if isinstance(value, Mapping):
        return object_of({str(key): Member(type_of(item)) for key, item in value.items()})
    raise ContractError(f"no type for a {type(value).__name__}", why="the language has integers, texts and booleans")


def fits(value: Type, wanted: Type) -> bool:
    """Whether a value of the one type may stand where the other is wanted (null included)."""
    if Kind.ANY in (value.kind, wanted.kind):
        return True
    if value.kind is Kind.NULL:
        return wanted.nullable or wanted.kind is Kind.NULL
    if value.nullable and not wanted.nullable:
        return False
    match wanted.kind:
        case Kind.STR:
            return value.kind is Kind.STR and (
                not wanted.choices or not value.choices or set(value.choices) <= set(wanted.choices)
            )
        case Kind.LIST:
            return value.kind is Kind.LIST and fits(_element(value), _element(wanted))
        case Kind.MAP if value.kind is Kind.OBJECT:
            return all(fits(member.type, _element(wanted)) for _, member in value.members)
        case Kind.MAP:
            return value.kind is Kind.MAP and fits(_element(value), _element(wanted))
        case Kind.OBJECT:
            return value.kind is Kind.OBJECT and _fits_object(value, wanted)
        case _:
            return value.kind is wanted.kind


def _fits_object(value: Type, wanted: Type) -> bool:
    for name, member in wanted.members:
        given = value.member(name)
        if given is None:
            if not member.optional and member.default is MISSING:
                return False
        elif not fits(given.type, member.type.or_null() if member.optional else member.type):
            return False
    return all(wanted.member(name) is not None for name in value.names)


def violations(value: Any, wanted: Type, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: C901 - a case a kind
    """Where a plain value breaks a type: pairs of path and message, in the value's order."""
    here = path or "the value"
    if value is None:
        if not wanted.nullable and wanted.kind not in (Kind.ANY, Kind.NULL):
            yield here, f"expected {wanted}, got null"
        return
    match wanted.kind:
        case Kind.ANY:
            return
        case Kind.LIST if isinstance(value, list):
            for number, item in enumerate(value):
                yield from violations(item, _element(wanted), f"{path}[{number}]")
        case Kind.MAP if isinstance(value, dict):
            for key, item in value.items():
                yield from violations(item, _element(wanted), f"{path}.{key}" if path else str(key))
        case Kind.OBJECT if isinstance(value, dict):
            yield from _object_violations(value, wanted, path)
        case Kind.STR if isinstance(value, str):
            if wanted.choices and value not in wanted.choices:
                yield here, f"expected one of {', '.join(wanted.choices)}, got {json.dumps(value, ensure_ascii=False)}"
        case Kind.BOOL if isinstance(value, bool):
            return
        case Kind.INT if isinstance(value, int) and not isinstance(value, bool):
            return
        case _:
            yield here, f"expected {wanted.required()}, got {json.dumps(value, ensure_ascii=False, default=repr)}"


def _object_violations(value: Mapping[str, Any], wanted: Type, path: str) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        member = wanted.member(key)
        here = f"{path}.{key}" if path else key
        if member is None:
            yield here, f"unknown field; known: {', '.join(wanted.names)}"
        else:
            yield from violations(item, member.type.or_null() if member.optional else member.type, here)
