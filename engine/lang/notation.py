"""The notation that declares types: what the section catalogue is written in.

    str int bool any null     T?          nullable
    T[]  map<T>               {a: T, b?: T}   object; `b?: T` may be absent and then reads as null
    'a'|'b'                   one of these texts
    @name                     a type that the pack decides (its slots, its extras)
    field: T = 0              in an emit shape: what the field is when no rule gave it

What types mean is `types`' business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from engine.errors import ContractError
from engine.lang.types import ANY, BOOL, INT, MISSING, NULL, STR, Kind, Member, Type, list_of, map_of

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_-]*)|(?P<text>'[^']*')|(?P<json>-?[0-9]+|\"[^\"]*\")|(?P<sign>[{}<>\[\]:,?|=@]))"
)
_NAME = re.compile(r"@\s*([A-Za-z_][A-Za-z0-9_-]*)")
_KEPT: Final = 2048  # ours: nine makers' sections fill a third of it
_SIMPLE: Final = {"str": STR, "int": INT, "bool": BOOL, "any": ANY, "null": NULL}


def parse_type(notation: str, named: Mapping[str, Type] | None = None) -> Type:
    """The type a notation declares; `named` gives what `@name` stands for. Raises ContractError on a slip.

    Cost: a notation is read once for the same types behind its names.
    """
    return _read_type(notation, _bound(notation, named))


def parse_shape(notation: str, named: Mapping[str, Type] | None = None) -> tuple[Type, ...]:
    """The alternatives of an emit shape, `{…} or {…}`; nearly always one."""
    return _read_shape(notation, _bound(notation, named))


_Bound = tuple[tuple[str, Type], ...]
"""The names in a notation that stand for something, and what for."""


def _bound(notation: str, named: Mapping[str, Type] | None) -> _Bound:
    if not named or "@" not in notation:
        return ()
    return tuple((name, named[name]) for name in _names(notation) if name in named)


@cache
def _names(notation: str) -> tuple[str, ...]:
    return tuple(sorted(set(_NAME.findall(notation))))


@lru_cache(_KEPT)
def _read_type(notation: str, named: _Bound) -> Type:
    parser = _Notation(notation, dict(named))
    made = parser.type()
    parser.finish()
    return made


@lru_cache(_KEPT)
def _read_shape(notation: str, named: _Bound) -> tuple[Type, ...]:
    parser = _Notation(notation, dict(named))
    made = [parser.type()]
    while parser.peek() == "or":
        parser.take()
        made.append(parser.type())
    parser.finish()
    return tuple(made)


class _Notation:
    """A recursive reader of the notation; declarations are ours, so a slip is a ContractError."""

    def __init__(self, text: str, named: Mapping[str, Type]) -> None:
        self.text, self.named, self.at = text, named, 0
        self.tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise ContractError(f"cannot read the type notation at {text[at : at + 20]!r}")
            self.tokens.append(match.group().strip())
            at = match.end()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        word = self.peek()
        if not word or (wanted and word != wanted):
            raise ContractError(f"type notation: expected {wanted or 'more'}, got {word or 'the end'} in {self.text!r}")
        self.at += 1
        return word

    def finish(self) -> None:
        if self.peek():
            raise ContractError(f"type notation: {self.peek()!r} is left over in {self.text!r}")

    def type(self) -> Type:
        made = self.base()
        while self.peek() in ("[", "?"):
            if self.take() == "[":
                self.take("]")
                made = list_of(made)
            else:
                made = made.or_null()
        return made

    def base(self) -> Type:
        word = self.take()
        if word == "{":
            return self.object()
        if word == "@":
            name = self.take()
            if name not in self.named:
                return ANY
            return self.named[name]
        if word == "map":
            self.take("<")
            element = self.type()
            self.take(">")
            return map_of(element)
        if word.startswith("'"):
            choices = [word[1:-1]]
            while self.peek() == "|":
                self.take()
                choices.append(self.take()[1:-1])
            return Type(Kind.STR, choices=tuple(choices))
        if word not in _SIMPLE:
            raise ContractError(f"type notation: unknown type {word!r} in {self.text!r}")
        return _SIMPLE[word]

    def object(self) -> Type:
        members: list[tuple[str, Member]] = []
        while self.peek() != "}":
            name = self.take()
            optional = self.peek() == "?"
            if optional:
                self.take()
            self.take(":")
            made = self.type()
            default: Any = MISSING
            if self.peek() == "=":
                self.take()
                default = self.default()
            optional = optional or made.nullable
            members.append((name, Member(made.or_null() if optional else made, optional, default)))
            if self.peek() == ",":
                self.take()
        self.take("}")
        return Type(Kind.OBJECT, members=tuple(members))

    def default(self) -> Any:
        word = self.take()
        if word == "[":
            items = []
            while self.peek() != "]":
                items.append(self.default())
                if self.peek() == ",":
                    self.take()
            self.take("]")
            return items
        if word == "{":
            self.take("}")
            return {}
        return word[1:-1] if word.startswith("'") else json.loads(word)
