"""The question asked before every write: may this process still write?

Answered by the elector; a client without a gate writes freely.
"""

from __future__ import annotations

from typing import Protocol


class WriteGate(Protocol):
    """Guards writes."""

    def check(self) -> float:
        """Seconds for which the answer holds. Raises: NotLeader."""
        ...
