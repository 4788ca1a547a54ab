"""What every part of the worker is given, and what a part is.

A part wires the controllers of one family of kinds: which informers wake them, and what they look at. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from engine.cluster.client import Client
from engine.cluster.clock import Clock
from engine.cluster.turns import Turns
from engine.cluster.writers import Writer
from engine.worker.fleet import Fleet
from engine.worker.inforce import InForce
from engine.worker.log import Log
from engine.worker.loop import Controller, Work
from engine.worker.options import Options
from engine.worker.supply import Touched
from engine.worker.urgent import Urgent
from engine.worker.watching import Informers

N = TypeVar("N")


class Leads(Protocol):
    """Something that works while this process leads."""

    async def lead(self) -> None:
        """Until it is cancelled."""


class Part(Protocol):
    """The controllers of one family of kinds."""

    def leads(self) -> Sequence[Leads]:
        """What works while this process leads, in the order in which it begins."""

    def take(self, touched: Touched) -> None:
        """The fleet comes to something else now; told after a burst of changes."""

    def turn(self) -> None:
        """Settings or rules are others now: everything is looked at again."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Shape: `client` writes only while this process leads, and reads always."""

    client: Client
    writer: Writer
    informers: Informers
    fleet: Fleet
    rules: InForce
    options: Options
    log: Log
    node_turns: Turns = field(default_factory=Turns)
    urgent: Urgent = field(default_factory=Urgent)

    @property
    def clock(self) -> Clock:
        return self.client.clock

    def controller(self, work: Work[N], *, workers: int = 1) -> Controller[N]:
        """A controller, not yet running."""
        return Controller(work, self.writer, self.informers.known, self.clock, self.log, workers=workers)


def everything(parts: Sequence[Part]) -> list[Leads]:
    """What works while this process leads, part by part."""
    return [each for part in parts for each in part.leads()]
