"""The nodes of a chain: what each was given, and what the node half made of it, so that an unchanged one is skipped.

What a node comes to is `node`; this only remembers. Equal contributions are one value, whatever node they came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.chain.changes import Condition, NodeSet
from engine.chain.contribution import NodeContribution
from engine.chain.flavors import Tally, tally
from engine.chain.node import NodePlan, NodePlanner, NodeProgram


@dataclass(slots=True)
class _Known:
    given: NodeSet
    plan: NodePlan
    contribution: NodeContribution


@dataclass(frozen=True, slots=True)
class Moved:
    """One node's contribution before and after; None on a side where it was or is not there."""

    name: str
    before: NodeContribution | None
    after: NodeContribution | None


class Nodes:
    """All nodes by name."""

    def __init__(self, program: NodeProgram, settings: Mapping[str, Any]) -> None:
        self._program = program
        self._planner = NodePlanner(program, settings)
        self._known: dict[str, _Known] = {}
        self._contributions: dict[NodeContribution, NodeContribution] = {}
        self._uses: Tally[NodeContribution] = {}
        self._troubled: dict[str, tuple[Condition, ...]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._known))

    def turn(self, settings: Mapping[str, Any]) -> None:
        """The settings are others now; nodes come out anew as they are put again."""
        self._planner = NodePlanner(self._program, settings)

    def plan(self, name: str) -> NodePlan | None:
        """What the node half made of a node; None when it is not there."""
        known = self._known.get(name)
        return known.plan if known else None

    def given(self) -> list[NodeSet]:
        """Every node as it was given, by name."""
        return [self._known[name].given for name in self]

    def conditions(self) -> Iterable[Condition]:
        """The conditions of all nodes."""
        return (condition for conditions in self._troubled.values() for condition in conditions)

    def put(self, given: NodeSet, *, ask_again: bool) -> Moved | None:
        """A node with these facts; None when that is what it was already."""
        name = given.facts.name
        known = self._known.get(name)
        if known is not None and not ask_again and _is_same(known.given, given):
            return None
        plan = self._plan(given)
        contribution = self._contributions.setdefault(plan.contribution, plan.contribution)
        before = known.contribution if known else None
        tally(self._uses, contribution, 1)
        if before is not None:
            self._release(before)
        self._known[name] = _Known(given, plan, contribution)
        self._troubled.pop(name, None)
        if plan.conditions:
            self._troubled[name] = tuple(
                Condition("Node", name, each.reason, f"section {each.section}: {each.message}")
                for each in plan.conditions
            )
        return Moved(name, before, contribution)

    def drop(self, name: str) -> Moved | None:
        """The node is gone; None when it was not there."""
        known = self._known.pop(name, None)
        if known is None:
            return None
        self._troubled.pop(name, None)
        self._release(known.contribution)
        return Moved(name, known.contribution, None)

    def _plan(self, given: NodeSet) -> NodePlan:
        if given.cards is None:
            return self._planner.plan(given.facts, managed_label=given.managed_label)
        cards = given.cards
        return self._planner.plan(
            given.facts, managed_label=given.managed_label, ledger=cards.ledger, stated=cards.groups
        )

    def _release(self, contribution: NodeContribution) -> None:
        tally(self._uses, contribution, -1)
        if contribution not in self._uses:
            del self._contributions[contribution]


def _is_same(before: NodeSet, after: NodeSet) -> bool:
    if (before.managed_label, before.cards) != (after.managed_label, after.cards):
        return False
    return before.facts is after.facts or before.facts == after.facts
