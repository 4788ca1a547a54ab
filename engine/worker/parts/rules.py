"""Live rules: the leader judges what is delivered, publishes what it decides, and every replica takes what is published.

In this order: judged, published, in force. A process that does not lead judges nothing; it takes the program that the
published ConfigMaps name, so that all replicas answer alike and the next leader goes on from there. What a verdict is
is `engine.delivery`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from engine.cluster.actions import Action, target
from engine.cluster.errors import NotLeader
from engine.cluster.informer import Informer
from engine.cluster.objects import Data
from engine.cluster.queue import QueueSettings, WorkQueue, run_workers
from engine.cluster.resources import CONFIG_MAPS, RULE_PACKS, HasMeta, ObjectKey, Resource
from engine.cluster.writers import Result, Writer
from engine.delivery.candidate import Candidate
from engine.delivery.publish import event_actions, pack_event_actions, program_actions, rule_pack_actions
from engine.delivery.standing import Standing, after_approval, after_delivery
from engine.delivery.stored import HEAD, restored
from engine.delivery.verdict import InForce, State, Verdict
from engine.errors import EngineError
from engine.worker.controllers import settings
from engine.worker.replan import Moment, fits
from engine.worker.rulebook import RuleBook, approved_of, published_maps, selection
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

WINDOW_SECONDS: Final = 0.5
RETRY_CAP_SECONDS: Final = 30.0

_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_WORDS: Final = {State.LOADED: "rules taken over", State.HELD: "rules held", State.FAILED: "rules refused"}

_KEY: Final = "rules"
"""All of it is one key: a verdict, its publication and the swap follow each other, and never overlap."""


class RulesPart:
    """The rules of this process. `run` belongs to every replica, the rest to the one that leads."""

    def __init__(self, stage: Stage, book: RuleBook) -> None:
        self._stage = stage
        self._book = book
        self._delivery = book.delivery
        self._log = stage.log.bind(controller="rules")
        client, report = stage.client, stage.informers.report
        self._maps: Informer[Data] = Informer(client, CONFIG_MAPS, selection(stage.options.namespace), report=report)
        self._packs = Informer(client, RULE_PACKS, report=report)
        for informer in (self._maps, self._packs):
            stage.informers.add(informer)
            informer.add_handler(self._take)
        self._writer = Writer(client, lookup=self._known)
        self._queue: WorkQueue[str] | None = None
        self._stirred = asyncio.Event()
        self._turn = asyncio.Lock()
        self._newest: Candidate | None = None
        self._published: InForce | None = None
        self._waited = ""
        self._told: Verdict | None = None
        self._is_news = False
        self._unreadable = ""

    def leads(self) -> Sequence[Leads]:
        return (self,)

    def take(self, _touched: Touched) -> None:
        """What is delivered is compared with the cluster as it is when it is judged."""

    def turn(self) -> None:
        """A verdict stands, whatever the settings are by now."""

    async def run(self) -> None:
        """Takes what another process publishes, until it is cancelled."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            if self._queue is None:
                async with self._turn:
                    if self._queue is None:
                        await self._follow(tuple(self._maps.cache))

    async def catch_up(self) -> None:
        """Takes what the last leader has published: to be called before anything else leads, which would write by other rules.

        Raises: ClusterError: refused, or no answer for `prepare_seconds`.
        """
        async with self._turn:
            # Asked of the store: a cache may be a moment behind what was written.
            await self._follow(
                await published_maps(self._stage.client, self._stage.options, self._log), is_leading=True
            )

    async def lead(self) -> None:
        """Judges deliveries until it is cancelled; `catch_up` was called before."""
        at = self._stage.informers
        for informer in (self._maps, self._packs, at.secrets, at.nodes, at.features, at.devices):
            await informer.wait_synced()
        settings_of_queue = QueueSettings(window_seconds=WINDOW_SECONDS, retry_cap_seconds=RETRY_CAP_SECONDS)
        self._queue = queue = WorkQueue[str](self._stage.clock, settings_of_queue)
        try:
            queue.add(_KEY)
            async with asyncio.TaskGroup() as group:
                group.create_task(run_workers(queue, self._step, report=self._failed))
                group.create_task(self._receive(queue))
        finally:
            self._queue = None

    def _take(self, _before: HasMeta | None, _after: HasMeta | None) -> None:
        self._stirred.set()
        if self._queue is not None:
            self._queue.add(_KEY)

    async def _receive(self, queue: WorkQueue[str]) -> None:
        """Each content once it is at rest; of several that come while one is judged, the last is next."""
        if self._delivery.mount is None:
            self._newest = self._delivery.image
            queue.add(_KEY)
            return
        async for candidate in self._delivery.mount.deliveries():
            self._newest = candidate
            queue.add(_KEY)

    async def _step(self, _key: str) -> None:
        async with self._turn:
            await self._publish()
            if await self._judge():
                await self._publish()
            await self._tell()

    async def _follow(self, published: Sequence[Data], *, is_leading: bool = False) -> None:
        """Takes the program that is published, when it is whole and another one than this process has."""
        named = [each.data.get("program", "") for each in published if each.metadata.name == HEAD]
        if not is_leading and (not named or named[0] == self._book.digest):
            return
        maps = {each.metadata.name: each.data for each in published}
        stored = await self._delivery.aside(lambda: restored(maps))
        self._waited = stored.waiting
        offered: InForce | None = stored.in_force
        why = stored.why
        if offered is not None and offered.program.digest != self._book.digest:
            why = await self._delivery.aside(lambda: self._misfit(offered))
        if why or offered is None:
            # Between two writes of a leader, or by an Engine of another version: what serves goes on.
            if named and why != self._unreadable:
                self._log.warning("published rules are not taken", why=why)
            self._unreadable = why
            return
        self._unreadable = ""
        self._published = offered
        if offered.program.digest != self._book.digest:
            self._book.follow(offered)
            self._swap()

    def _misfit(self, offered: InForce) -> str:
        try:
            fits(offered.program, self._stage.options.environment)
        except EngineError as error:
            return str(error)
        return ""

    async def _publish(self) -> None:
        """What was decided is written, and then in force here: no process answers by a program that is not published."""
        serving = self._book.standing.serving
        assert serving is not None
        namespace = self._stage.options.namespace
        previous, existing = self._published, [each.name for each in self._maps.cache.keys()]  # noqa: SIM118 - no dict
        # Until this process has judged for itself, what waited before goes on waiting.
        waiting = self._book.waiting if self._book.standing.verdict is not None else self._waited
        actions = await self._delivery.aside(
            lambda: program_actions(serving, namespace, previous=previous, waiting=waiting, existing=existing)
        )
        await self._write(actions)
        self._published = serving
        if serving.program.digest != self._book.digest:
            self._swap()

    async def _judge(self) -> bool:
        """Whether there is another verdict now."""
        candidate, before = self._newest, self._book.standing
        if candidate is None:
            return False
        approved = approved_of(tuple(self._maps.cache))
        known = before.verdict
        if known is not None and known.candidate == candidate.digest:
            after = after_approval(before, approved)
        else:
            moment = self._moment()

            def judge() -> Standing:
                return after_delivery(before, candidate, moment.lost, approved, overrides=self._delivery.overrides)

            after = await self._delivery.aside(judge)
        if after is before:
            return False
        # The same rules read back from where they were published are no news, and neither is their first verdict.
        self._is_news = _digest(after) != _digest(before) or (known is not None and known.state is not State.LOADED)
        self._book.judged(after)
        return True

    def _moment(self) -> Moment:
        namespace, at = self._stage.options.namespace, self._stage.informers
        secret = at.secrets.cache.get(settings.NAME, namespace)
        stored = None if secret is None else secret.data
        return Moment.of(self._stage.fleet, stored, self._stage.options.environment)

    async def _tell(self) -> None:
        """RulePacks say what became of each pack; Events and a line, once a verdict."""
        verdict = self._book.standing.verdict
        if verdict is None:
            return
        live = {each.metadata.name: each.status for each in self._packs.cache}
        now = self._stage.clock.wall().strftime(_TIME)
        await self._write(rule_pack_actions(verdict, live, now))
        if verdict is self._told:
            return
        self._told = verdict
        if verdict.state is State.LOADED and not self._is_news:
            return  # the same program as before, as after a restart: nothing happened
        tell = self._log.info if verdict.state is State.LOADED else self._log.warning
        tell(_WORDS[verdict.state], rules=verdict.digest, why=verdict.message)
        namespace = self._stage.options.namespace
        await self._stage.writer.apply_actions([*event_actions(verdict, namespace), *pack_event_actions(verdict)])

    def _swap(self) -> None:
        serving = self._book.standing.serving
        assert serving is not None
        self._stage.rules.swap(serving.program)
        self._book.swapped()
        self._log.info("rules are in force", rules=serving.program.digest)

    async def _write(self, actions: Iterable[Action]) -> None:
        for outcome in await self._writer.apply_actions(actions):
            if outcome.result is Result.WRITTEN:
                did = type(outcome.action).__name__.lower()
                self._log.info("wrote", action=did, object=target(outcome.action))

    def _known(self, resource: Resource[Any], key: ObjectKey) -> HasMeta | None:
        known: Informer[Any] = self._maps if resource is CONFIG_MAPS else self._packs
        found: HasMeta | None = known.cache.get(key.name, key.namespace)
        return found

    def _failed(self, _key: str, error: Exception) -> None:
        if isinstance(error, NotLeader):
            self._log.warning("held back", error=error)
        else:
            self._log.failure("failed", error=error, type=type(error).__name__)


def _digest(standing: Standing) -> str:
    return standing.serving.program.digest if standing.serving is not None else ""
