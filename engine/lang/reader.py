"""The only way YAML enters: bytes in, node trees with byte spans and diagnostics out.

Refuses whatever two YAML readers may take differently, and everything that hides structure (anchors, tags). Does not
know what a document is about; `model` and `structure` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# The C parser, and no other: without the extension this import fails, where a pure parser would be ten times slower
# and read some texts differently (`{a?: 1}`).
from _ruamel_yaml import CParser
from msgspec import Struct
from ruamel.yaml import events
from ruamel.yaml.error import YAMLError

from engine.lang.complaint import Complaint
from engine.lang.cut import has_open_template
from engine.lang.diagnostics import Diagnostics
from engine.lang.faults import Faults, TooMany
from engine.lang.limits import MAX_PACK_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES
from engine.lang.scalars import read_plain
from engine.lang.source import Source, Span
from engine.lang.text import Text, decode
from engine.lang.tree import Entry, Map, Node, Scalar, Seq, Style

if TYPE_CHECKING:
    from collections.abc import Callable

_STYLES = {
    "": Style.PLAIN,
    None: Style.PLAIN,
    "'": Style.SINGLE,
    '"': Style.DOUBLE,
    "|": Style.LITERAL,
    ">": Style.FOLDED,
}


class Limits(Struct, frozen=True):
    """How much one file may hold."""

    max_bytes: int = MAX_PACK_BYTES
    max_depth: int = MAX_YAML_DEPTH
    max_nodes: int = MAX_YAML_NODES


DEFAULT_LIMITS = Limits()


class Document(Struct, frozen=True):
    """One document of a file."""

    root: Node
    source: Source


def read(source: Source, *, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Document], Diagnostics]:
    """The documents of a file and everything that is wrong with it as YAML.

    Shape: a document is given as soon as its tree could be built, errors in it or not; where a value was refused the
    tree holds what was written. Use nothing of a file whose diagnostics have errors, except to find more of them.
    """
    diagnostics = Diagnostics()
    if len(source.data) > limits.max_bytes:
        diagnostics.error(
            "RP003",
            f"the file is larger than {limits.max_bytes} bytes",
            path=source.path,
            help="split it: a pack may be a directory of files",
        )
        return [], diagnostics
    text = decode(source, diagnostics)
    if text is None:
        return [], diagnostics
    return _Builder(text, limits, diagnostics).documents(), diagnostics


class _Frame:
    """A list or map that is being read."""

    __slots__ = ("at", "entries", "in_flow", "is_map", "items", "key", "keys")

    def __init__(self, at: int, *, is_map: bool, in_flow: bool) -> None:
        self.at = at
        self.is_map = is_map
        self.in_flow = in_flow
        self.items: list[Node] = []
        self.entries: list[Entry] = []
        self.keys: dict[str, Scalar] = {}
        self.key: Node | None = None  # read, and waiting for its value


class _Builder:
    """Builds trees from the parser's events, without recursion: nesting is a stack, and bounded."""

    def __init__(self, text: Text, limits: Limits, diagnostics: Diagnostics) -> None:
        self._text = text
        self._source = text.source
        self._limits = limits
        self._faults = Faults(text, diagnostics)
        self._byte: Callable[[int], int] = text.byte_of()
        self._stack: list[_Frame] = []
        self._root: Node | None = None
        self._documents: list[Document] = []
        self._nodes = 0
        self._last_end = 0
        self._last_scalar: tuple[int, int] | None = None
        self._opaque: list[tuple[int, int]] = []  # quoted and block scalars: tabs in them are content
        self._clean: dict[str, str | int | bool | None] = {}  # plain texts that nobody objects to, and what they mean

    def documents(self) -> list[Document]:
        try:
            self._consume(CParser(self._text.characters))
        except TooMany:
            pass
        except YAMLError as failure:
            self._fail(failure)
        self._faults.finish(self._last_end, self._opaque)
        return self._documents

    def _consume(self, parser: Any) -> None:
        handlers = {
            events.ScalarEvent: self._scalar,
            events.MappingStartEvent: self._open,
            events.MappingEndEvent: self._close,
            events.SequenceStartEvent: self._open,
            events.SequenceEndEvent: self._close,
            events.AliasEvent: self._alias,
            events.DocumentStartEvent: self._start_document,
            events.DocumentEndEvent: self._end_document,
        }
        found_document = False
        next_event = parser.get_event
        while (event := next_event()) is not None:
            if handle := handlers.get(event.__class__):
                handle(event)
                found_document = True
        if not found_document:
            self._faults.empty_document(0)

    def _start_document(self, event: Any) -> None:
        self._root = None
        if event.version or event.tags:
            self._faults.directive(event.start_mark.index, event.end_mark.index)

    def _end_document(self, event: Any) -> None:
        if self._root is None or _is_empty(self._root):
            self._faults.empty_document(event.start_mark.index)
        else:
            self._documents.append(Document(self._root, self._source))

    def _scalar(self, event: Any) -> None:
        # Three nodes of four are scalars: `_count`, and `_attach` where a key is read, are written out here.
        start, end = event.start_mark.index, event.end_mark.index
        self._last_end = end
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            self._faults.too_many_nodes(start, self._limits.max_nodes)
        style = _STYLES[event.style]
        text: str = event.value
        value: str | int | bool | None = text
        if event.tag is not None or event.anchor is not None:
            self._faults.reference(start, in_flow=self._in_flow())
            text = value = text or self._text.characters[start:end]  # or it would be an empty value as well
        elif style is not Style.PLAIN:
            self._opaque.append((start, end))
        elif text:
            self._last_scalar = (start, end)
            value = self._clean[text] if text in self._clean else self._plain(text, start, end)
        else:
            value = None
        byte = self._byte
        node = Scalar(value, text, style, Span(byte(start), byte(end)), self._source)
        if self._stack and (frame := self._stack[-1]).is_map and frame.key is None:
            frame.key = node
        else:
            self._attach(node)

    def _open(self, event: Any) -> None:
        start, _ = self._count(event)
        if event.tag is not None or event.anchor is not None:
            self._faults.reference(start, in_flow=self._in_flow())
        if len(self._stack) >= self._limits.max_depth:
            self._faults.too_deep(start, self._limits.max_depth)
        is_map = event.__class__ is events.MappingStartEvent
        self._stack.append(_Frame(start, is_map=is_map, in_flow=bool(event.flow_style)))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        start = self._byte(frame.at)
        self._last_end = event.end_mark.index
        if frame.in_flow:
            end = self._byte(event.end_mark.index)
        else:
            # The parser ends a block collection where the next token starts; its last child is the truth.
            last = frame.entries[-1].value if frame.entries else frame.items[-1] if frame.items else None
            end = max(last.span.end, start) if last else start
        span = Span(start, end)
        if frame.is_map:
            self._attach(Map(tuple(frame.entries), span, self._source))
        else:
            self._attach(Seq(tuple(frame.items), span, self._source))

    def _alias(self, event: Any) -> None:
        start, end = self._count(event)
        self._faults.reference(start, in_flow=self._in_flow())
        written = self._text.characters[start:end]
        self._attach(Scalar(written, written, Style.PLAIN, self._text.span(start, end), self._source))

    def _fail(self, failure: Any) -> None:
        mark, context_mark = getattr(failure, "problem_mark", None), getattr(failure, "context_mark", None)
        complaint = Complaint(
            problem=str(getattr(failure, "problem", failure)),
            at=mark.index if mark else self._last_end,
            context=str(getattr(failure, "context", None) or ""),
            context_at=context_mark.index if context_mark else None,
            last_scalar=self._last_scalar,
            last_end=self._last_end,
            in_flow=self._in_flow(),
        )
        self._faults.failure(complaint)

    def _count(self, event: Any) -> tuple[int, int]:
        """Note one more node; the characters it spans."""
        start, self._last_end = event.start_mark.index, event.end_mark.index
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            self._faults.too_many_nodes(start, self._limits.max_nodes)
        return start, self._last_end

    def _plain(self, text: str, start: int, end: int) -> str | int | bool | None:
        reading = read_plain(text)
        if reading.objection is None and not ("$(" in text and has_open_template(text)):
            self._clean[text] = reading.value
            return reading.value
        if self._faults.is_fragment(self._byte(start)):
            return reading.value
        if reading.objection:
            self._faults.ambiguous(text, reading.objection, start, end, is_key=self._expects_key())
        else:
            self._faults.cut_template(start, end, in_flow=self._in_flow(), is_key=self._expects_key())
        return reading.value

    def _attach(self, node: Node) -> None:
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        if frame.is_map:
            if frame.key is None:
                frame.key = node
            else:
                key, frame.key = frame.key, None
                self._enter(frame, key, node)
        elif not (self._faults.has_cut and self._faults.is_fragment(node.span.start)):
            if _is_empty(node):
                self._faults.empty_item(node)
            frame.items.append(node)

    def _enter(self, frame: _Frame, key: Node, value: Node) -> None:
        if self._faults.has_cut and self._faults.is_fragment(key.span.start):
            return
        if not isinstance(key, Scalar):
            self._faults.error("RP203", "a key must be a text, not a list or map", key.place, "quote it")
            return
        if key.style is Style.PLAIN and not isinstance(key.value, str):
            self._faults.key_type(key)
        first = frame.keys.setdefault(key.text, key)
        if first is not key:
            self._faults.duplicate_key(first, key)
            return
        if _is_empty(value) and not self._faults.is_fragment(value.span.start):
            before = frame.entries[-1].value if frame.entries else None
            self._faults.empty_value(key, value, before, in_flow=frame.in_flow)
        frame.entries.append(Entry(key, value))

    def _in_flow(self) -> bool:
        return bool(self._stack) and self._stack[-1].in_flow

    def _expects_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_map and self._stack[-1].key is None


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and not node.text and node.style is Style.PLAIN
