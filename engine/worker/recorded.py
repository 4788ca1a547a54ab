"""A recorded cluster as changes of a chain: the plan of a snapshot begins where the cluster stood.

Objects in, changes out. Whatever Engine itself has written onto a Node is left out of its facts, so that a plan gives it
anew and can be compared with what stood there. Where objects come from is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from engine.api.devices import Devices
from engine.chain.changes import (
    Change,
    InstanceTypeRecorded,
    NamespaceSet,
    NodeSet,
    SettingsChanged,
    StatedCards,
)
from engine.chain.node import NodeProgram
from engine.cluster.objects import Data, Namespace, Node, Owned
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    DEVICES,
    INSTANCE_TYPES,
    NAMESPACES,
    NODE_FEATURES,
    NODES,
    SECRETS,
    Resource,
)
from engine.domain.facts import NodeFacts
from engine.errors import InputError
from engine.features.bookkeeping import read_owned
from engine.features.hostfacts import read_host
from engine.features.keys import DEFAULT_PREFIX, WORKER_SUFFIX
from engine.features.merge import Trust, merge_objects
from engine.features.objects import NodeFeature, feature_object
from engine.values.quantities import canonical
from engine.worker.asking import Keys
from engine.worker.cards import read_cards
from engine.worker.controllers.settings import NAME as SETTINGS
from engine.worker.inforce import InForce
from engine.worker.making import Making
from engine.worker.reading.queue import ACTIVE, condition, read_observed, read_state
from engine.worker.supply import selector_of

Object = Mapping[str, Any]

_SPEC_DEFAULTS: Final[dict[str, Any]] = {"acceleratable": False}


@dataclass(slots=True)
class Recorded:
    """The objects of a cluster, by kind. Shape: whole objects as JSON; the order in which they were put is kept."""

    namespace: str
    objects: dict[str, list[Object]] = field(default_factory=dict)

    def put(self, thing: Object) -> None:
        """One more object."""
        group = str(thing["apiVersion"]).rpartition("/")[0]
        self.objects.setdefault(f"{thing['kind']}.{group}" if group else str(thing["kind"]), []).append(thing)

    def of(self, resource: Resource[Any], struct: Any = None) -> list[Any]:
        """The objects of a kind, as structs. Raises: InputError: one that no cluster would hold."""
        key = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        return [_read(each, struct or resource.struct) for each in self.objects.get(key, ())]


def _read(thing: Object, struct: Any) -> Any:
    try:
        return msgspec.convert(thing, struct)
    except msgspec.ValidationError as error:
        raise InputError(
            f"{thing['kind']} {thing['metadata'].get('name')} cannot be read",
            why=str(error),
            remedy="make the recording again, or take the object's line out",
        ) from error


def changes(recorded: Recorded, program: NodeProgram) -> list[Change]:
    """What brings a chain to where the cluster stood: settings, namespaces, nodes and types, in this order.

    Raises: InputError, UsageError: something that no cluster would hold.
    """
    keys = Keys.of(program.block("constants"))
    rules = InForce(program, {})
    for secret in recorded.of(SECRETS, Data):
        if (secret.metadata.namespace, secret.metadata.name) == (recorded.namespace, SETTINGS):
            rules.store(secret.data)
    stored: dict[str, object] = {each.name: rules.settings[each.key] for each in rules.read.settings.declared}
    spaces = [
        NamespaceSet(each.metadata.name)
        for each in recorded.of(NAMESPACES, Namespace)
        if not each.metadata.deletion_timestamp
    ]
    return [SettingsChanged(stored), *spaces, *_nodes(recorded, keys), *_types(recorded, keys, Making(rules))]


def active_checks(recorded: Recorded) -> tuple[str, ...]:
    """The admission checks whose controller says that it runs, sorted."""
    return tuple(
        sorted(
            each.metadata.name
            for each in recorded.of(ADMISSION_CHECKS, Owned)
            if condition(each, ACTIVE).get("status") == "True"
        )
    )


def _nodes(recorded: Recorded, keys: Keys) -> Iterable[NodeSet]:
    features: dict[str, list[NodeFeature]] = {}
    for each in recorded.of(NODE_FEATURES, NodeFeature):
        features.setdefault(feature_object(each).target, []).append(each)
    devices = {each.metadata.name: each for each in recorded.of(DEVICES, Devices)}
    for node in recorded.of(NODES, Node):
        name = node.metadata.name
        yield _node(node, features.get(name, []), devices.get(name), keys, recorded.namespace)


def _node(node: Node, features: list[NodeFeature], devices: Devices | None, keys: Keys, namespace: str) -> NodeSet:
    merged = merge_objects(map(feature_object, features), Trust(namespace, ()))
    host = read_host(merged.features)
    owned = read_owned(node.metadata.annotations)
    live = node.metadata.labels
    labels = {
        key: value
        for key, value in live.items()
        if key.startswith(DEFAULT_PREFIX)
        or (key not in owned.labels and key not in merged.labels and not key.startswith(keys.fit))
    }
    labels.pop(keys.profile, None)
    own = node.metadata.name + WORKER_SUFFIX
    worker = next((each for each in features if each.metadata.name == own), None)
    mark = live.get(keys.managed) if worker is None else worker.spec.labels.get(keys.managed)
    facts = NodeFacts(
        name=node.metadata.name,
        os=live.get(keys.os) or node.status.node_info.operating_system,
        arch=live.get(keys.arch) or node.status.node_info.architecture,
        capacity={name: canonical(text) for name, text in node.status.capacity.items()},
        labels=labels,
        annotations={key: text for key, text in node.metadata.annotations.items() if key not in owned.annotations},
        cpu=host.cpu,
        pci=host.pci,
    )
    cards = StatedCards((), {})
    if devices is not None:
        read = read_cards(devices)
        cards = StatedCards(read.groups, read.ledger)
    return NodeSet(facts, managed_label=mark, cards=cards)


def _types(recorded: Recorded, keys: Keys, making: Making) -> Iterable[InstanceTypeRecorded]:
    queues: dict[str, Owned] = {each.metadata.name: each for each in recorded.of(CLUSTER_QUEUES, Owned)}
    for each in recorded.of(INSTANCE_TYPES, Owned):
        if each.metadata.deletion_timestamp:
            continue
        name, labels = each.metadata.name, each.metadata.labels
        made = InstanceTypeRecorded(
            name=name,
            spec=_SPEC_DEFAULTS | each.spec,
            labels=labels,
            selector=making.selector(each, keys),
            derived=labels.get(keys.derived) == "true",
        )
        queue = queues.get(name)
        if queue is not None and not queue.metadata.deletion_timestamp:
            state = read_state(queue, has_selector=bool(selector_of(queue.metadata.labels, keys)))
            usage = {flavor.flavor: flavor.used or flavor.reserved for flavor in read_observed(queue).usage}
            made = replace(made, queue=state, usage=usage)
        yield made
