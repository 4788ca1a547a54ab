"""The worker's process: what is watched, which controllers there are, in which order all of it starts and ends.

Every replica prepares the cluster and keeps its caches; only the leader writes. Decides nothing: plans do.
"""

from __future__ import annotations

import asyncio
from typing import Final

from engine.chain.node import NodeProgram
from engine.cluster.client import Client
from engine.cluster.elector import Elector, ElectorSettings
from engine.cluster.errors import ClusterError
from engine.cluster.events import EventRecorder
from engine.cluster.objects import Data, Node, Object, Owned
from engine.cluster.writers import Writer
from engine.features.controller import FeatureController
from engine.features.controller import Settings as FeatureSettings
from engine.features.cpu_info import pci_vendors
from engine.features.foreign import Provider, Standing, too_long_for_nfd
from engine.features.merge import Trust
from engine.features.neighbourhood import Policy
from engine.features.objects import NodeFeature, feature_object
from engine.features.rules import HostRules
from engine.worker.asking import seen_node
from engine.worker.controllers import cpurule, settings
from engine.worker.controllers.cpurule import CpuRuleNeighbourhood
from engine.worker.fleet import Fleet
from engine.worker.gathering import Gathering
from engine.worker.log import Log
from engine.worker.noticing import Noticed
from engine.worker.observing import Informers, Observer
from engine.worker.options import LEASE, Options
from engine.worker.prepare import prepare
from engine.worker.running import until_one_ends
from engine.worker.settings import SettingsReader, changes
from engine.worker.works import make_controllers

COMPONENT: Final = "gpustack-operator-worker"
FLEET_WINDOW_SECONDS: Final = 0.25
"""Chosen: a cold start of 1,000 Nodes asks each flavor's rules some 40 times and not 1,000."""


