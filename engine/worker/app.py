"""The worker's process: its parts, and the order in which all of it starts and ends.

Every replica prepares the cluster and keeps its caches; only the leader writes. Decides nothing: plans do.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from engine.chain.node import NodeProgram
from engine.cluster.client import Client
from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import ClusterError
from engine.cluster.events import EventRecorder
from engine.cluster.informer import Informer
from engine.cluster.writers import Writer
from engine.worker.census import Census
from engine.worker.fleet import Fleet
from engine.worker.health import Health
from engine.worker.inforce import InForce
from engine.worker.log import Log
from engine.worker.metrics import Metrics, Sources
from engine.worker.noticing import Noticed
from engine.worker.options import LEASE, Options
from engine.worker.parts.admission import AdmissionPart
from engine.worker.parts.features import FeaturesPart
from engine.worker.parts.flavors import FlavorsPart
from engine.worker.parts.hosts import Hosts
from engine.worker.parts.nodes import CardsPart
from engine.worker.parts.queues import QueuesPart
from engine.worker.parts.rules import RulesPart
from engine.worker.parts.site import SitePart
from engine.worker.parts.types import TypesPart
from engine.worker.prepare import prepare
from engine.worker.rulebook import RuleBook
from engine.worker.running import until_one_ends
from engine.worker.serving import Served
from engine.worker.stage import Part, Stage, everything
from engine.worker.supply import Touched
from engine.worker.watching import Informers

COMPONENT: Final = "gpustack-operator-worker"


class Worker:
    """One replica. Raises: UsageError: the environment seeds a setting with what is none of its values.

    Shape: `book` are live rules, which `program` is then of; without it the rules stay as they are.
    """

    def __init__(
        self, client: Client, program: NodeProgram, options: Options, log: Log, book: RuleBook | None = None
    ) -> None:
        self._client = client
        self._log = log
        self.elector = self._elector(options) if options.is_elected else None
        self.stage = self._stage(program, options)
        self._noticed = Noticed(log)
        hosts = Hosts(self.stage.informers, self.stage.fleet, options, client.clock)
        site = SitePart(self.stage)
        self.features = FeaturesPart(self.stage, hosts, site.tell_provider)
        self.rules = RulesPart(self.stage, book) if book is not None else None
        live = () if self.rules is None else (self.rules,)
        self.parts: tuple[Part, ...] = (
            site,
            self.features,
            CardsPart(self.stage),
            FlavorsPart(self.stage),
            TypesPart(self.stage),
            QueuesPart(self.stage),
            AdmissionPart(self.stage),
            *live,
        )
        self._census = Census(self.stage.informers, self.stage.fleet, hosts, see=self.features.see, take=self._take)
        self.stage.rules.on_turn(self._turn)
        self.health = Health(self._informers, self.elector)
        self.metrics = Metrics(
            Sources(
                rules=self.stage.rules,
                works=lambda: everything(self.parts),
                informers=self._informers,
                conditions=lambda: self._noticed.told,
                leads=lambda: self.elector is None or self.elector.is_leader(),
                calls=client.calls,
                answers=self.stage.rules.answers,
                book=book,
                version=options.version,
                clock=client.clock,
            )
        )

    async def run(self) -> None:
        """Until it is cancelled. Raises: ClusterError: the cluster refuses what is needed, or the lease was lost."""
        served = Served(self.stage.options.serving, self.health, self.metrics, self._log)
        await until_one_ends([served.run(), self._run()])

    async def _run(self) -> None:
        await prepare(self._client, self.stage.options, self.stage.rules.reader, self._log)
        self.health.is_prepared = True
        following = () if self.rules is None else (self.rules.run(),)
        await until_one_ends([*(each.run() for each in self._informers()), *following, self._work()])

    def _informers(self) -> tuple[Informer[Any], ...]:
        return (*self.stage.informers.all(), *self.features.provider.foreign.informers)

    async def _work(self) -> None:
        if self.elector is None:
            await self._lead()
        else:
            self._log.info("waits for the lease", lease=f"{self.stage.options.namespace}/{LEASE}")
            await self.elector.run(self._lead)

    async def _lead(self) -> None:
        self._log.info("leads", identity=self.stage.options.identity)
        if self.rules is not None:
            await self.rules.catch_up()
        async with asyncio.TaskGroup() as group:
            for each in everything(self.parts):
                group.create_task(each.lead())

    def _take(self, touched: Touched) -> None:
        for part in self.parts:
            part.take(touched)
        self._noticed.tell(self.stage.fleet.conditions())

    def _turn(self) -> None:
        rules = self.stage.rules
        self.stage.fleet.turn(rules.settings, rules.program)
        for part in self.parts:
            part.turn()
        self._census.soon()

    def _stage(self, program: NodeProgram, options: Options) -> Stage:
        client = self._client if self.elector is None else self._client.gated(self.elector)
        informers = Informers.of(self._client, options.namespace, self._log)
        events = EventRecorder(
            client,
            component=COMPONENT,
            instance=options.identity,
            report=lambda event, error: self._log.warning("an event was dropped", reason=event.reason, error=error),
        )
        rules = InForce(program, options.environment)
        return Stage(
            client=client,
            writer=Writer(client, lookup=informers.known, learn=informers.learn, events=events),
            informers=informers,
            fleet=Fleet(rules.program, rules.settings),
            rules=rules,
            options=options,
            log=self._log,
        )

    def _elector(self, options: Options) -> Elector:
        def report(what: str, error: ClusterError | None) -> None:
            if error is not None:
                self._log.warning(what, error=error)

        given = ElectorSettings(name=LEASE, namespace=options.namespace, identity=options.identity)
        return Elector(self._client, given, report=report)
