"""The check of devices on Workloads: each one that holds quota is told whether there are cards for its Pods.

Pool and promises come from caches, and before a Ready the ledger of the nodes concerned is read past them. What a verdict is
made of is `engine.worker.admission`, the verdict itself the domain's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.api.devices import Devices
from engine.cluster.errors import BadObject, Conflict, NotFound
from engine.cluster.informer import Informer
from engine.cluster.objects import Owned
from engine.cluster.resources import ObjectKey, key_of
from engine.cluster.tally import Done
from engine.domain.demand import Demand, read_demands
from engine.domain.gate import Question, Verdict, judge
from engine.domain.holdings import held, taken_since
from engine.domain.room import Load
from engine.errors import EvaluationError
from engine.worker.admission.judging import Judging
from engine.worker.admission.ledger import ledger_of
from engine.worker.admission.pools import Pools
from engine.worker.admission.promises import Promises, nodes_of
from engine.worker.admission.vocabulary import Vocabulary
from engine.worker.admission.workload import READ_WORKLOADS, READY, Workload, pod_sets
from engine.worker.cards import NO_CARDS, NodeCards
from engine.worker.controllers.admissioncheck import CONTROLLER
from engine.worker.controllers.nodedevices import JudgedWorkload, plan
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched


class AdmissionPart:
    """Verdicts on Workloads, one at a time."""

    def __init__(self, stage: Stage) -> None:
        at = stage.informers
        self._stage = stage
        self._log = stage.log.bind(controller=Judging.name)
        self._words: Vocabulary | None = None
        self._workloads: Informer[Workload] = Informer(stage.client, READ_WORKLOADS, report=at.report)
        at.add(self._workloads)
        self._pools = Pools(at.devices.cache, at.nodes.cache, at.flavors.cache, self._vocabulary)
        self._promises = Promises(self._reach_if_known)
        self._unmet: set[ObjectKey] = set()
        """Workloads whose promise was made elsewhere, or before this process led."""
        self._answered: dict[ObjectKey, str] = {}
        """The reservation for which each Workload was told Ready."""
        self._told: dict[object, str] = {}
        after = (at.checks, at.flavors, at.nodes, at.devices, self._workloads)
        self._judging = Judging(self._judge, self._waiting, after, stage.clock, stage.log)
        at.nodes.add_handler(self._pools.take_node, of_versions=False)
        at.devices.add_handler(self._take_devices)
        at.checks.add_handler(self._take_check)
        self._workloads.add_handler(self._take_workload)

    def leads(self) -> Sequence[Leads]:
        return (self._judging,)

    def take(self, _touched: Touched) -> None:
        """The pool is kept by labels of `Devices`, which are told of one by one."""

    def turn(self) -> None:
        self._words = None
        self._pools.forget()
        self._promises.clear()
        self._unmet |= {key_of(each) for each in self._workloads.cache if self._is_promised(each)}
        self._judging.add(self._waiting())

    def _vocabulary(self) -> Vocabulary:
        program = self._stage.rules.program
        if self._words is None or self._words.program is not program:
            self._words = Vocabulary(program)
        return self._words

    async def _judge(self, key: ObjectKey) -> Done:
        workload = self._workloads.cache.get(key.name, key.namespace)
        if workload is None or not workload.is_judged:
            return Done.UNCHANGED
        checks = self._checks_of(workload)
        if not checks or self._is_answered(key, workload, checks):
            return Done.UNCHANGED
        self._meet()
        demands = self._demands(workload)
        verdict = await self._verdict(key, workload, demands)
        seen = JudgedWorkload(workload, checks, verdict, self._now())
        actions = plan(seen)
        if not verdict.is_ready:
            self._promises.drop(key)
        elif self._promises.since(key) != workload.reserved_at:
            # Before it is said: a write whose answer is lost may still have been made.
            self._promises.make(key, workload.reserved_at, self._loads(demands))
        try:
            await self._stage.writer.apply_actions(actions)
        except (Conflict, NotFound):
            self._promises.drop(key)
            raise
        if verdict.is_ready:
            self._answered[key] = workload.reserved_at
        if not actions:
            return Done.UNCHANGED
        self._log.info("answered", object=str(key), ready=verdict.is_ready, message=verdict.message)
        return Done.WRITTEN

    async def _verdict(self, key: ObjectKey, workload: Workload, demands: tuple[Demand, ...]) -> Verdict:
        """From the caches; a Ready once more from the ledger itself, for the nodes that it is about."""
        is_single = len(workload.spec.pod_sets) == 1
        verdict = judge(self._question(key, demands, {}, is_single=is_single))
        if not verdict.is_ready:
            return verdict
        named = {ask.node for each in demands for ask in each.asks if ask.node is not None}
        nodes = sorted(named.union(verdict.nodes))
        fresh = self._newest(await ledger_of(self._stage.client, nodes, self._tell_unreadable))
        return judge(self._question(key, demands, fresh, is_single=is_single))

    def _question(
        self, key: ObjectKey, demands: tuple[Demand, ...], fresh: Mapping[str, NodeCards], *, is_single: bool
    ) -> Question:
        flavors = sorted({each.flavor for each in demands} - {""})
        reach = {flavor: self._pools.reach(flavor) for flavor in flavors}
        ahead = {node: taken_since(self._pools.cards(node), cards) for node, cards in fresh.items()}

        def stocks(node: str) -> NodeCards:
            found = fresh.get(node)
            return self._pools.cards(node) if found is None else found

        return Question(
            demands=demands,
            scopes={flavor: self._pools.scope(flavor) for flavor in flavors},
            reach=reach,
            stocks=stocks,
            promised=self._promises.outstanding(key, nodes_of(demands, reach), ahead),
            is_single=is_single,
        )

    def _newest(self, read: Mapping[str, Devices | None]) -> dict[str, NodeCards]:
        """What was read, but for nodes of which the watch has told the same, or something newer meanwhile."""
        found: dict[str, NodeCards] = {}
        for node, devices in read.items():
            known = self._stage.informers.devices.cache.get(node)
            if devices is None or not self._pools.is_there(node):
                found[node] = NO_CARDS
            elif known is None or _version(known) < _version(devices):
                found[node] = self._pools.read(devices)
        return found

    def _demands(self, workload: Workload, *, without_reclaimed: bool = False) -> tuple[Demand, ...]:
        words = self._vocabulary()
        sets = pod_sets(workload, words.keys.hostname, self._pools.hostnames, without_reclaimed=without_reclaimed)
        for resource in {each for one in sets for container in one.containers for each in container}:
            words.check(resource)
        return read_demands(sets, words.table)

    def _loads(self, demands: Iterable[Demand]) -> list[Load]:
        return [
            Load(
                flavor=demand.flavor,
                scope=self._pools.scope(demand.flavor),
                node=ask.node,
                family=demand.family,
                units=demand.units,
                profile=demand.profile,
                grants=ask.pods * ask.cards,
            )
            for demand in demands
            for ask in demand.asks
            if demand.flavor
        ]

    def _meet(self) -> None:
        """Promises that were made by others, the oldest first: the ledger may hold them already."""
        waiting = [self._workloads.cache.get(key.name, key.namespace) for key in self._unmet]
        promised = [each for each in waiting if each is not None]
        for workload in sorted(promised, key=lambda each: (each.reserved_at, key_of(each))):
            key = key_of(workload)
            try:
                loads = self._loads(self._demands(workload, without_reclaimed=True))
            except EvaluationError as error:
                self._tell(key, "what a Workload holds cannot be told", error)
                continue
            self._unmet.discard(key)
            if workload.is_admitted:
                self._promises.meet(key, workload.reserved_at, loads, lambda node: held(self._pools.cards(node)))
            else:
                # No Pod of it has begun.
                self._promises.make(key, workload.reserved_at, loads)

    def _waiting(self) -> list[ObjectKey]:
        return [key_of(each) for each in self._workloads.cache if each.is_judged and self._checks_of(each)]

    def _checks_of(self, workload: Workload) -> tuple[str, ...]:
        checks = self._stage.informers.checks.cache
        named = [(each.name, checks.get(each.name)) for each in workload.status.checks]
        return tuple(
            sorted(
                name for name, check in named if check is not None and check.spec.get("controllerName") == CONTROLLER
            )
        )

    def _is_promised(self, workload: Workload) -> bool:
        if not workload.has_reservation or workload.is_finished:
            return False
        ours = self._checks_of(workload)
        return workload.is_admitted or any(each.state == READY for each in workload.status.checks if each.name in ours)

    def _is_answered(self, key: ObjectKey, workload: Workload, checks: Collection[str]) -> bool:
        """A Ready stands for as long as its reservation: others have been judged by it since."""
        states = {each.state for each in workload.status.checks if each.name in checks}
        return states == {READY} and self._answered.get(key) == workload.reserved_at

    def _take_workload(self, before: Workload | None, after: Workload | None) -> None:
        known = after or before
        if known is None:
            return
        key = key_of(known)
        if after is None or not self._is_promised(after):
            # The watch is past the version that was judged: a Ready that was written would be seen by now.
            self._promises.drop(key)
            self._unmet.discard(key)
        elif self._promises.since(key) != after.reserved_at:
            self._unmet.add(key)
        if after is None:
            self._answered.pop(key, None)
            self._told.pop(key, None)
        elif after.is_judged and self._checks_of(after):
            self._judging.add([key])

    def _take_devices(self, before: Devices | None, after: Devices | None) -> None:
        known = after or before
        if known is None:
            return
        name = known.metadata.name
        if after is not None and not self._promises.is_kept:
            was = self._pools.read(before) if before is not None else NO_CARDS
            self._promises.take(name, taken_since(was, self._pools.read(after)))
        self._pools.take(name, after)

    def _take_check(self, _before: Owned | None, _after: Owned | None) -> None:
        self._judging.add(self._waiting())

    def _reach_if_known(self, flavor: str) -> Collection[str]:
        try:
            return self._pools.reach(flavor)
        except EvaluationError:
            # A flavor goes after the last Workload in it.
            return ()

    def _tell_unreadable(self, node: str, error: BadObject) -> None:
        self._tell(node, "Devices cannot be read; the node serves nothing", error)

    def _tell(self, about: object, what: str, error: Exception) -> None:
        if self._told.get(about) != str(error):
            self._told[about] = str(error)
            self._log.warning(what, object=str(about), error=error)

    def _now(self) -> str:
        return self._stage.clock.wall().strftime("%Y-%m-%dT%H:%M:%SZ")


def _version(devices: Devices) -> int:
    """Versions of one object in their order; one that is no number is taken for older than any."""
    version = devices.metadata.resource_version
    return int(version) if version.isdigit() else -1
