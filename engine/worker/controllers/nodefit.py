"""Fit labels of a Node: how much one card could still grant. They filter Nodes for Workloads and never charge.

The figures are the domain's, the labels the rules'. A label under their prefixes that is wanted no longer goes; nothing else
of the Node is touched. Whoever watches Nodes for other reasons does not look at these labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.chain.conditions import Condition, Findings
from engine.cluster.actions import Action, MergePatch
from engine.cluster.objects import Node
from engine.cluster.resources import NODES, key_of
from engine.domain.inventory import Group
from engine.values.names import is_label_key, is_label_value
from engine.worker.asking import NodeAsker
from engine.worker.cards import NodeCards

MANAGER: Final = "engine-node-fit"
WINDOW_SECONDS: Final = 3.0
"""Source: specification 20 §3.4, design §4."""

_SECTION: Final = "fit-labels"


@dataclass(frozen=True, slots=True)
class FitNeighbourhood:
    """One Node and its cards.

    Shape: `cards` is None while no `Devices` object states any; not `is_told` while there is one that cannot be read.
    """

    node: Node
    cards: NodeCards | None = None
    is_told: bool = True


@dataclass(frozen=True, slots=True)
class Room:
    """The fit labels of a Node. Shape: with `is_told` false some could not be told, and none may be taken for gone."""

    labels: dict[str, str]
    conditions: tuple[Condition, ...]
    is_told: bool


def plan(seen: FitNeighbourhood, asker: NodeAsker) -> list[Action]:
    """What one Node's fit labels need now."""
    node = seen.node
    if node.metadata.deletion_timestamp or not seen.is_told:
        return []
    now = {key: value for key, value in node.metadata.labels.items() if key.startswith(asker.keys.fit)}
    room = find_room(seen, asker)
    labels: dict[str, str | None] = {key: value for key, value in room.labels.items() if now.get(key) != value}
    if room.is_told:
        labels |= dict.fromkeys(now.keys() - room.labels.keys())
    if not labels:
        return []
    patch = {"metadata": {"labels": dict(sorted(labels.items()))}}
    return [MergePatch(NODES, key_of(node), patch, MANAGER, node.metadata.resource_version)]


def find_room(seen: FitNeighbourhood, asker: NodeAsker) -> Room:
    """The labels that a managed Node should have. Shape: a group of which no row is known has none."""
    if seen.cards is None or seen.node.metadata.labels.get(asker.keys.managed) != "true":
        return Room({}, (), is_told=True)
    rows, told = seen.cards.ledger, Findings()
    groups = tuple(group for group in seen.cards.groups if _has_rows(group, seen.cards))
    known = tuple(group for group in groups if group.manufacturer in asker.makers)
    labels = asker.ask.fit(known, rows, told)
    is_told = not told.listed()
    refused = sorted(key for key, value in labels.items() if not (is_label_key(key) and is_label_value(value)))
    for key in refused:
        told.add(
            _SECTION,
            "NotWritten",
            f"{key} is no label: at most 63 letters, digits, '-', '_', '.' after the slash; "
            "give the group a shorter or plainer id",
        )
    return Room({key: labels[key] for key in labels if key not in refused}, told.listed(), is_told)


def _has_rows(group: Group, cards: NodeCards) -> bool:
    return any(card.uuid in cards.ledger for card in group.cards)
