"""What happens to each key of a Node: wanted, there, owned; ours or somebody else's; fought over or not.

One map at a time (labels, or annotations). Source: specification 50 §2.4 with the differences of §5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from engine.features.keys import is_our_class

REWRITES: Final = 3
WINDOW_SECONDS: Final = 600.0
"""So many foreign rewrites of a key in so long, and it is left alone. Source: specification 50 §5.2."""
_LONGEST_PAUSE: Final = 6
"""Doublings of the pause: about ten hours. Chosen: long enough to be no fight, short enough to heal by itself."""


@dataclass(frozen=True, slots=True)
class Fight:
    """A key that others rewrite. Shape: times of their rewrites within the window; `paused_until` while it is left alone."""

    seconds: tuple[float, ...] = ()
    pauses: int = 0
    paused_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Ask:
    """One map's question.

    Shape: `wanted` and `current` are the keys and values; `held` keys are not wanted and must not go yet; `before` is what
    we left there last, empty in a new process.
    """

    wanted: Mapping[str, str]
    current: Mapping[str, str]
    owned: frozenset[str]
    is_held: Callable[[str], bool]
    before: Mapping[str, str]
    fights: Mapping[str, Fight]
    now_seconds: float


@dataclass(frozen=True, slots=True)
class Settled:
    """One map's answer.

    Shape: `changes` has None for a key to remove; `taken` and `left` are keys with another's value, which we replaced or
    left alone; `stopped` are those that were given up in this pass; `held` are owned and stay without being wanted.
    """

    changes: dict[str, str | None] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()
    taken: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    fights: Mapping[str, Fight] = field(default_factory=dict)


def settle(ask: Ask) -> Settled:
    """The changes, key by key, and what is owned after them."""
    changes: dict[str, str | None] = {}
    owned: set[str] = set()
    taken: list[str] = []
    left: list[str] = []
    stopped: list[str] = []
    fights = {key: fight for key, fight in ask.fights.items() if _goes_on(fight, ask.now_seconds)}
    for key in sorted(ask.wanted):
        match _fate(ask, key, fights):
            case _Fate.THEIRS:
                continue
            case _Fate.LEFT:
                left.append(key)
                continue
            case _Fate.TAKEN:
                taken.append(key)
                changes[key] = ask.wanted[key]
            case _Fate.WRITTEN:
                changes[key] = ask.wanted[key]
            case _Fate.STOPPED:
                stopped.append(key)
            case _:
                pass
        owned.add(key)
    held = []
    for key in sorted(ask.owned - ask.wanted.keys()):
        if key not in ask.current:
            continue
        if ask.is_held(key):
            owned.add(key)
            held.append(key)
        else:
            changes[key] = None
    return Settled(
        changes,
        frozenset(owned),
        taken=tuple(taken),
        left=tuple(left),
        stopped=tuple(stopped),
        held=tuple(held),
        fights=fights,
    )


class _Fate(Enum):
    """What a wanted key comes to."""

    KEPT = auto()
    WRITTEN = auto()
    TAKEN = auto()
    LEFT = auto()
    THEIRS = auto()
    STOPPED = auto()
    PAUSED = auto()


def _fate(ask: Ask, key: str, fights: dict[str, Fight]) -> _Fate:
    value, seen = ask.wanted[key], ask.current.get(key)
    if key not in ask.owned and seen is not None:
        if not is_our_class(key):
            # Even an equal value stays its writer's: what we own we would remove one day.
            return _Fate.THEIRS if seen == value else _Fate.LEFT
        return _Fate.KEPT if seen == value else _Fate.TAKEN
    if seen == value:
        return _Fate.KEPT
    if ask.before.get(key) != value:
        return _Fate.WRITTEN
    known = fights.get(key, Fight())
    if ask.now_seconds < known.paused_until:
        return _Fate.PAUSED
    fights[key] = _rewritten(known, ask.now_seconds)
    return _Fate.STOPPED if ask.now_seconds < fights[key].paused_until else _Fate.WRITTEN


def _goes_on(fight: Fight, now_seconds: float) -> bool:
    """Whether a fight is not forgotten yet: a pause is followed by a window in which one rewrite begins the next."""
    last = max((*fight.seconds, fight.paused_until))
    return now_seconds < last + WINDOW_SECONDS


def _rewritten(fight: Fight, now_seconds: float) -> Fight:
    """The fight after one more rewrite was seen."""
    # After a pause the repair finds the old rewrite still there: that one is not new, and the next one is enough.
    limit = 2 if fight.pauses else REWRITES
    seconds = (*(each for each in fight.seconds if now_seconds - each < WINDOW_SECONDS), now_seconds)
    if len(seconds) < limit:
        return Fight(seconds, fight.pauses, fight.paused_until)
    pause_seconds = WINDOW_SECONDS * 2 ** min(fight.pauses, _LONGEST_PAUSE)
    return Fight((), fight.pauses + 1, now_seconds + pause_seconds)
