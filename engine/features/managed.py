"""The management switch, three-way: what was last written, what the Node says, what the worker's object asks for.

Whoever changed alone wins, and the other side follows; when both changed, the object wins. Source: specification 50 B10.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Managed:
    """The switch after the change.

    Shape: `value` is the Node's label, None for none; `asked` is what the worker's object should ask for; `base` is what
    is remembered as last written.
    """

    value: str | None
    asked: str | None
    base: str | None


def three_way(base: str | None, node: str | None, asked: str | None, unlabelled: str | None) -> Managed:
    """Who changed the switch, and what it is now. `unlabelled` is what a Node without the label gets."""
    if node == base or asked != base:
        return Managed(asked, asked, asked)
    if node is not None:
        return Managed(node, node, node)
    # The label was taken off: that asks for what an unlabelled Node gets.
    return Managed(unlabelled, unlabelled, unlabelled)
