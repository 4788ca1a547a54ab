"""Labels of Nodes: the worker's NodeFeature of each, and the provider that puts NodeFeatures onto Nodes.

With a real NFD that provider is somebody else, and the worker labels a Node with its topology profile alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engine.cluster.objects import Node, Owned
from engine.features.controller import FeatureController
from engine.features.controller import Settings as FeatureSettings
from engine.features.cpu_info import pci_vendors
from engine.features.foreign import Provider, Standing, too_long_for_nfd
from engine.features.merge import Trust
from engine.features.neighbourhood import Policy
from engine.features.objects import NodeFeature, feature_object
from engine.features.rules import HostRules
from engine.worker.controllers import cpurule, nodefeature, nodeprofile
from engine.worker.controllers.cpurule import CpuRuleNeighbourhood
from engine.worker.controllers.nodeprofile import NodeProfileNeighbourhood
from engine.worker.loop import Work
from engine.worker.parts.hosts import Hosts
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

NODE_WINDOW_SECONDS: Final = 0.2
"""Source: design §4, specification 20 §12."""

Told = Callable[[tuple[str, str] | None], None]
"""Told of a provider in trouble: its reason and a message; None when it is well."""


class FeaturesPart:
    """Worker NodeFeatures, profiles, the rule object of a real NFD, and the built-in provider."""

    def __init__(self, stage: Stage, hosts: Hosts, told: Told) -> None:
        self._stage = stage
        self._told = told
        self._hosts = hosts
        self._trouble: str | None = None
        self._labelled: dict[str, str] = {}
        self._rules = HostRules(stage.rules.program)
        self.provider = self._make_provider()
        at, workers = stage.informers, stage.options.workers
        self._nodes = stage.controller(
            Work(
                "nodefeature",
                stage.fleet.nodes,
                hosts.node,
                lambda seen: nodefeature.plan(seen, stage.fleet.asker),
                again=hosts.again_after_seconds,
                window_seconds=NODE_WINDOW_SECONDS,
                after=(at.secrets, at.nodes, at.features),
            ),
            workers=workers,
        )
        self._profiles = stage.controller(
            Work(
                "node-profile",
                stage.fleet.nodes if self._is_foreign else list[str],
                self._profile,
                nodeprofile.plan,
                window_seconds=NODE_WINDOW_SECONDS,
                after=(at.secrets, at.nodes, at.features, at.topologies),
            ),
            workers=workers,
        )
        self._cpu_rule = stage.controller(
            Work(
                "cpu-info",
                lambda: [cpurule.NAME],
                self._seen_cpu_rule,
                cpurule.plan,
                again=cpurule.again_after_seconds,
                after=(at.rules,),
            )
        )
        stage.urgent.add(lambda: self._nodes.queue)
        stage.urgent.add(lambda: self.provider.queue)
        at.nodes.add_handler(self._take_node, of_versions=False)
        at.features.add_handler(self._take_feature)
        at.topologies.add_handler(self._take_topology)
        at.rules.add_handler(lambda _before, _after: self._cpu_rule.notice([cpurule.NAME]))

    def leads(self) -> Sequence[Leads]:
        return (self._cpu_rule, self._nodes, self._profiles, self.provider)

    def see(self, node: str) -> None:
        """What is read of a Node is another; told at once."""
        self._label(node)
        self._nodes.add([node])

    def take(self, _touched: Touched) -> None:
        """Every Node was seen by then."""

    def turn(self) -> None:
        self._rules = HostRules(self._stage.rules.program)
        self.provider.set_rules(self._rules)
        self.provider.set_policy(self._policy())
        self._nodes.add(self._stage.fleet.nodes())
        self._cpu_rule.add([cpurule.NAME])
        for node in self._stage.fleet.nodes():
            self._label(node)

    @property
    def _is_foreign(self) -> bool:
        return self._stage.options.provider is Provider.NFD

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        if after is None and before is not None:
            self._labelled.pop(before.metadata.name, None)
            self._nodes.add([before.metadata.name])
        elif before is None and after is not None:
            self._warn_of_name(after.metadata.name)

    def _take_feature(self, before: NodeFeature | None, after: NodeFeature | None) -> None:
        self._nodes.add({feature_object(each).target for each in (before, after) if each is not None} - {""})

    def _take_topology(self, before: Owned | None, after: Owned | None) -> None:
        if before is None and after is not None:
            for node in self._stage.fleet.nodes():
                self._label(node)

    def _label(self, node: str) -> None:
        """A Node gets its profile once the topology of that profile is there: in the provider's write, if that is ours."""
        if self._is_foreign:
            self._profiles.add([node])
            return
        fleet = self._stage.fleet
        name = fleet.topology_of(node)
        if self._labelled.get(node) != name and self._stage.informers.topologies.cache.get(name) is not None:
            self._labelled[node] = name
            self.provider.put_direct_labels(node, fleet.profile_labels(node))

    def _profile(self, name: str) -> NodeProfileNeighbourhood | None:
        node = self._stage.informers.nodes.cache.get(name)
        if node is None:
            return None
        fleet = self._stage.fleet
        is_there = self._stage.informers.topologies.cache.get(fleet.topology_of(name)) is not None
        return NodeProfileNeighbourhood(node, fleet.profile_labels(name) if is_there else {})

    def _is_awaited(self, node: str) -> bool:
        """Whether a Node's first write would soon be followed by another. Without Kueue there will be no profile."""
        has_kueue = self._stage.informers.topologies.has_synced
        return (has_kueue and node not in self._labelled) or self._hosts.worker_feature(node) is None

    def _make_provider(self) -> FeatureController:
        stage, log = self._stage, self._stage.log
        return FeatureController(
            stage.client,
            stage.writer,
            self._rules,
            self._policy(),
            nodes=stage.informers.nodes,
            features=stage.informers.features,
            settings=FeatureSettings(provider=stage.options.provider),
            turns=stage.node_turns,
            is_awaited=self._is_awaited,
            told=self._provider_stands,
            failed=lambda node, error: log.failure("failed", controller="features", key=node, error=error),
            report=stage.informers.report,
        )

    def _policy(self) -> Policy:
        options = self._stage.options
        return Policy(
            trust=Trust(options.namespace, options.trusted_namespaces),
            installation=options.namespace,
            is_management_manual=bool(self._stage.rules.settings["nodeManagementManual"]),
        )

    def _warn_of_name(self, node: str) -> None:
        if too_long_for_nfd(self._stage.options.provider, [node]):
            remedy = (
                "its name has more than 63 characters and fits no label: use a shorter one, or the built-in provider"
            )
            self._stage.log.warning("a node that a real NFD cannot be told of", node=node, remedy=remedy)

    def _provider_stands(self, standing: Standing) -> None:
        is_well = standing.condition()["status"] == "True"
        tell = self._stage.log.info if is_well else self._stage.log.warning
        tell("features provider", reason=standing.reason, message=standing.message)
        if is_well:
            self._trouble = None
            self._told(None)
        elif self._trouble != standing.reason:
            # Signs of life come and go; one Event a reason is enough.
            self._trouble = standing.reason
            self._told((standing.reason, standing.message))
        self._cpu_rule.add([cpurule.NAME])

    def _seen_cpu_rule(self, name: str) -> CpuRuleNeighbourhood:
        standing, program = self.provider.standing, self._stage.rules.program
        return CpuRuleNeighbourhood(
            provider=self._stage.options.provider,
            vendors=pci_vendors(program.block("identity", maker) or {} for maker in program.makers),
            keys=self._rules.keys,
            live=self._stage.informers.rules.cache.get(name),
            is_nfd_gone=standing.permission.may_adopt,
            again_after_seconds=standing.again_after_seconds,
        )
