"""The rule object `gpustack-cpu-info`: there while a real NFD is to evaluate it, and gone when none could miss it.

What it says is `engine.features.cpu_info`; who puts features onto Nodes is decided before.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.cluster.actions import Action
from engine.cluster.objects import Owned
from engine.features.cpu_info import NAME, OPERATOR, PART_OF, plan_rule
from engine.features.foreign import Provider
from engine.features.keys import RuleKeys

__all__ = ["NAME", "CpuRuleNeighbourhood", "again_after_seconds", "plan"]


@dataclass(frozen=True, slots=True)
class CpuRuleNeighbourhood:
    """The object, and where the provider stands. Shape: `again_after_seconds` is when that may be another by time alone."""

    provider: Provider
    vendors: tuple[str, ...]
    keys: RuleKeys
    live: Owned | None
    is_nfd_gone: bool
    again_after_seconds: float | None = None


def plan(seen: CpuRuleNeighbourhood) -> list[Action]:
    """What the object needs now. One that somebody else made under this name is left alone in built-in mode."""
    live = seen.live
    if live is not None and live.metadata.deletion_timestamp:
        return []
    is_ours = live is not None and live.metadata.labels.get(PART_OF) == OPERATOR
    return plan_rule(seen.provider, seen.vendors, seen.keys, is_ours_there=is_ours, is_nfd_gone=seen.is_nfd_gone)


def again_after_seconds(seen: CpuRuleNeighbourhood) -> float | None:
    """While the object is there and still might be missed."""
    is_waiting = seen.provider is Provider.BUILTIN and seen.live is not None and not seen.is_nfd_gone
    return seen.again_after_seconds if is_waiting else None
