"""What of one plan is what of another: followed through the cards, since every name may differ.

A card keeps its UUID and a node its name. Through them groups, flavors, pools, queues and topologies of one plan lead to
those of the other; nothing is guessed from likeness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.chain.chain import Chain
from engine.chain.fields import FlavorKey
from engine.chain.node import NodePlan

Nodes = dict[str, None]
"""Node names in the order met: a set would have none."""


@dataclass(slots=True)
class Followed:
    """Where the things of one kind went. Shape: `to[old][new]` are the nodes that say so; `gone[old]` those that lost it."""

    to: dict[str, dict[str, Nodes]] = field(default_factory=dict)

    def note(self, old: str, new: Iterable[str], node: str) -> None:
        """A node that had `old` has `new` instead, which may be the same, or nothing."""
        found = self.to.setdefault(old, {})
        for name in new:
            found.setdefault(name, {})[node] = None

    def names(self, old: str) -> tuple[str, ...]:
        """Where `old` went, sorted."""
        return tuple(sorted(self.to.get(old, ())))


@dataclass(slots=True)
class Pairing:
    """Two plans of the same machines, and where each thing of the first is in the second.

    Shape: `keys[node]` maps the accelerator keys of the first plan to those of the second, where they differ.
    """

    old: Chain
    new: Chain
    flavors: Followed = field(default_factory=Followed)
    types: Followed = field(default_factory=Followed)
    topologies: Followed = field(default_factory=Followed)
    keys: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, old: Chain, new: Chain) -> Pairing:
        """Follow every node of both plans. Cost: one pass over nodes and cards, no rule is asked."""
        made = cls(old, new)
        made._follow_nodes()
        made._follow_types()
        return made

    def pairs(self) -> Iterable[tuple[NodePlan, NodePlan]]:
        """The plans of each node that both have, by name."""
        after = self.new.objects("Node")
        for before in self.old.nodes():
            plan = after.get(before.facts.name)
            if plan is not None:
                yield before, plan

    def _follow_nodes(self) -> None:
        old_names = {each.key: each.name for each in self.old.flavors()}
        new_names = {each.key: each.name for each in self.new.flavors()}
        for before, after in self.pairs():
            node = before.facts.name
            keys = _keys(before, after)
            changed = {old: new[0] for old, new in keys.items() if new and new != (old,)}
            if changed:
                self.keys[node] = changed
            old, new = _flavors(before, old_names), _flavors(after, new_names)
            for accelerator, name in old.items():
                wanted = keys.get(accelerator, ()) if accelerator else ("",)
                self.flavors.note(name, [new[key] for key in wanted if key in new], node)
            if before.contribution.profile is not None:
                profile = after.contribution.profile
                self.topologies.note(before.contribution.profile.name, [profile.name] if profile else (), node)

    def _follow_types(self) -> None:
        before, after = _types_by_flavor(self.old), _types_by_flavor(self.new)
        for flavor, found in self.flavors.to.items():
            for old in before.get(flavor, ()):
                for name, nodes in found.items():
                    for node in nodes:
                        self.types.note(old, after.get(name, ()), node)
                if not found:
                    self.types.note(old, (), "")


def _keys(before: NodePlan, after: NodePlan) -> dict[str, tuple[str, ...]]:
    """Keys of a node's groups with the keys that their cards have now."""
    if before.groups == after.groups:
        return {group.key: (group.key,) for group in before.groups}
    now = {card.uuid: group.key for group in after.groups for card in group.cards}
    return {
        group.key: tuple(sorted({now[card.uuid] for card in group.cards if card.uuid in now}))
        for group in before.groups
    }


def _flavors(plan: NodePlan, names: Mapping[FlavorKey, str]) -> dict[str, str]:
    """The names of the flavors that a node feeds, by accelerator key; `""` for that of its CPU."""
    node = plan.contribution
    if node.profile is None:
        return {}
    made: dict[str, str] = {}
    for share in node.shares:
        accelerator = share.accelerator or ""
        key = FlavorKey(node.cpu.key, accelerator, node.os, node.arch, share.count, node.profile.profile)
        name = names.get(key)
        if name is not None:
            made[accelerator] = name
    return made


def _types_by_flavor(chain: Chain) -> dict[str, list[str]]:
    """The derived types that each flavor feeds."""
    derived = {each.name for each in chain.types() if each.derived}
    made: dict[str, list[str]] = {}
    for queue in chain.queues():
        if queue.name in derived:
            for flavor in dict.fromkeys(quota.flavor for quota in queue.state.groups):
                made.setdefault(flavor, []).append(queue.name)
    return made
