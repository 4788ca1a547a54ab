"""What other rules would call otherwise in the live cluster: every Node is asked twice, by the rules in force and by the others.

Only names. A Node's labels were made by the rules in force, so the others are asked about it as it would be labelled by them.
Nothing here waits or looks into a cache: a moment of the cluster is copied first, and may then be planned in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.chain.conditions import Findings
from engine.chain.fields import FlavorKey
from engine.delivery.lost import lost_by_node
from engine.delivery.verdict import Lost
from engine.domain.facts import CardFacts
from engine.domain.inventory import Group
from engine.errors import ContractError, EngineError
from engine.features.hostfacts import HostFacts
from engine.features.rules import HostRules
from engine.lang.program import Program
from engine.sections.answer import Answer
from engine.sections.entrance import queue_entrance
from engine.sections.group import group_key
from engine.sections.model import Model, identify_model
from engine.sections.resources import resource_names
from engine.worker.asking import NodeAsker, SeenNode
from engine.worker.fleet import Fleet
from engine.worker.settings import SettingsReader

KINDS: Final = ("Resource", "AcceleratorKey", "ResourceFlavor", "InstanceType", "LocalQueue", "Topology")
"""Kinds of names, in the order in which they are told. Source: the words of `engine diff`."""

_MANAGED: Final = "true"

Labels = Mapping[str, str]
Names = dict[str, dict[str, set[str]]]
"""Names by kind, and by what has them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The cluster as it is at one moment. Shape: `stored` is the data of the Secret of settings, None without one."""

    nodes: tuple[SeenNode, ...]
    stored: Labels | None
    environment: Labels

    @classmethod
    def of(cls, fleet: Fleet, stored: Labels | None, environment: Labels) -> Moment:
        """Copies. Cost: the Nodes are values and are not copied themselves."""
        nodes = (fleet.node(name) for name in fleet.nodes())
        return cls(tuple(node for node in nodes if node is not None), dict(stored or {}) or None, environment)

    def lost(self, old: Program, new: Program) -> tuple[Lost, ...]:
        """The names that Nodes have by the first program and would not have by the second.

        Raises: EngineError: the worker could not run with the second program. Cost: some milliseconds a Node, in a thread.
        """
        # A program's evaluators are made when they are first asked: the one in force goes on being asked on the loop.
        before = _Planned(Program(old.packs, vocabulary=old.vocabulary), self)
        after = _Planned(new, self)
        for node in self.nodes:
            before.put(node)
            after.put(relabelled(node, before, after))
        were, would_be = before.names(), after.names()
        return tuple(lost for kind in KINDS for lost in lost_by_node(kind, were[kind], would_be[kind]))


def fits(program: Program, environment: Labels) -> None:
    """Whether the worker's code can run with a program. Raises: EngineError: it cannot."""
    _Planned(program, Moment((), None, environment))


class _Planned:
    """A program with the cluster's settings, and the Nodes as it has them."""

    def __init__(self, program: Program, moment: Moment) -> None:
        self.program = program
        self._entrances: dict[str, set[str]] = {}
        self._named: dict[str, dict[str, str]] = {}
        try:
            reader = SettingsReader(program.block("settings"), moment.environment)
            HostRules(program)
            self.fleet = Fleet(program, reader.read(moment.stored, reader.first()).values)
        except EngineError:
            raise
        except Exception as error:
            raise ContractError(
                "the worker cannot run with these packs",
                why=f"{type(error).__name__}: {error}",
                remedy="deliver the derivation packs that were shipped with this Engine",
            ) from error

    @property
    def asker(self) -> NodeAsker:
        return self.fleet.asker

    def put(self, node: SeenNode) -> None:
        self.fleet.put(node)

    def names(self) -> Names:
        """What the Nodes have: flavors and what is named after them, topologies, keys and resources of managed Nodes.

        Shape: by what has the name, so that of two names on one Node each is followed by itself: a Node's cards of one
        key go by the first of them, its CPU and its topology by the Node, a maker's resources by what each is for.
        """
        made: Names = {kind: {} for kind in KINDS}
        flavors = {entry.fields.key: entry for entry in map(self.fleet.entry, self.fleet.flavor_names()) if entry}
        for name in self.fleet.nodes():
            node = self.fleet.node(name)
            assert node is not None
            owners = {group.key: f"{name}/{group.cards[0].uuid}" for group in _groups(node)}
            for key in self._flavor_keys(node):
                entry, owner = flavors.get(key), owners.get(key.accelerator, f"{name}/{key.accelerator}")
                if entry is not None:
                    made["ResourceFlavor"][owner] = {entry.fields.name}
                    made["InstanceType"][owner] = {entry.pool.name}
                    made["LocalQueue"][owner] = self._entrance(entry.pool.name)
            made["Topology"][name] = {self.fleet.topology_of(name)} - {""}
            if node.labels.get(self.asker.keys.managed) == _MANAGED:
                made["AcceleratorKey"] |= {owner: {key} for key, owner in owners.items()}
                for maker in {group.manufacturer for group in _groups(node)}:
                    made["Resource"] |= {owner: {each} for owner, each in self._resources(maker).items()}
        return made

    def _flavor_keys(self, node: SeenNode) -> Iterator[FlavorKey]:
        added = self.asker.added(node).contribution
        if added.profile is None:
            return
        for share in added.shares:
            yield FlavorKey(
                added.cpu.key, share.accelerator or "", added.os, added.arch, share.count, added.profile.profile
            )

    def _entrance(self, pool: str) -> set[str]:
        if pool not in self._entrances:
            entrance = queue_entrance(self.program, pool).value
            self._entrances[pool] = {entrance.name} if entrance else set()
        return self._entrances[pool]

    def _resources(self, maker: str) -> dict[str, str]:
        if maker not in self._named:
            names = resource_names(self.program, maker).value if maker in self.program.makers else None
            inputs = names.inputs() if names is not None else {"transformations": ()}
            del inputs["transformations"]
            self._named[maker] = dict(_leaves(maker, inputs))
        return self._named[maker]


