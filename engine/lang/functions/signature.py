"""What functions say of their arguments and results: type patterns, read from the signature people see.

Nothing is inferred here: the checker matches argument types against these patterns. Beside the types of
`engine.lang.types` the notation has

    T U V       any type, the same one wherever it stands;  K  the same, but text or integer only
    object      any object or map;  list  any list
    a | b       one of two;  (a | b)?  one of two or null
    &T -> U     an expression that gets a T and gives a U
    {a: T}      an object with at least this member
    x?: T       an argument that may be left out;  ...x: T  any number of arguments
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import ContractError


class Shape(StrEnum):
    """What a pattern is made of."""

    ANY = "any"
    NULL = "null"
    BOOL = "bool"
    INT = "int"
    STR = "str"
    ANY_OBJECT = "object"
    ANY_LIST = "list"
    VARIABLE = "variable"
    LIST = "T[]"
    MAP = "map"
    MEMBERS = "members"
    EITHER = "either"
    EXPRESSION = "expression"


class Pattern(Struct, frozen=True):
    """A type with holes. `parts` are the element, the alternatives, the members' types, or input and output."""

    shape: Shape
    nullable: bool = False
    name: str = ""
    parts: tuple[Pattern, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def takes_null(self) -> bool:
        """Whether null is a value this pattern means to take."""
        if self.nullable or self.shape in (Shape.ANY, Shape.NULL):
            return True
        if self.shape is Shape.VARIABLE:
            return self.name != KEY
        return self.shape is Shape.EITHER and any(part.takes_null for part in self.parts)

    def __str__(self) -> str:
        match self.shape:
            case Shape.VARIABLE:
                text = self.name
            case Shape.LIST:
                text = f"{self.parts[0]}[]"
            case Shape.MAP:
                text = f"map<{self.parts[0]}>"
            case Shape.MEMBERS:
                inner = ", ".join(f"{name}: {part}" for name, part in zip(self.names, self.parts, strict=True))
                text = "{" + inner + "}"
            case Shape.EITHER:
                text = " | ".join(str(part) for part in self.parts)
                text = f"({text})" if self.nullable else text
            case Shape.EXPRESSION:
                text = f"&{self.parts[0]} -> {self.parts[1]}"
            case _:
                text = self.shape.value
        return f"{text}?" if self.nullable else text


class Parameter(Struct, frozen=True):
    """One argument: `optional` may be left out, `variadic` stands for any number of them."""

    name: str
    pattern: Pattern
    optional: bool = False
    variadic: bool = False


class Signature(Struct, frozen=True):
    """A function's arguments and result."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: Pattern

    @property
    def min_args(self) -> int:
        """Arguments at least needed."""
        fixed = sum(not (parameter.optional or parameter.variadic) for parameter in self.parameters)
        return fixed or int(self.max_args is None)

    @property
    def max_args(self) -> int | None:
        """Arguments at most taken; None for any number."""
        return None if any(parameter.variadic for parameter in self.parameters) else len(self.parameters)

    def parameter(self, position: int) -> Parameter:
        """The parameter an argument at that position is for."""
        return self.parameters[min(position, len(self.parameters) - 1)]


KEY: Final = "K"
"""The type variable that stands for text or integer: what can be ordered."""

_TOKEN = re.compile(r"\s*(->|\.\.\.|[A-Za-z_][A-Za-z0-9_]*|[()\[\]{}<>:,?|&])")
_SIMPLE: Final = {
    shape.value: Pattern(shape)
    for shape in (Shape.ANY, Shape.NULL, Shape.BOOL, Shape.INT, Shape.STR, Shape.ANY_OBJECT, Shape.ANY_LIST)
}


def parse_signature(text: str) -> Signature:
    """Read `name(argument: type, …) -> type`. Raises ContractError on a slip: signatures are ours."""
    reader = _Reader(text)
    name = reader.take()
    reader.take("(")
    parameters: list[Parameter] = []
    while reader.peek() != ")":
        variadic = reader.skip("...")
        argument = reader.take()
        optional = reader.skip("?")
        reader.take(":")
        parameters.append(Parameter(argument, reader.pattern(), optional, variadic))
        reader.skip(",")
    reader.take(")")
    reader.take("->")
    made = Signature(name, tuple(parameters), reader.pattern())
    if reader.peek():
        raise ContractError(f"signature: {reader.peek()!r} is left over in {text!r}")
    return made


class _Reader:
    """A recursive reader of the notation."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise ContractError(f"cannot read the signature {text!r} at {text[at : at + 20]!r}")
            self.tokens.append(match.group(1))
            at = match.end()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise ContractError(f"signature: expected {wanted or 'more'}, got {token or 'the end'} in {self.text!r}")
        self.at += 1
        return token

    def skip(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def pattern(self) -> Pattern:
        parts = [self.single()]
        while self.skip("|"):
            parts.append(self.single())
        return parts[0] if len(parts) == 1 else Pattern(Shape.EITHER, parts=tuple(parts))

    def single(self) -> Pattern:
        made = self.base()
        while self.peek() in ("[", "?"):
            if self.take() == "[":
                self.take("]")
                made = Pattern(Shape.LIST, parts=(made,))
            else:
                made = replace(made, nullable=True)
        return made

    def base(self) -> Pattern:
        word = self.take()
        if word in _SIMPLE:
            return _SIMPLE[word]
        if len(word) == 1 and word.isalpha() and word.isupper():
            return Pattern(Shape.VARIABLE, name=word)
        if word == "(":
            made = self.pattern()
            self.take(")")
            return made
        if word == "map":
            self.take("<")
            element = self.pattern()
            self.take(">")
            return Pattern(Shape.MAP, parts=(element,))
        if word == "&":
            given = self.single()
            self.take("->")
            return Pattern(Shape.EXPRESSION, parts=(given, self.pattern()))
        if word == "{":
            return self.members()
        raise ContractError(f"signature: unknown type {word!r} in {self.text!r}")

    def members(self) -> Pattern:
        names: list[str] = []
        parts: list[Pattern] = []
        while self.peek() != "}":
            names.append(self.take())
            self.take(":")
            parts.append(self.pattern())
            self.skip(",")
        self.take("}")
        return Pattern(Shape.MEMBERS, parts=tuple(parts), names=tuple(names))
