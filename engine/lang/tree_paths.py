"""Where the path of a model leads in the tree that it was made from: the node, its key, the place that stands for it.

The steps are keys as written and list positions; steps that choose between models are passed over. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from engine.lang.model_choices import is_tag
from engine.lang.source import Place
from engine.lang.tree import Map, Node, Seq


def follow(root: Map, path: Iterable[Hashable]) -> Node:
    """The deepest node on a model's path: choices, and steps the file leaves out (a bare list), are passed over."""
    here: Node = root
    for step in path:
        if isinstance(here, Map) and isinstance(step, str) and (child := here.get(step)) is not None:
            here = child
        elif isinstance(here, Seq) and isinstance(step, int) and step < len(here.items):
            here = here.items[step]
    return here


def key_place(root: Map, path: Sequence[Hashable]) -> Place:
    """Where the key at the end of a path stands; the node itself when it has none (a list item)."""
    steps = [step for step in path if not is_tag(step) and step != "[key]"]
    for length in range(len(steps), 0, -1):
        parent, last = follow(root, steps[: length - 1]), steps[length - 1]
        if isinstance(parent, Map) and (entry := parent.entry(str(last))):
            return entry.key.place
        if isinstance(parent, Seq) and isinstance(last, int) and last < len(parent.items):
            return head(parent.items[last])
    return head(root)


def head(node: Node) -> Place:
    """The place that stands for a node: a scalar itself, the first key of a map; never half a file."""
    if isinstance(node, Map) and node.entries:
        return node.entries[0].key.place
    if isinstance(node, Seq) and node.items:
        return head(node.items[0])
    return node.place
