"""What can happen to a chain, and what came of it.

Nothing is computed here. Facts and specs are plain values; where they were read is the caller's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.domain.facts import NodeFacts
from engine.domain.feasibility import Ledger
from engine.domain.inventory import Group
from engine.domain.queue_state import QueueState


@dataclass(frozen=True, slots=True)
class StatedCards:
    """The cards of a node as they were published, and what was taken of them."""

    groups: tuple[Group, ...]
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class NodeSet:
    """A node is there, with these facts.

    Shape: `managed_label` is what its label says already, None when it has none; `cards` are what a device manager has
    stated, where a cluster was recorded, and then no rule is asked what the facts' libraries come to.
    """

    facts: NodeFacts
    managed_label: str | None = None
    cards: StatedCards | None = None


@dataclass(frozen=True, slots=True)
class NodeRemoved:
    """A node is gone."""

    name: str


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Some settings have other values now, by dashed name."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class InstanceTypeSet:
    """A person authored a type, or changed one of the three fields that stay editable.

    Shape: `spec` as in a manifest, camelCase.
    """

    name: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class InstanceTypeRemoved:
    """A type was deleted; a derived one comes back while its pool has flavors."""

    name: str


@dataclass(frozen=True, slots=True)
class InstanceTypeRecorded:
    """A type as it stood on a cluster, however it came to be, and the queue behind it.

    Shape: `selector` are the labels by which it takes flavors; `queue` is None when it had none yet; `usage` is what
    workloads used of each flavor.
    """

    name: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    selector: Mapping[str, str]
    derived: bool
    queue: QueueState | None = None
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamespaceSet:
    """A namespace is there."""

    name: str


@dataclass(frozen=True, slots=True)
class NamespaceRemoved:
    """A namespace is gone."""

    name: str


Change = (
    NodeSet
    | NodeRemoved
    | SettingsChanged
    | InstanceTypeSet
    | InstanceTypeRecorded
    | InstanceTypeRemoved
    | NamespaceSet
    | NamespaceRemoved
)


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """Something a person should know about one object, which stopped nothing else.

    Shape: `reason` is one CamelCase word, `message` one line.
    """

    kind: str
    name: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What `Chain.apply` changed.

    Shape: `objects[kind][name]` are the fields now, kinds and names sorted; `removed[kind]` names, sorted;
    `conditions` all conditions that hold now, sorted.
    """

    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    removed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.objects or self.removed)
