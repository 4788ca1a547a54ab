"""The expressions of packs by the node they are written in: which stand below a node, which in a file.

Parses nothing: the linker has.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from engine.lang.ast import Node
from engine.lang.expressions import Expressions
from engine.lang.source import Span
from engine.lang.tree import Map, Scalar, Seq
from engine.lang.tree import Node as TreeNode


class Texts(Struct, frozen=True):
    """Expressions of some files, each file's in the order in which they stand in it."""

    starts: dict[str, list[int]]
    parsed: dict[str, list[Node]]

    @classmethod
    def of(cls, expressions: Iterable[Expressions]) -> Texts:
        """All expressions that were seen while linking."""
        found: dict[str, dict[int, Node]] = {}
        for one in expressions:
            for _, node, place in one.texts:
                found.setdefault(place.source.path, {})[place.span.start] = node
        ordered = {path: sorted(nodes.items()) for path, nodes in found.items()}
        return cls(
            {path: [start for start, _ in nodes] for path, nodes in ordered.items()},
            {path: [node for _, node in nodes] for path, nodes in ordered.items()},
        )

    def only(self, paths: Collection[str]) -> Texts:
        """Those of some files."""
        return Texts(
            {path: starts for path, starts in self.starts.items() if path in paths},
            {path: nodes for path, nodes in self.parsed.items() if path in paths},
        )

    def nodes(self) -> Iterator[Node]:
        """All of them."""
        for nodes in self.parsed.values():
            yield from nodes

    def below(self, node: TreeNode) -> Iterator[Node]:
        """Those written in a node or below it, keys included; an overlay's parts of it are found in its own file."""
        match node:
            case Scalar():
                yield from self._within(node.source.path, node.span)
            case Seq(items):
                for item in items:
                    yield from self.below(item)
            case Map(entries):
                for entry in entries:
                    yield from self._within(entry.key.source.path, entry.key.span)
                    yield from self.below(entry.value)

    def _within(self, path: str, span: Span) -> Iterator[Node]:
        starts = self.starts.get(path)
        if starts is not None:
            yield from self.parsed[path][bisect_left(starts, span.start) : bisect_right(starts, span.end)]
