"""The AdmissionCheck of the devices, and what wakes its controller.

What is wanted of it is `controllers.admissioncheck`; who names it is the queues'.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from engine.cluster.objects import Owned
from engine.worker.controllers import admissioncheck
from engine.worker.controllers.admissioncheck import CheckNeighbourhood
from engine.worker.loop import Work
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched


class Checks:
    """One controller with one key: the check's name."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        checks = stage.informers.checks
        self._controller = stage.controller(
            Work("check", self._names, self._check, admissioncheck.plan, after=(checks,))
        )
        checks.add_handler(self._take_check)

    def leads(self) -> Sequence[Leads]:
        return (self._controller,)

    def take(self, _touched: Touched) -> None:
        """Nodes change nothing here."""

    def turn(self) -> None:
        self._controller.add(self._names())

    def _take_check(self, before: Owned | None, after: Owned | None) -> None:
        there = {each.metadata.name for each in (before, after) if each is not None}
        self._controller.notice(there & set(self._names()))

    def _names(self) -> list[str]:
        return [self._stage.fleet.asker.keys.check_node_devices]

    def _check(self, name: str) -> CheckNeighbourhood:
        now = self._stage.clock.wall().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return CheckNeighbourhood(name, now, self._stage.informers.checks.cache.get(name))
