"""A source's bytes as text: decoding, the byte-order mark, and the way back from characters to bytes.

Knows nothing of YAML.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from msgspec import Struct

from engine.lang.diagnostics import Diagnostics, Edit, Fix
from engine.lang.source import Place, Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = b"\xef\xbb\xbf"
_MULTIBYTE = re.compile(r"[^\x00-\x7f]")
# What YAML 1.2 §5.1 does not call printable.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]|[\ud800-\udfff]|[\ufeff\ufffe\uffff]")
_MOST_REPORTED = 20  # ours: a binary file has thousands of them, and one is enough to know


class Text(Struct, frozen=True):
    """The characters of a source, its leading byte-order mark left out."""

    source: Source
    characters: str
    _skipped: int = 0
    _wide: list[int] = []
    _extra: list[int] = []

    def byte(self, index: int) -> int:
        """Byte offset of the character at an index."""
        before = bisect_left(self._wide, index)
        return self._skipped + index + (self._extra[before - 1] if before else 0)

    def span(self, start: int, end: int) -> Span:
        """Byte span of the characters `start` to `end`."""
        return Span(self.byte(start), self.byte(end))

    def place(self, start: int, end: int) -> Place:
        """Place of the characters `start` to `end`."""
        return Place(self.source, self.span(start, end))

    def character(self, byte: int) -> int:
        """Index of the character at a byte offset."""
        return len(self.source.data[self._skipped : byte].decode("utf-8", "replace"))

    def byte_of(self) -> Callable[[int], int]:
        """`byte` as a plain function, the quickest there is for this text."""
        if self._wide:
            return self.byte
        skipped = self._skipped
        return (lambda index: index + skipped) if skipped else int


def decode(source: Source, diagnostics: Diagnostics) -> Text | None:
    """The text of a source; None, and a diagnostic, when it is not text."""
    data = source.data
    skipped = len(_MARK) if data.startswith(_MARK) else 0
    try:
        characters = data[skipped:].decode("utf-8")
    except UnicodeDecodeError as failure:
        at = skipped + failure.start
        wide = "; it looks like UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        diagnostics.error(
            "RP004",
            f"byte 0x{data[at]:02x} at offset {at} is not UTF-8{wide}",
            Place(source, Span(at, at + 1)),
            help="save the file as UTF-8",
        )
        return None
    if skipped:
        span = Span(0, skipped)
        diagnostics.warning(
            "RP101",
            "the file starts with a byte-order mark",
            Place(source, span),
            help="save it as UTF-8 without a mark",
            fix=Fix((Edit(span, ""),)),
        )
    text = _text(source, characters, skipped)
    return None if _has_control_characters(text, diagnostics) else text


def _text(source: Source, characters: str, skipped: int) -> Text:
    if characters.isascii():
        return Text(source, characters, skipped)
    wide: list[int] = []
    extra: list[int] = []
    total = 0
    for found in _MULTIBYTE.finditer(characters):
        total += len(found.group().encode()) - 1
        wide.append(found.start())
        extra.append(total)
    return Text(source, characters, skipped, wide, extra)


def _has_control_characters(text: Text, diagnostics: Diagnostics) -> bool:
    found = False
    for number, match in enumerate(_CONTROL.finditer(text.characters)):
        found = True
        if number == _MOST_REPORTED:
            break
        place = text.place(match.start(), match.end())
        if match.group() == "\ufeff":
            diagnostics.error(
                "RP101",
                "a byte-order mark stands inside the file",
                place,
                help="remove it; it is invisible in most editors",
                fix=Fix((Edit(place.span, ""),)),
            )
        else:
            what = "a NUL byte" if match.group() == "\0" else f"the control character U+{ord(match.group()):04X}"
            diagnostics.error("RP004", f"{what} stands in the file: not a text file", place, help="remove it")
            if match.group() == "\0":
                break
    return found
