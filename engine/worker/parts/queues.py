"""Everything of Kueue's that stands behind a type: its ClusterQueue, LocalQueues, the AdmissionCheck, Kueue's own prices.

Puts the four together; each is a file of its own. That a queue exists is the types'.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.worker.parts.checks import Checks
from engine.worker.parts.clusterqueues import ClusterQueues
from engine.worker.parts.entrances import Entrances
from engine.worker.parts.kueue import KueueWatch
from engine.worker.stage import Leads, Part, Stage
from engine.worker.supply import Touched


class QueuesPart:
    """Queues, entrances, the check, and a look at Kueue."""

    def __init__(self, stage: Stage) -> None:
        self._parts: tuple[Part, ...] = (Checks(stage), ClusterQueues(stage), Entrances(stage), KueueWatch(stage))

    def leads(self) -> Sequence[Leads]:
        return [each for part in self._parts for each in part.leads()]

    def take(self, touched: Touched) -> None:
        for part in self._parts:
            part.take(touched)

    def turn(self) -> None:
        for part in self._parts:
            part.turn()
