"""Labels of `Devices` objects that only the worker knows, their end after their Node's, and what is wrong with them.

The worker's are the management mark, the topology profile and the CPU's key; every other label is the device manager's, and
so are spec and status. A `Devices` object is never made here.

The labels are written without a guard: each is said by the Node alone, and the object's version moves with every Pod that
gets a card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.api.devices import Devices
from engine.chain.conditions import Condition, Findings
from engine.cluster.actions import Action, Delete, EmitEvent, MergePatch, ObjectReference, reference
from engine.cluster.resources import ObjectKey, key_of
from engine.features.hostfacts import general_key_cpu
from engine.worker.asking import NodeAsker, SeenNode
from engine.worker.cards import READ_DEVICES

MANAGER: Final = "engine-devices"
WINDOW_SECONDS: Final = 5.0
"""Changes of a Node are gathered for so long. Source: specification 20 §2.5."""
UNBELIEVABLE: Final = "Unbelievable"
UNREADABLE: Final = "Unreadable"


@dataclass(frozen=True, slots=True)
class DevicesNeighbourhood:
    """One object and its Node.

    Shape: `live` is None for one that cannot be read; `node` is None when it is not in the cache, and `is_node_gone`
    when the API server itself has said so; `conditions` are what people should know of the object.
    """

    name: str
    live: Devices | None
    node: SeenNode | None = None
    is_node_gone: bool = False
    conditions: tuple[Condition, ...] = ()


def plan(seen: DevicesNeighbourhood, asker: NodeAsker) -> list[Action]:
    """What one object needs now."""
    live = seen.live
    if live is None:
        about = ObjectReference(READ_DEVICES.api_version, READ_DEVICES.kind, ObjectKey("", seen.name))
        return [_event(about, each) for each in seen.conditions]
    if live.metadata.deletion_timestamp:
        return []
    if seen.node is None:
        # A cache may be behind; it alone ends nothing.
        return [Delete(READ_DEVICES, key_of(live), uid=live.metadata.uid)] if seen.is_node_gone else []
    actions: list[Action] = []
    labels = _difference(live.metadata.labels, seen.node, asker)
    if labels:
        actions.append(MergePatch(READ_DEVICES, key_of(live), {"metadata": {"labels": labels}}, MANAGER))
    about = reference(READ_DEVICES, live)
    return [*actions, *(_event(about, each) for each in seen.conditions)]


def _difference(now: dict[str, str], node: SeenNode, asker: NodeAsker) -> dict[str, str | None]:
    found = Findings()
    keys = asker.keys
    cpu = asker.ask.cpu(general_key_cpu(node.host_cpu, node.labels, node.annotations, keys.cpu_fact), found)
    # What the Node says is mirrored: the key of its CPU once it carries it, as flavors do.
    is_keyed = cpu is not None and node.labels.get(keys.general + cpu.key) == "true"
    asked = asker.ask.devices_of(
        (),
        os=node.os,
        arch=node.arch,
        managed=node.labels.get(keys.managed),
        profile=node.labels.get(keys.profile),
        cpu_key=cpu.key if cpu is not None and is_keyed else None,
        found=found,
    )
    if any(each.reason == "CouldNotTell" for each in found.listed()):
        return {}
    wanted = {key: value for key, value in asked.items() if _is_ours(key, asker)}
    labels: dict[str, str | None] = {key: value for key, value in wanted.items() if now.get(key) != value}
    labels |= {key: None for key in now if _is_ours(key, asker) and key not in wanted}
    return dict(sorted(labels.items()))


def _is_ours(key: str, asker: NodeAsker) -> bool:
    return key in {asker.keys.managed, asker.keys.profile} or key.startswith(asker.keys.general)


def _event(about: ObjectReference, condition: Condition) -> EmitEvent:
    return EmitEvent(about, condition.reason, condition.message, "CountCards", "Warning")
