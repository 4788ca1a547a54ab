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
from engine.features.foreign import Standing
from engine.features.merge import Trust
from engine.features.neighbourhood import Policy
from engine.features.objects import NodeFeature, feature_object
from engine.features.rules import HostRules
from engine.worker.asking import seen_node
from engine.worker.controllers import crd, nodefeature, resourceflavor, settings, topology
from engine.worker.fleet import Fleet
from engine.worker.gathering import Gathering
from engine.worker.log import Log
from engine.worker.loop import Controller, Work
from engine.worker.noticing import Noticed
from engine.worker.observing import Informers, Observer
from engine.worker.options import LEASE, Options
from engine.worker.prepare import prepare
from engine.worker.running import until_one_ends
from engine.worker.settings import SettingsReader, changes

COMPONENT: Final = "gpustack-operator-worker"
FLAVOR_WINDOW_SECONDS: Final = 3.0
NODE_WINDOW_SECONDS: Final = 0.2
TOPOLOGY_WINDOW_SECONDS: Final = 1.0
FLEET_WINDOW_SECONDS: Final = 0.25
"""A first change goes out at once, later ones of the key at the end of its window. Source: design §4, specification 20 §12;
the last is chosen: a cold start of 1,000 Nodes asks each flavor's rules some 40 times and not 1,000."""


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
        self.features = FeatureController(
            gated,
            self.writer,
            HostRules(program),
            self._policy(),
            nodes=self.informers.nodes,
            features=self.informers.features,
            is_awaited=self._is_awaited,
            told=self._provider_stands,
            failed=lambda node, error: log.failure("failed", controller="features", key=node, error=error),
            report=lambda trouble: log.warning(
                "trouble", resource=trouble.resource, what=trouble.what, error=trouble.error
            ),
        )
        self._make_controllers()
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
        controllers = (self._settings, self._crds, self._topologies, self._nodes, self._flavors)
        async with asyncio.TaskGroup() as group:
            for each in controllers:
                group.create_task(each.lead())
            group.create_task(self.features.lead())

    def _elector(self) -> Elector:
        def report(what: str, error: ClusterError | None) -> None:
            if error is not None:
                self._log.warning(what, error=error)

        given = ElectorSettings(name=LEASE, namespace=self._options.namespace, identity=self._options.identity)
        return Elector(self._client, given, report=report)

    def _make_controllers(self) -> None:
        seen, at = self._observer, self.informers
        fleet, common = self.fleet, (self.writer, at.known, self._client.clock, self._log)
        signs = (at.secrets, at.nodes, at.features)
        workers = self._options.workers
        self._settings = Controller(
            Work("settings", lambda: [settings.NAME], seen.secret, settings.plan, after=(at.secrets,)), *common
        )
        self._crds = Controller(Work("crd", seen.crd_names, seen.crd, crd.plan, after=(at.crds,)), *common)
        self._topologies = Controller(
            Work(
                "topology",
                seen.topology_names,
                seen.topology,
                topology.plan,
                window_seconds=TOPOLOGY_WINDOW_SECONDS,
                after=(*signs, at.flavors, at.topologies),
            ),
            *common,
        )
        self._nodes = Controller(
            Work(
                "nodefeature",
                fleet.nodes,
                seen.node,
                lambda node: nodefeature.plan(node, fleet.asker),
                again=seen.node_again,
                window_seconds=NODE_WINDOW_SECONDS,
                after=signs,
            ),
            *common,
            workers=workers,
        )
        self._flavors = Controller(
            Work(
                "flavor",
                seen.flavor_names,
                seen.flavor,
                resourceflavor.plan,
                again=resourceflavor.again_after_seconds,
                window_seconds=FLAVOR_WINDOW_SECONDS,
                after=(*signs, at.flavors),
            ),
            *common,
            workers=workers,
        )

    def _listen(self) -> None:
        at = self.informers
        at.nodes.add_handler(self._take_node)
        at.features.add_handler(self._take_feature)
        at.flavors.add_handler(self._take_flavor)
        at.topologies.add_handler(self._take_topology)
        at.crds.add_handler(self._take_crd)
        at.secrets.add_handler(self._take_secret)

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        if after is not None:
            seen = seen_node(after)
            if self.fleet.node(seen.name) == seen:
                return
            self.fleet.put(seen)
            self._gathering.soon()
            self._label(seen.name)
            self._nodes.add([seen.name])
        elif before is not None:
            name = before.metadata.name
            self._labelled.pop(name, None)
            self.fleet.drop(name)
            self._gathering.soon()
            self._nodes.add([name])

    def _take_feature(self, before: NodeFeature | None, after: NodeFeature | None) -> None:
        self._nodes.add({feature_object(each).target for each in (before, after) if each is not None} - {""})

    def _take_flavor(self, before: Owned | None, after: Owned | None) -> None:
        there = [each for each in (before, after) if each is not None]
        self._flavors.notice(each.metadata.name for each in there)
        if after is None:
            self._topologies.add(str(each.spec.get("topologyName", "")) for each in there)

    def _take_topology(self, before: Owned | None, after: Owned | None) -> None:
        self._topologies.notice(each.metadata.name for each in (before, after) if each is not None)
        if before is None and after is not None:
            for node in self.fleet.nodes():
                self._label(node)

    def _take_crd(self, before: Object | None, after: Object | None) -> None:
        if after is None and before is not None:
            self._crds.add([before.metadata.name])

    def _take_secret(self, _before: Data | None, after: Data | None) -> None:
        old = self._observer.settings
        new = self._observer.settings = self._observer.read_settings(after)
        self._settings.add([settings.NAME])
        changed = changes(old, new)
        for key, why in new.refused.items():
            self._log.warning("a setting was refused", setting=key, error=why)
        if changed:
            self._log.info("settings changed", **changed)
            self.features.set_policy(self._policy())
            self.fleet.turn(new.values)
            self._gathering.soon()
            self._nodes.add(self.fleet.nodes())

    def _touch(self) -> None:
        touched = self.fleet.take()
        self._flavors.add(touched.flavors)
        self._topologies.add(touched.topologies)
        self._noticed.tell(self.fleet.conditions())

    def _label(self, node: str) -> None:
        """A Node gets its profile once the topology of that profile is there, in the provider's own write."""
        name = self.fleet.topology_of(node)
        if self._labelled.get(node) != name and self.informers.topologies.cache.get(name) is not None:
            self._labelled[node] = name
            self.features.put_direct_labels(node, self.fleet.profile_labels(node))

    def _is_awaited(self, node: str) -> bool:
        """Whether a Node's first write would soon be followed by another."""
        return node not in self._labelled or self._observer.worker_feature(node) is None

    def _policy(self) -> Policy:
        namespace = self._options.namespace
        return Policy(
            trust=Trust(namespace, self._options.trusted_namespaces),
            installation=namespace,
            is_management_manual=bool(self._observer.settings.values["nodeManagementManual"]),
        )

    def _provider_stands(self, standing: Standing) -> None:
        self._log.info("features provider", reason=standing.reason, message=standing.message)
