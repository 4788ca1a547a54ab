"""Matching argument types against the patterns of a signature, and giving the result's type.

Words no message: it says what does not fit, the caller says it to people.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from engine.lang.functions.signature import KEY, Pattern, Shape
from engine.lang.types import ANY, BOOL, INT, NULL, STR, Kind, Member, Type, join, list_of, map_of

NOTHING: Final = Type(Kind.ANY)
"""What an empty list holds: a type that gives way to any other."""

_SIMPLE: Final = {Shape.BOOL: BOOL, Shape.INT: INT, Shape.STR: STR, Shape.ANY: ANY, Shape.NULL: NULL}


class Fit(Enum):
    """How a type and a pattern go together."""

    YES = auto()
    NULLABLE = auto()  # it would fit but for null
    NO = auto()


class Bindings:
    """The types found for a signature's variables; they widen as arguments are matched."""

    def __init__(self) -> None:
        self._types: dict[str, Type] = {}

    def match(self, given: Type, pattern: Pattern) -> Fit:
        """Match one argument."""
        if given.kind is Kind.ANY:
            if given != NOTHING:
                self._bind_all(pattern)
            return Fit.YES
        if given.kind is Kind.NULL:
            return Fit.YES if pattern.takes_null and self._bind_null(pattern) else Fit.NULLABLE
        if given.nullable:
            if pattern.nullable:
                return self._required(given.required(), pattern)
            if pattern.takes_null:
                return self._required(given, pattern)
            return Fit.NULLABLE if self._required(given.required(), pattern) is Fit.YES else Fit.NO
        return self._required(given, pattern)

    def resolve(self, pattern: Pattern) -> Type:
        """The type a pattern stands for once arguments are matched; ANY for a variable nothing was found for."""
        made = self._resolved(pattern)
        return made.or_null() if pattern.nullable else made

    def _resolved(self, pattern: Pattern) -> Type:
        match pattern.shape:
            case Shape.VARIABLE:
                return self._types.get(pattern.name, ANY)
            case Shape.LIST:
                return list_of(self.resolve(pattern.parts[0]))
            case Shape.MAP:
                return map_of(self.resolve(pattern.parts[0]))
            case Shape.ANY_OBJECT:
                return map_of(ANY)
            case shape if shape in _SIMPLE:
                return _SIMPLE[shape]
            case _:
                return ANY

    def _required(self, given: Type, pattern: Pattern) -> Fit:
        match pattern.shape:
            case Shape.VARIABLE:
                return self._bind(pattern.name, given)
            case Shape.EITHER:
                found = [self.match(given, part) for part in pattern.parts]
                return Fit.YES if Fit.YES in found else Fit.NULLABLE if Fit.NULLABLE in found else Fit.NO
            case Shape.LIST:
                return self.match(given.element or ANY, pattern.parts[0]) if given.kind is Kind.LIST else Fit.NO
            case Shape.MAP:
                return self._map(given, pattern.parts[0])
            case Shape.MEMBERS:
                return self._members(given, pattern)
            case Shape.ANY_OBJECT:
                return Fit.YES if given.kind in (Kind.OBJECT, Kind.MAP) else Fit.NO
            case Shape.ANY_LIST:
                return Fit.YES if given.kind is Kind.LIST else Fit.NO
            case Shape.EXPRESSION | Shape.NULL:
                return Fit.NO
            case Shape.ANY:
                return Fit.YES
            case _:
                return Fit.YES if given.kind.value == pattern.shape.value else Fit.NO

    def _map(self, given: Type, element: Pattern) -> Fit:
        if given.kind is Kind.MAP:
            return self.match(given.element or ANY, element)
        if given.kind is not Kind.OBJECT:
            return Fit.NO
        return self.match(values_of(given), element)

    def _members(self, given: Type, pattern: Pattern) -> Fit:
        if given.kind is Kind.MAP:
            given_members = dict.fromkeys(pattern.names, Member((given.element or ANY).or_null()))
        elif given.kind is Kind.OBJECT:
            given_members = dict(given.members)
        else:
            return Fit.NO
        found = []
        for name, part in zip(pattern.names, pattern.parts, strict=True):
            member = given_members.get(name)
            found.append(Fit.NO if member is None else self.match(member.type, part))
        return Fit.NO if Fit.NO in found else Fit.NULLABLE if Fit.NULLABLE in found else Fit.YES

    def _bind(self, name: str, given: Type) -> Fit:
        if name == KEY and given.kind not in (Kind.STR, Kind.INT):
            return Fit.NO
        known = self._types.get(name)
        made = given if known is None else widened(known, given)
        if made is None:
            return Fit.NO
        self._types[name] = made
        return Fit.YES

    def _bind_null(self, pattern: Pattern) -> bool:
        if pattern.shape is Shape.VARIABLE and not pattern.nullable:
            known = self._types.get(pattern.name)
            self._types[pattern.name] = NULL if known is None else known.or_null()
        return True

    def _bind_all(self, pattern: Pattern) -> None:
        if pattern.shape is Shape.VARIABLE:
            self._types[pattern.name] = ANY
        elif pattern.shape is not Shape.EXPRESSION:
            for part in pattern.parts:
                self._bind_all(part)


def values_of(record: Type) -> Type:
    """The one type all values of an object have; ANY when there is none."""
    made = NOTHING
    for _, member in record.members:
        joined = widened(made, member.type)
        if joined is None:
            return ANY
        made = joined
    return made if record.members else NOTHING


def widened(left: Type, right: Type) -> Type | None:
    """`join`, where what an empty list holds gives way."""
    if NOTHING in (left, right):
        return right if left == NOTHING else left
    if left.kind is Kind.LIST and right.kind is Kind.LIST and NOTHING in (left.element, right.element):
        kept = right if left.element == NOTHING else left
        return kept.or_null() if left.nullable or right.nullable else kept
    return join(left, right)
