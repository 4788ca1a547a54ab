"""Is a real NFD alive, and what that allows: one provider writes, and the other never fights it.

Pure: what was observed and when comes in. Source: specification 50 §5.3, §5.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from engine.features.book import Permission

QUIET_SECONDS: Final = 60.0
"""How long nothing of an NFD is seen before it counts as gone; also how long a lease counts. Source: §5.3, §5.4."""
STALE_LEASE_SECONDS: Final = 600.0
"""A lease this old when first seen is a leftover. Chosen: far beyond any difference of clocks."""
LEASE: Final = "nfd-master.nfd.kubernetes.io"
_MASTER: Final = "nfd-master"
_NAME: Final = "app.kubernetes.io/name"


class Provider(StrEnum):
    """Who puts features onto Nodes (`features.provider`)."""

    BUILTIN = "builtin"
    NFD = "nfd"


@dataclass(frozen=True, slots=True)
class PodSeen:
    """A Pod that may be an NFD's master. Shape: `programs` are its images, commands and arguments."""

    namespace: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    programs: tuple[str, ...] = ()
    is_ready: bool = True

    @property
    def is_master(self) -> bool:
        by_chart = self.labels.get(_NAME) == "node-feature-discovery" and self.labels.get("role") == "master"
        by_manifest = self.labels.get("app") == _MASTER
        return by_chart or by_manifest or any(_MASTER in program for program in self.programs)


@dataclass(frozen=True, slots=True)
class LeaseSeen:
    """A Lease of an NFD's master.

    Shape: `changed_seconds` is when this process saw it change, or saw it first; `age_seconds` what its own time stated
    then, by a clock that may be wrong.
    """

    namespace: str
    name: str
    changed_seconds: float
    age_seconds: float = 0.0

    def is_held(self, now_seconds: float) -> bool:
        """Renewed lately, as far as one can know without trusting another machine's clock."""
        if self.name != LEASE or self.age_seconds > STALE_LEASE_SECONDS:
            return False
        return now_seconds - self.changed_seconds < QUIET_SECONDS


@dataclass(frozen=True, slots=True)
class Signals:
    """What was observed. Shape: `wrote_seconds` is when an NFD's bookkeeping was last seen to grow, and on which Node."""

    pods: tuple[PodSeen, ...] = ()
    leases: tuple[LeaseSeen, ...] = ()
    wrote_seconds: float | None = None
    wrote_node: str = ""


