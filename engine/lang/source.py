"""Where a piece of text came from: files as bytes, spans as byte offsets, positions for people.

Does no I/O: callers read files and hand over the bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of byte offsets into one `Source`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column as an editor counts them: both from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """One file (or one ConfigMap entry, or standard input) as it was read.

    Shape: `path` is what messages print; `data` the raw bytes, byte-order mark and CRLF included.
    """

    path: str
    data: bytes
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        find = self.data.find
        at = find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = find(b"\n", at + 1)
        object.__setattr__(self, "_line_starts", tuple(starts))

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


@dataclass(frozen=True, slots=True)
class Place:
    """A span of one source: what a diagnostic points at."""

    source: Source
    span: Span

    def __str__(self) -> str:
        at = self.source.position(self.span.start)
        return f"{self.source.path}:{at.line}:{at.column}"
