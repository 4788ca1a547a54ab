"""Managed names that other rules would give otherwise, or not at all: what holds a delivery.

Two ways to see it: machines planned from their facts, and what a live cluster's own bookkeeping says of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from engine.chain.plan import plan
from engine.delivery.verdict import Lost, Snapshot
from engine.diff.compare import compare
from engine.diff.pairing import Pairing
from engine.lang.program import Program

Replan: TypeAlias = Callable[[Program, Program], tuple[Lost, ...]]
"""Asks whoever knows the live cluster what a second program would rename. Pure, and may raise EngineError."""


def lost_names(old: Program, new: Program, cluster: Snapshot | Replan) -> tuple[Lost, ...]:
    """What another program would call otherwise. Shape: renamings first, then what is gone; by kind and name.

    Raises: EngineError: one of the two cannot plan the cluster.
    """
    if old.digest == new.digest:
        return ()
    if not isinstance(cluster, Snapshot):
        return cluster(old, new)
    before, after = (plan(cluster.changes, one, cluster.settings, namespaces=cluster.namespaces) for one in (old, new))
    found = compare(Pairing.of(before, after))
    renamed = [Lost(one.kind, one.old, one.new) for one in found.renamed]
    return (*renamed, *(Lost(one.kind, one.name) for one in found.gone))


def lost_by_node(
    kind: str, before: Mapping[str, Collection[str]], after: Mapping[str, Collection[str]]
) -> tuple[Lost, ...]:
    """Names that nodes had and would not have, sorted; a name that another node keeps is lost all the same.

    Shape: both are the names of one kind by node, or by a part of a node. What takes a name's place is what the same nodes
    have instead; with several lost on one node that is all of them.
    """
    moved: dict[str, set[str]] = {}
    for node, names in before.items():
        now = set(after.get(node, ()))
        for name in set(names) - now:
            moved.setdefault(name, set()).update(now - set(names))
    return tuple(Lost(kind, old, tuple(sorted(new))) for old, new in sorted(moved.items()))
