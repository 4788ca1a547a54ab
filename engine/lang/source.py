"""Where a piece of text came from: files as bytes, spans as byte offsets, positions for people.

Does no I/O: callers read files and hand over the bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from msgspec import Struct


class Span(Struct, frozen=True, order=True):
    """A half-open range of byte offsets into one `Source`."""

    start: int
    end: int


class Position(Struct, frozen=True):
    """Line and column as an editor counts them: both from 1, columns in characters."""

    line: int
    column: int


class Source(Struct, frozen=True, dict=True):
    """One file (or one ConfigMap entry, or standard input) as it was read.

    Shape: `path` is what messages print; `data` the raw bytes, byte-order mark and CRLF included.
    """

    path: str
    data: bytes

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        starts = [0]
        find = self.data.find
        at = find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = find(b"\n", at + 1)
        return tuple(starts)

    def position(self, offset: int) -> Position:
        """Position of a byte offset; past the end it is the last position."""
        offset = max(0, min(offset, len(self.data)))
        line = bisect_right(self._line_starts, offset)
        before = self.data[self._line_starts[line - 1] : offset]
        return Position(line, len(before.decode("utf-8", "replace")) + 1)

    def line_text(self, line: int) -> str:
        """Text of a line (from 1) without its line end."""
        start = self._line_starts[line - 1]
        end = self._line_starts[line] if line < len(self._line_starts) else len(self.data)
        return self.data[start:end].decode("utf-8", "replace").rstrip("\r\n")


class Place(Struct, frozen=True):
    """A span of one source: what a diagnostic points at."""

    source: Source
    span: Span

    def __str__(self) -> str:
        at = self.source.position(self.span.start)
        return f"{self.source.path}:{at.line}:{at.column}"
