"""All that one pass over one Node may see, and what it leaves for the next pass.

Times are seconds of one monotonic clock that somebody else reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from engine.cluster.actions import Action
from engine.features.bookkeeping import NOTHING_OWNED, Owned
from engine.features.checks import NO_RESTRICTIONS, Restrictions
from engine.features.merge import Trust
from engine.features.objects import FeatureObject, NodeView
from engine.features.settle import Fight

ABSENCE_GRACE_SECONDS: Final = 60.0
"""How long the keys of an object that vanished stay. Source: specification 50 B7."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What is the same for all Nodes. `installation` is who writes; another installation's Node is not touched."""

    trust: Trust
    installation: str
    restrictions: Restrictions = NO_RESTRICTIONS
    absence_grace_seconds: float = ABSENCE_GRACE_SECONDS
    is_management_manual: bool = False


@dataclass(frozen=True, slots=True)
class Gone:
    """An object that vanished, as it was, and when."""

    object: FeatureObject
    at_seconds: float


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Memory:
    """What the last pass over a Node left behind; empty in a new process. Nodes that are alike have one between them.

    Shape: `labels` and `annotations` are what was wanted then and `owned` what was ours, for when somebody removes
    our lists; `adopted_seconds` when keys were taken over from an NFD;
    `told` are the findings that were told already.
    """

    is_first: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    label_fights: Mapping[str, Fight] = field(default_factory=dict)
    annotation_fights: Mapping[str, Fight] = field(default_factory=dict)
    owned: Owned = NOTHING_OWNED
    adopted_seconds: float | None = None
    told: frozenset[tuple[str, str]] = frozenset()


NO_MEMORY: Final = Memory()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """One Node and everything that asks something of it.

    Shape: `listed_seconds` is when all Nodes and NodeFeatures had been listed once, None before; `may_write` and
    `may_adopt` are what `foreign` allows; `direct_labels` are written by the worker without an object in between.
    """

    node: NodeView
    objects: tuple[FeatureObject, ...]
    now_seconds: float
    gone: tuple[Gone, ...] = ()
    listed_seconds: float | None = None
    may_write: bool = True
    may_adopt: bool = True
    direct_labels: Mapping[str, str] = field(default_factory=dict)
    memory: Memory = NO_MEMORY


@dataclass(frozen=True, slots=True)
class Stopped:
    """A key that was given up because others keep rewriting it; who that is stands in the Node's managed fields."""

    key: str
    wanted: str
    seen: str | None
    is_label: bool = True


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass wants done.

    Shape: `actions` in order, none when nothing differs; `memory` counts once they are done; `again_after_seconds` is when
    time alone changes the answer.
    """

    actions: tuple[Action, ...] = ()
    memory: Memory = NO_MEMORY
    again_after_seconds: float | None = None
    stopped: tuple[Stopped, ...] = ()
