"""The chain's objects as fields: what rules named and code counted, before anything is rendered.

No skeletons here (apiVersion, metadata) and no arithmetic; `engine/worker/render` makes objects of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.chain.contribution import CpuIdentity, Profile
from engine.domain.queue_state import QueueState, TopologyReady
from engine.domain.views import AcceleratorViews, View
from engine.sections.queue import QueueFields as QueueAnswer

Labels = Mapping[str, str]

NO_CARDS: Final = AcceleratorViews()
NO_CORES: Final = View()


@dataclass(frozen=True, slots=True, order=True)
class FlavorKey:
    """What makes a flavor one flavor. Its name is a rule's; two keys with one name are a condition, never a merge."""

    cpu: str
    accelerator: str
    os: str
    arch: str
    count: int
    profile: str


@dataclass(frozen=True, slots=True)
class AcceleratorIdentity:
    """An accelerator as flavors, types and the catalogue describe it; texts as on node labels."""

    key: str
    manufacturer: str
    product: str
    family: str | None = None
    memory: str | None = None
    cores: str = "0"
    compute_capability: str | None = None


@dataclass(frozen=True, slots=True)
class FlavorFields:
    """One ResourceFlavor: a kind of node. Shape: `capacity` is contributing nodes times `key.count`."""

    key: FlavorKey
    name: str
    base: str
    topology_name: str
    tolerations: tuple[Mapping[str, str], ...]
    labels: Labels
    node_labels: Labels
    notes: Labels
    nodes: int
    cpu: CpuIdentity
    accelerator: AcceleratorIdentity | None = None

    @property
    def capacity(self) -> int:
        """Cores or cards behind the flavor."""
        return self.nodes * self.key.count


@dataclass(frozen=True, slots=True)
class TopologyFields:
    """One Kueue Topology: levels as label keys, hostname last."""

    name: str
    levels: tuple[str, ...]
    labels: Labels

    @classmethod
    def of(cls, profile: Profile) -> TopologyFields:
        """The Topology object a profile asks for."""
        return cls(profile.name, profile.levels, dict(profile.labels))


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One InstanceTypeFlavor: what a person may ask for."""

    name: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TypeStatus:
    """What an InstanceType reports. Shape: `detail` is empty for a collapsed CPU pool and while no flavor feeds it."""

    phase: str
    phase_message: str
    accelerator: AcceleratorViews = NO_CARDS
    cpu: View = NO_CORES
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TypeFields:
    """One InstanceType. Shape: `spec` has at most the ten fields, camelCase; `entrance` names the LocalQueues."""

    name: str
    labels: Labels
    spec: Mapping[str, Any]
    entrance: str
    derived: bool
    status: TypeStatus


@dataclass(frozen=True, slots=True)
class QueueFields:
    """One ClusterQueue: what it was created with, and where the state machine has it now."""

    name: str
    labels: Labels
    created: QueueAnswer
    state: QueueState
    condition: TopologyReady | None = None


@dataclass(frozen=True, slots=True)
class LocalQueueFields:
    """One LocalQueue: the entrance of one queue in one namespace."""

    name: str
    namespace: str
    queue: str
    annotations: Labels
