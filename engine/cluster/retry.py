"""When to ask again: back-off with full jitter, bounded, and the server's own wish first.

Decides how long; whether a call may be repeated at all is the caller's knowledge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.cluster.clock import Chance

LEAST_SECONDS: Final = 0.02
"""Full jitter may draw nearly nothing several times in a row; this bounds a loop to 50 turns a second. Chosen here."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How one call is repeated: `attempts` in all, and never a wait longer than `patience_seconds`."""

    attempts: int = 4
    base_seconds: float = 0.1
    cap_seconds: float = 2.0
    patience_seconds: float = 10.0


PATIENT: Final = RetryPolicy()
ONCE: Final = RetryPolicy(attempts=1)


class Backoff:
    """Waits that grow while nothing gets better."""

    def __init__(self, chance: Chance, *, base_seconds: float = 0.2, cap_seconds: float = 4.0) -> None:
        self._chance = chance
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._failures = 0

    def reset(self) -> None:
        """Things got better."""
        self._failures = 0

    def next_seconds(self, retry_after_seconds: float | None = None) -> float:
        """The next wait; at least what the server asked for, plus jitter so that not all clients come back at once."""
        ceiling = min(self._cap_seconds, self._base_seconds * 2.0 ** min(self._failures, 32))
        self._failures += 1
        drawn = max(LEAST_SECONDS, ceiling * self._chance())
        return drawn if retry_after_seconds is None else retry_after_seconds + drawn
