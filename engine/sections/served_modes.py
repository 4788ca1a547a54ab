"""Which modes a pack can serve, as far as what it is compiled to says.

Of no interest to a node: it is what lint and golden tests of packs ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.lang import ir
from engine.lang.program import LinkedPack


def served_modes(pack: LinkedPack) -> Iterator[str]:
    """The modes a pack can serve, as far as its `features` rules say."""
    yield from ("exclusive", "shared", "visibility")
    features = pack.sections.get("features")
    emits = [rule.emit for rule in ir.leaves(features.rules)] if features is not None else []
    if any(_may_be(emit, "logicalSlices", but_not=0) for emit in emits):
        yield "sliced"
    if any(_may_be(emit, "partitions", but_not=False) for emit in emits):
        yield "partitioned"


def _may_be(emit: ir.Emit | None, name: str, *, but_not: Any) -> bool:
    """Whether an emit gives the field anything but that value."""
    entries = emit.entries if isinstance(emit, ir.Entries) else ()
    given = [entry.value for entry in entries if entry.key == name]
    return any(not (isinstance(one, ir.Constant) and one.value == but_not) for one in given)
