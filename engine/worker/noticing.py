"""What people should know of Nodes and flavors, told once: a line when a condition comes, and one when it is over.

Conditions are the chain's.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.chain.changes import Condition
from engine.worker.log import Log


class Noticed:
    """The conditions that were told and still hold."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._told: frozenset[Condition] = frozenset()

    @property
    def told(self) -> frozenset[Condition]:
        """The conditions that hold, as last told."""
        return self._told

    def tell(self, conditions: Iterable[Condition]) -> None:
        """These hold now."""
        now = frozenset(conditions)
        for each in sorted(now - self._told):
            self._log.warning("condition", object=f"{each.kind}/{each.name}", reason=each.reason, message=each.message)
        for each in sorted(self._told - now):
            self._log.info("condition is over", object=f"{each.kind}/{each.name}", reason=each.reason)
        self._told = now