_FROZEN: Final = Permission(may_write=False, may_adopt=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where we stand. Shape: `since_seconds` is when this process began to look, `alive_seconds` when it last
    saw an NFD, `has_pod` whether a master's Pod was there.
    """

    since_seconds: float
    alive_seconds: float | None = None
    evidence: tuple[str, ...] = ()
    permission: Permission = _FROZEN
    reason: str = ""
    message: str = ""
    again_after_seconds: float | None = None
    has_pod: bool = False

    def condition(self) -> dict[str, str]:
        """The `FeaturesProvider` condition; True while features reach Nodes by the provider that was chosen."""
        return {
            "type": "FeaturesProvider",
            "status": "False" if self.reason in _TROUBLE else "True",
            "reason": self.reason,
            "message": self.message,
        }


_FOREIGN: Final = "ForeignNFD"
_LEAVING: Final = "NFDLeaving"
_MISSING: Final = "NFDMissing"
_TROUBLE: Final = frozenset({_FOREIGN, _LEAVING, _MISSING})


def signs_of_life(signals: Signals, now_seconds: float) -> tuple[str, ...]:
    """What proves that an NFD's master runs now, for people."""
    found = [
        f"pod {each.namespace}/{each.name} is a ready master"
        for each in signals.pods
        if each.is_ready and each.is_master
    ]
    found += [f"lease {each.namespace}/{each.name} is renewed" for each in signals.leases if each.is_held(now_seconds)]
    if signals.wrote_seconds is not None and now_seconds - signals.wrote_seconds < QUIET_SECONDS:
        found.append(f"it wrote its bookkeeping on node {signals.wrote_node}")
    return tuple(sorted(found))


def judge(provider: Provider, signals: Signals, before: Standing, now_seconds: float) -> Standing:
    """Where we stand now.

    An NFD that was never seen forbids nothing but taking over Nodes that bear its marks; one that was seen must have been
    gone for a while before anything is written, so that a restart of its master is no hand-over.
    """
    evidence = signs_of_life(signals, now_seconds)
    has_pod = any(each.is_ready and each.is_master for each in signals.pods)
    seen = [each.changed_seconds for each in signals.leases if each.is_held(now_seconds)]
    if signals.wrote_seconds is not None:
        seen.append(signals.wrote_seconds)
    if has_pod or before.has_pod:
        # One that has just gone was there until now: whoever watches tells of every change.
        seen.append(now_seconds)
    alive_seconds = max((*seen, before.alive_seconds or 0.0)) if seen else before.alive_seconds
    quiet_since = before.since_seconds if alive_seconds is None else alive_seconds
    left_seconds = max(0.0, quiet_since + QUIET_SECONDS - now_seconds)
    is_gone = not evidence and left_seconds == 0
    again = _next_look(signals, now_seconds) if evidence else left_seconds or None
    common = Standing(before.since_seconds, alive_seconds, evidence, again_after_seconds=again, has_pod=has_pod)
    if provider is Provider.NFD:
        reason, message = _nfd_mode(evidence, is_gone=is_gone)
        return _standing(common, _FROZEN, reason, message)
    if evidence:
        message = (
            f"a real NFD is alive ({'; '.join(evidence)}): nothing is written onto nodes and labels stay as they are. "
            "Scale its master to 0 to hand over, or set features.provider to nfd"
        )
        return _standing(common, _FROZEN, _FOREIGN, message)
    if alive_seconds is not None and not is_gone:
        message = f"a real NFD was alive; taking over in {left_seconds:.0f} s unless it comes back"
        return _standing(common, _FROZEN, _LEAVING, message)
    return _standing(common, Permission(may_write=True, may_adopt=is_gone), "Builtin", "features are put onto nodes")


def too_long_for_nfd(provider: Provider, nodes: Iterable[str]) -> tuple[str, ...]:
    """Nodes that a real NFD cannot be told of: their names fit no label value. The built-in provider takes them."""
    return tuple(sorted(name for name in nodes if len(name) > 63)) if provider is Provider.NFD else ()


def manager_of(managed_fields: Iterable[Any], key: str, *, is_label: bool = True) -> str:
    """Who last wrote a label or annotation, by the fields that managers own; empty when nobody says so."""
    where = "f:labels" if is_label else "f:annotations"
    for entry in managed_fields:
        part = (entry.fields.get("f:metadata") or {}).get(where) or {}
        if f"f:{key}" in part:
            return str(entry.manager)
    return ""


def _nfd_mode(evidence: tuple[str, ...], *, is_gone: bool) -> tuple[str, str]:
    if evidence:
        return "NFD", f"a real NFD puts features onto nodes ({'; '.join(evidence)})"
    if is_gone:
        message = "features.provider is nfd, and no NFD master is alive; labels stay. Install one, or set builtin"
        return _MISSING, message
    return "NFD", "waiting for a sign of an NFD master"


def _next_look(signals: Signals, now_seconds: float) -> float | None:
    """When a sign of life may fade by time alone."""
    ends = [each.changed_seconds + QUIET_SECONDS for each in signals.leases]
    if signals.wrote_seconds is not None:
        ends.append(signals.wrote_seconds + QUIET_SECONDS)
    return min((end - now_seconds for end in ends if end > now_seconds), default=None)


def _standing(common: Standing, permission: Permission, reason: str, message: str) -> Standing:
    return replace(common, permission=permission, reason=reason, message=message)