class Worker:
    """One replica. Raises: UsageError: the environment seeds a setting with what is none of its values."""

    def __init__(self, client: Client, program: NodeProgram, options: Options, log: Log) -> None:
        self._client = client
        self._options = options
        self._log = log
        self._reader = SettingsReader(program.block("settings"), options.environment)
        self.elector = self._elector() if options.is_elected else None
        gated = client if self.elector is None else client.gated(self.elector)
        self.informers = Informers.of(client, options.namespace, log)
        events = EventRecorder(
            gated,
            component=COMPONENT,
            instance=options.identity,
            report=lambda event, error: log.warning("an event was dropped", reason=event.reason, error=error),
        )
        self.writer = Writer(gated, lookup=self.informers.known, events=events)
        self.fleet = Fleet(program, self._reader.first().values)
        self._observer = Observer(self.informers, self.fleet, options, self._reader, client.clock)
        self._labelled: dict[str, str] = {}
        self._noticed = Noticed(log)
        self._gathering = Gathering(self._touch, FLEET_WINDOW_SECONDS)
        rules = HostRules(program)
        self.features = FeatureController(
            gated,
            self.writer,
            rules,
            self._policy(),
            nodes=self.informers.nodes,
            features=self.informers.features,
            settings=FeatureSettings(provider=options.provider),
            is_awaited=self._is_awaited,
            told=self._provider_stands,
            failed=lambda node, error: log.failure("failed", controller="features", key=node, error=error),
            report=lambda trouble: log.warning(
                "trouble", resource=trouble.resource, what=trouble.what, error=trouble.error
            ),
        )
        self._vendors = pci_vendors(program.block("identity", maker) or {} for maker in program.makers)
        self._rule_keys = rules.keys
        self._controllers = make_controllers(
            self._observer, self.informers, self.fleet, options, self._cpu_rule, self.writer, client.clock, log
        )
        self._listen()

    async def run(self) -> None:
        """Until it is cancelled. Raises: ClusterError: the cluster refuses what is needed, or the lease was lost."""
        await prepare(self._client, self._options, self._reader, self._log)
        watching = (each.run() for each in (*self.informers.all(), *self.features.foreign.informers))
        await until_one_ends([*watching, self._work()])

    async def _work(self) -> None:
        if self.elector is None:
            await self._lead()
        else:
            self._log.info("waits for the lease", lease=f"{self._options.namespace}/{LEASE}")
            await self.elector.run(self._lead)

    async def _lead(self) -> None:
        self._log.info("leads", identity=self._options.identity)
        async with asyncio.TaskGroup() as group:
            for each in self._controllers.all():
                group.create_task(each.lead())
            group.create_task(self.features.lead())

    def _elector(self) -> Elector:
        def report(what: str, error: ClusterError | None) -> None:
            if error is not None:
                self._log.warning(what, error=error)

        given = ElectorSettings(name=LEASE, namespace=self._options.namespace, identity=self._options.identity)
        return Elector(self._client, given, report=report)

    def _listen(self) -> None:
        at = self.informers
        at.nodes.add_handler(self._take_node)
        at.features.add_handler(self._take_feature)
        at.flavors.add_handler(self._take_flavor)
        at.topologies.add_handler(self._take_topology)
        at.crds.add_handler(self._take_crd)
        at.secrets.add_handler(self._take_secret)
        at.rules.add_handler(lambda _before, _after: self._controllers.cpu_rule.notice([cpurule.NAME]))

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        if after is not None:
            if before is None:
                self._warn_of_name(after.metadata.name)
            self._see(after)
        elif before is not None:
            name = before.metadata.name
            self._labelled.pop(name, None)
            self.fleet.drop(name)
            self._gathering.soon()
            self._controllers.nodes.add([name])

    def _see(self, node: Node) -> None:
        seen = seen_node(node, self._observer.host_cpu(node))
        if self.fleet.node(seen.name) != seen:
            self.fleet.put(seen)
            self._gathering.soon()
            self._label(seen.name)
            self._controllers.nodes.add([seen.name])

    def _take_feature(self, before: NodeFeature | None, after: NodeFeature | None) -> None:
        names = {feature_object(each).target for each in (before, after) if each is not None} - {""}
        for name in sorted(names):
            node = self.informers.nodes.cache.get(name)
            if node is not None:
                self._see(node)
        self._controllers.nodes.add(names)

    def _take_flavor(self, before: Owned | None, after: Owned | None) -> None:
        there = [each for each in (before, after) if each is not None]
        self._controllers.flavors.notice(each.metadata.name for each in there)
        if after is None:
            self._controllers.topologies.add(str(each.spec.get("topologyName", "")) for each in there)

    def _take_topology(self, before: Owned | None, after: Owned | None) -> None:
        self._controllers.topologies.notice(each.metadata.name for each in (before, after) if each is not None)
        if before is None and after is not None:
            for node in self.fleet.nodes():
                self._label(node)

    def _take_crd(self, before: Object | None, after: Object | None) -> None:
        if after is None and before is not None:
            self._controllers.crds.add([before.metadata.name])

    def _take_secret(self, _before: Data | None, after: Data | None) -> None:
        old = self._observer.settings
        new = self._observer.settings = self._observer.read_settings(after)
        self._controllers.settings.add([settings.NAME])
        changed = changes(old, new)
        for key, why in new.refused.items():
            self._log.warning("a setting was refused", setting=key, error=why)
        if changed:
            self._log.info("settings changed", **changed)
            self.features.set_policy(self._policy())
            self.fleet.turn(new.values)
            self._gathering.soon()
            self._controllers.nodes.add(self.fleet.nodes())

    def _touch(self) -> None:
        touched = self.fleet.take()
        self._controllers.flavors.add(touched.flavors)
        self._controllers.topologies.add(touched.topologies)
        self._noticed.tell(self.fleet.conditions())

    def _label(self, node: str) -> None:
        """A Node gets its profile once the topology of that profile is there: in the provider's write, if that is ours."""
        if self._options.provider is Provider.NFD:
            self._controllers.profiles.add([node])
            return
        name = self.fleet.topology_of(node)
        if self._labelled.get(node) != name and self.informers.topologies.cache.get(name) is not None:
            self._labelled[node] = name
            self.features.put_direct_labels(node, self.fleet.profile_labels(node))

    def _is_awaited(self, node: str) -> bool:
        """Whether a Node's first write would soon be followed by another. Without Kueue there will be no profile."""
        has_kueue = self.informers.topologies.has_synced
        return (has_kueue and node not in self._labelled) or self._observer.worker_feature(node) is None

    def _policy(self) -> Policy:
        namespace = self._options.namespace
        return Policy(
            trust=Trust(namespace, self._options.trusted_namespaces),
            installation=namespace,
            is_management_manual=bool(self._observer.settings.values["nodeManagementManual"]),
        )

    def _warn_of_name(self, node: str) -> None:
        if too_long_for_nfd(self._options.provider, [node]):
            remedy = (
                "its name has more than 63 characters and fits no label: use a shorter one, or the built-in provider"
            )
            self._log.warning("a node that a real NFD cannot be told of", node=node, remedy=remedy)

    def _provider_stands(self, standing: Standing) -> None:
        is_well = standing.condition()["status"] == "True"
        tell = self._log.info if is_well else self._log.warning
        tell("features provider", reason=standing.reason, message=standing.message)
        told = self._observer.provider_trouble
        if is_well:
            self._observer.provider_trouble = None
        elif told is None or told[0] != standing.reason:
            # Signs of life come and go; one Event a reason is enough.
            self._observer.provider_trouble = standing.reason, standing.message
        self._controllers.settings.add([settings.NAME])
        self._controllers.cpu_rule.add([cpurule.NAME])

    def _cpu_rule(self, name: str) -> CpuRuleNeighbourhood:
        standing = self.features.standing
        return CpuRuleNeighbourhood(
            provider=self._options.provider,
            vendors=self._vendors,
            keys=self._rule_keys,
            live=self.informers.rules.cache.get(name),
            is_nfd_gone=standing.permission.may_adopt,
            again_after_seconds=standing.again_after_seconds,
        )
