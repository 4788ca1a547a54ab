"""The node tree of a YAML document: scalars, lists and maps with the bytes they were written in.

Knows how a scalar's text lies in its file, so that a fault inside an expression can be pointed at. Reads no YAML itself
and knows nothing of packs.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from engine.lang.source import Place, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

_ESCAPE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|(?:\r\n|[^\r])|\r)", re.DOTALL)
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_TEXT_LINE_END = re.compile("[\n\u2028\u2029]")
_SPACE = " \t\r\n\x85\u2028\u2029"


class Style(StrEnum):
    """How a scalar was written."""

    PLAIN = "plain"
    SINGLE = "single"
    DOUBLE = "double"
    LITERAL = "literal"
    FOLDED = "folded"


class _Written(Struct, frozen=True):
    """What every node carries: its bytes. Two nodes are equal when they are the same in the same place, whatever file that is."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _seen(self) == _seen(other)

    def __hash__(self) -> int:
        return hash(_seen(self))


class Scalar(_Written, frozen=True, dict=True):
    """One value. `text` is what was written with quotes, escapes, folding and indentation undone; `value` what it means.

    The map from characters to bytes is made on first use and kept.
    """

    value: str | int | bool | None
    text: str
    style: Style
    span: Span
    source: Source

    @property
    def place(self) -> Place:
        """Where it stands, quotes included."""
        return Place(self.source, self.span)

    def locate(self, start: int, end: int) -> Span:
        """Bytes in the file of the characters `start` to `end` of `text`.

        Shape: exact for every style but folded and multi-line plain text, where blanks and line ends are best effort.
        """
        base = self._straight
        if base is not None:
            size = len(self.text)
            first = base + max(0, min(start, size))
            return Span(first, max(first, base + max(1, min(end, size))) if end > start else first)
        offsets = self._offsets
        last = len(offsets) - 1
        first = offsets[max(0, min(start, last))][0]
        if end <= start:
            return Span(first, first)
        return Span(first, max(first, offsets[max(0, min(end, last) - 1)][1]))

    @cached_property
    def _straight(self) -> int | None:
        """Where the text starts in the file if it stands there byte for byte, as nearly every expression does."""
        quote = 1 if self.style in (Style.SINGLE, Style.DOUBLE) else 0
        raw = self.source.data[self.span.start + quote : self.span.end - quote]
        if self.style in (Style.LITERAL, Style.FOLDED) or not self.text.isascii() or raw != self.text.encode():
            return None
        return self.span.start + quote if raw else None

    @cached_property
    def _offsets(self) -> tuple[tuple[int, int], ...]:
        """First byte and the byte after, for each character of `text`, and one more entry for its end."""
        raw = self.source.data[self.span.start : self.span.end].decode("utf-8", "replace")
        match self.style:
            case Style.LITERAL:
                pairs, end = _align_lines(self.text, raw)
            case Style.PLAIN if raw == self.text:
                pairs, end = [(i, i + 1) for i in range(len(raw))], len(raw)
            case _:
                tokens = _tokens(raw, self.style)
                pairs, end = _align(self.text, tokens), tokens[-1][2] if tokens else min(1, len(raw))
        if raw.isascii():
            return tuple((self.span.start + a, self.span.start + b) for a, b in [*pairs, (end, end)])
        bytes_before = [self.span.start]
        for character in raw:
            bytes_before.append(bytes_before[-1] + len(character.encode("utf-8", "replace")))
        return tuple((bytes_before[a], bytes_before[b]) for a, b in [*pairs, (end, end)])


class Seq(_Written, frozen=True):
    """A list."""

    items: tuple[Node, ...]
    span: Span
    source: Source

    @property
    def place(self) -> Place:
        """Where it stands, first item to last."""
        return Place(self.source, self.span)


class Entry(Struct, frozen=True):
    """One key of a map with its value."""

    key: Scalar
    value: Node