def _groups(node: SeenNode) -> tuple[Group, ...]:
    return node.cards.groups if node.cards else ()


def relabelled(node: SeenNode, before: _Planned, after: _Planned) -> SeenNode:
    """A Node as it would be labelled, and its cards called, by other rules.

    Shape: of its labels those are replaced that the rules in force give it, one maker's cards, the topology and the worker's
    each as a whole; what the Node does not carry as they say was made from facts that are not known here, and stays.
    """
    groups = _groups(node)
    called = tuple(made for group in groups if (made := _recalled(group, node, before.program, after.program)))
    labels = dict(node.labels)
    for old, new in (
        (_card_labels(before, groups), _card_labels(after, called)),
        (_profile_labels(before, node), _profile_labels(after, node)),
        (_worker_labels(before, node), _worker_labels(after, node)),
    ):
        if old is not None and new is not None and old != new and old.items() <= node.labels.items():
            labels = {key: text for key, text in labels.items() if key not in old} | dict(new)
    cards = replace(node.cards, groups=called) if node.cards and called != groups else node.cards
    return node if labels == node.labels and cards is node.cards else replace(node, labels=labels, cards=cards)


def _recalled(group: Group, node: SeenNode, before: Program, after: Program) -> Group | None:
    """The group under other rules; None when they would leave its cards out.

    `Devices` state a product, which rules have made from what the driver said. Where the rules in force make the same of it
    again, the others are asked about it too; otherwise, and where they could not tell, the product is taken as it is.
    """
    maker = group.manufacturer
    if maker not in after.makers:
        return None
    product = group.product
    if maker in before.makers and _key(before, group, _model(before, group, node).value) == group.key:
        model = _model(after, group, node)
        if model.told and (model.value is None or model.value.exclude):
            return None
        product = model.value.product if model.value else product
    named = group_key(after, maker, product, group.memory_mib).value
    return (
        group
        if named is None or named.key == group.key
        else replace(group, id=named.id, key=named.key, product=product)
    )


def _model(program: Program, group: Group, node: SeenNode) -> Answer[Model]:
    card = group.cards[0]
    facts = CardFacts(
        uuid=card.uuid,
        driver_index=card.driver_index,
        name=group.product,
        memory_mib=group.memory_mib,
        cores=group.cores,
        compute_capability=group.compute_capability,
    )
    cpu = node.host_cpu.name if node.host_cpu else None
    return identify_model(program, group.manufacturer, facts, arch=node.arch, cpu_name=cpu)


def _key(program: Program, group: Group, model: Model | None) -> str:
    if model is None or model.exclude:
        return ""
    named = group_key(program, group.manufacturer, model.product, group.memory_mib).value
    return named.key if named else ""


def _card_labels(by: _Planned, groups: tuple[Group, ...]) -> Labels | None:
    found = Findings()
    labels = by.asker.ask.device(tuple(sorted(groups, key=lambda group: group.key)), found)
    return None if found.listed() else labels


def _profile_labels(by: _Planned, node: SeenNode) -> Labels | None:
    profile = by.asker.profile(node)
    return None if profile is None else dict(profile.node_labels)


def _worker_labels(by: _Planned, node: SeenNode) -> Labels | None:
    keys = by.asker.keys
    host = HostFacts(node.host_cpu)
    accelerated = node.labels.get(keys.is_acceleratable) == "true"
    return by.asker.worker_labels(node, host, managed=node.labels.get(keys.managed), accelerated=accelerated)


def _leaves(at: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _leaves(f"{at}.{key}", below)
    elif isinstance(value, str):
        yield at, value
