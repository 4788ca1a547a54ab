"""What slices and partitions come to in a Node's capacity, beside the tokens that device plugins publish there.

A family is counted only while its own tokens are in the capacity; by what arithmetic, and under which names, is the rules'.
The tokens themselves are never written, and what is allocatable is the kubelet's: it follows the capacity.

The write is guarded by the resourceVersion. It follows from tokens in the same status: a kubelet that has just taken them
away must win. The guard costs little, because a kubelet's heartbeat is a Lease; it writes an unchanged status once in five
minutes, and a race that is lost is planned anew from what it wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engine.chain.conditions import Condition, Findings
from engine.chain.node_capacity import MakerCount, count_maker
from engine.cluster.actions import Action, MergePatch
from engine.cluster.objects import Node
from engine.cluster.resources import NODES, key_of
from engine.domain.inventory import Group
from engine.errors import EvaluationError
from engine.sections.resources import PartitionedNames, ResourceNames, SlicedNames
from engine.values.names import is_qualified_name
from engine.values.quantities import canonical, parse_quantity
from engine.worker.asking import NodeAsker
from engine.worker.cards import NodeCards

MANAGER: Final = "engine-node-capacity"
_SECTION: Final = "capacity"


@dataclass(frozen=True, slots=True)
class CapacityNeighbourhood:
    """One Node and its cards.

    Shape: `cards` is None while no `Devices` object states any; not `is_told` while there is one that cannot be read.
    """

    node: Node
    cards: NodeCards | None = None
    is_told: bool = True


@dataclass(frozen=True, slots=True)
class Counted:
    """What a Node's capacity should say. Shape: None takes a name away; a name that is not here is left as it is."""

    amounts: dict[str, int | None]
    conditions: tuple[Condition, ...]


def plan(seen: CapacityNeighbourhood, asker: NodeAsker, counted: Counted | None = None) -> list[Action]:
    """What one Node's capacity needs now. Shape: `counted` is what `count` says of it, where that is known already."""
    node = seen.node
    if node.metadata.deletion_timestamp or not seen.is_told:
        return []
    now = node.status.capacity
    amounts = {
        name: None if amount is None else canonical(amount)
        for name, amount in sorted((counted or count(seen, asker)).amounts.items())
        if not _is(now.get(name), amount)
    }
    if not amounts:
        return []
    patch = {"status": {"capacity": amounts}}
    return [MergePatch(NODES, key_of(node), patch, MANAGER, node.metadata.resource_version, subresource="status")]


def count(seen: CapacityNeighbourhood, asker: NodeAsker) -> Counted:
    """What the cards of a managed Node come to; nothing where they have no label on the Node, or it is not managed."""
    found, quiet = Findings(), Findings()
    labels, prefix = seen.node.metadata.labels, asker.keys.acceleratable
    is_managed = labels.get(asker.keys.managed) == "true"
    stated = seen.cards.groups if is_managed and seen.cards is not None else ()
    for group in stated:
        if group.manufacturer not in asker.makers:
            found.add(
                _SECTION,
                "NoPack",
                f"{group.count} cards of {group.manufacturer} count for nothing: no pack of that name is in force; "
                "add the pack, or take the cards out of the object",
            )
    amounts: dict[str, int | None] = {}
    for maker in sorted(asker.makers):
        of_maker = [each for each in stated if each.manufacturer == maker and labels.get(prefix + each.key) == "true"]
        names = asker.ask.names(maker, found if of_maker else quiet)
        if names is not None:
            amounts |= _of_maker(seen, asker, maker, names, of_maker, found)
    return Counted(amounts, found.listed())


def _of_maker(
    seen: CapacityNeighbourhood,
    asker: NodeAsker,
    maker: str,
    names: ResourceNames,
    groups: list[Group],
    found: Findings,
) -> dict[str, int | None]:
    wanted: dict[str, int | None] = dict.fromkeys(_ours(names, seen.node.status.capacity))
    if not groups or seen.cards is None:
        return wanted
    counted = count_maker(groups, _memory_labels(seen.node, asker, groups, found), seen.cards.ledger)
    told = Findings()
    amounts = asker.ask.counted(maker, names, _advertised(counted, names, seen.node), told)
    for each in told.listed():
        stays = "what is counted stays as it is until the counts of the cards and their memory label are right"
        found.add(each.section, each.reason, f"{each.message}; {stays}")
    if told.listed():
        # Could not tell is not none. A sum that is more than rules can hold is such a case too.
        return {}
    ours = _ours(names, amounts)
    for name, amount in amounts.items():
        refusal = _refusal(name, amount, is_ours=name in ours)
        if refusal:
            found.add(_SECTION, "NotWritten", f"{name} of {maker}: {refusal}")
            wanted.pop(name, None)
        else:
            wanted[name] = amount
    return wanted


def _memory_labels(node: Node, asker: NodeAsker, groups: Iterable[Group], found: Findings) -> dict[str, str]:
    """Shape: only labels that are quantities; what cannot be counted without one is told."""
    labels: dict[str, str] = {}
    for group in groups:
        key = f"{asker.keys.acceleratable}{group.key}{asker.constants.memory}"
        text = node.metadata.labels.get(key)
        if text is not None and _number(text) is not None:
            labels[group.key] = text
        elif group.sliceable_cards:
            found.add(
                _SECTION,
                "NotAQuantity",
                f"label {key} of the node is {text!r}, wanted is a quantity such as 24Gi: the memory of its slices "
                "counts 0 until the label is right",
            )
    return labels


def _advertised(count: MakerCount, names: ResourceNames, node: Node) -> MakerCount:
    """The count with the tokens that are in the capacity, in place of those that plugins would publish."""
    capacity = node.status.capacity
    return replace(
        count,
        sliced_tokens=_tokens(capacity.get(names.sliced.token)),
        partitioned_tokens=_tokens(capacity.get(names.partitioned.token)) if names.partitioned else 0,
    )


def _tokens(text: str | None) -> int:
    number = None if text is None else _number(text)
    return 0 if number is None else max(0, number)


def _ours(names: ResourceNames, candidates: Iterable[str]) -> frozenset[str]:
    """Those of the candidates that are counted under a maker's names."""
    return _among(names.sliced, names.partitioned, tuple(candidates))


@lru_cache(maxsize=1024)
def _among(sliced: SlicedNames, partitioned: PartitionedNames | None, candidates: tuple[str, ...]) -> frozenset[str]:
    """Kept, because every Node is asked for every maker, and their capacities have the same names."""
    whole = {sliced.units, sliced.cores, sliced.memory, sliced.mib}
    if partitioned is None:
        return frozenset(whole.intersection(candidates))
    whole.add(partitioned.units)
    prefix = partitioned.profile_prefix
    return frozenset([each for each in candidates if each in whole or (each.startswith(prefix) and each != prefix)])


def _refusal(name: str, amount: int, *, is_ours: bool) -> str:
    """Why an amount is not written; empty when it is."""
    if not is_qualified_name(name):
        return "no name of a resource; at most 63 letters, digits, '-', '_', '.' after the slash"
    if not is_ours:
        return "not one of the counted names that the section resources gives; change the rule that counts it"
    if amount < 0:
        return f"{amount} is no amount; change the rule that counts it"
    return ""


def _is(text: str | None, amount: int | None) -> bool:
    if text is None or amount is None:
        return text is None and amount is None
    try:
        return parse_quantity(text) == amount
    except EvaluationError:
        return False


def _number(text: str) -> int | None:
    """Rounded down; None for what is no quantity."""
    try:
        return int(parse_quantity(text) // 1)
    except EvaluationError:
        return None