class Map(_Written, frozen=True):
    """A map in the order written; keys are strings and there is one of each."""

    entries: tuple[Entry, ...]
    span: Span
    source: Source

    @property
    def place(self) -> Place:
        """Where it stands, first key to last value."""
        return Place(self.source, self.span)

    def entry(self, key: str) -> Entry | None:
        """The entry of a key."""
        return next((entry for entry in self.entries if entry.key.text == key), None)

    def get(self, key: str) -> Node | None:
        """The value of a key; None when the key is not there (an empty value is a `Scalar`)."""
        entry = self.entry(key)
        return entry.value if entry else None

    def path(self, steps: Iterable[str | int]) -> Node | None:
        """The node at the end of a path of keys and list positions; None when it leads nowhere."""
        return lookup(self, steps)


Node = Scalar | Seq | Map


def _seen(node: _Written) -> tuple[Any, ...]:
    return tuple(getattr(node, name) for name in node.__struct_fields__ if name != "source")


def lookup(node: Node, steps: Iterable[str | int]) -> Node | None:
    """The node at the end of a path of keys and list positions; None when it leads nowhere."""
    here: Node | None = node
    for step in steps:
        match here, step:
            case Map(), str():
                here = here.get(step)
            case Seq(), int() if 0 <= step < len(here.items):
                here = here.items[step]
            case _:
                return None
    return here


def plain(node: Node) -> Any:
    """The node as Python data: dict, list, str, int, bool, None."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Map):
        return {entry.key.text: plain(entry.value) for entry in node.entries}
    return [plain(item) for item in node.items]


# A token is one character of the value as written: what it stands for, first and last position in the raw text, and
# whether it is layout (a blank that folding may drop) rather than a character somebody escaped.
_Token = tuple[str, int, int, bool]


def _tokens(raw: str, style: Style) -> list[_Token]:
    start, end = 0, len(raw)
    if style in (Style.SINGLE, Style.DOUBLE):
        start, end = 1, end - 1
    elif style is Style.FOLDED:
        header = _LINE_END.search(raw)
        start = header.end() if header else end
    tokens: list[_Token] = []
    while start < end:
        width, layout, character = 1, raw[start] in _SPACE, raw[start]
        if style is Style.SINGLE and raw.startswith("''", start):
            width = 2
        elif style is Style.DOUBLE and character == "\\" and (escape := _ESCAPE.match(raw, start)):
            width = escape.end() - start
            # The character itself does not matter, only that it is one; an escaped line end is none.
            layout = raw[start + 1] in "\r\n"
            character = "\n" if layout else "x"
        tokens.append((character, start, start + width, layout))
        start += width
    return tokens


def _align(text: str, tokens: list[_Token]) -> list[tuple[int, int]]:
    """Pair the characters of a value with the tokens that made them.

    Folding only ever adds, drops or changes blanks, so the other characters pair off in order.
    """
    pairs: list[tuple[int, int]] = []
    at = 0
    for character in text:
        if character not in _SPACE:
            while at < len(tokens) and tokens[at][3]:
                at += 1
        if at < len(tokens) and (character not in _SPACE or tokens[at][3] or _is_escape(tokens[at])):
            pairs.append(tokens[at][1:3])
            at += 1
        else:
            here = tokens[at][1] if at < len(tokens) else tokens[-1][2] if tokens else 0
            pairs.append((here, here))
    return pairs


def _is_escape(token: _Token) -> bool:
    return token[2] - token[1] > 1


def _align_lines(text: str, raw: str) -> tuple[list[tuple[int, int]], int]:
    """Pair the lines of a literal block with the lines of the file: each is the end of its line there."""
    header = _LINE_END.search(raw)
    at = header.end() if header else len(raw)
    pairs: list[tuple[int, int]] = []
    end = at
    for line in _TEXT_LINE_END.split(text):
        stop = _LINE_END.search(raw, at)
        finish, following = (stop.start(), stop.end()) if stop else (len(raw), len(raw))
        first = max(at, finish - len(line))
        pairs += [(min(first + i, finish), min(first + i + 1, finish)) for i in range(len(line))]
        end = first + len(line) if line else at
        pairs.append((finish, following))
        at = following
    pairs.pop()  # the text ends without the line end that the split put after its last line
    return pairs, min(end, len(raw))
