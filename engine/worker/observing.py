"""The neighbourhood of each key, put together from what informers hold: the edge between a cluster and pure plans.

Looks and decides nothing; what it gives is complete, so that a plan needs nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from engine.cluster.cache import Cache
from engine.cluster.client import Client, Selection
from engine.cluster.clock import Clock
from engine.cluster.informer import Informer, Trouble
from engine.cluster.objects import Data, Node, Object, Owned
from engine.cluster.resources import (
    CRDS,
    NODE_FEATURE_RULES,
    NODES,
    RESOURCE_FLAVORS,
    SECRETS,
    TOPOLOGIES,
    HasMeta,
    ObjectKey,
    Resource,
)
from engine.domain.facts import CpuFacts
from engine.features.hostfacts import read_host
from engine.features.keys import WORKER_SUFFIX
from engine.features.merge import Merged, Trust, merge_objects
from engine.features.objects import READ_NODE_FEATURES, NodeFeature, feature_object
from engine.sections.host_labels import fact_text
from engine.worker.controllers import cpurule
from engine.worker.controllers import settings as settings_kind
from engine.worker.controllers.crd import CrdNeighbourhood, documents
from engine.worker.controllers.nodefeature import NodeNeighbourhood, Patience
from engine.worker.controllers.nodeprofile import NodeProfileNeighbourhood
from engine.worker.controllers.resourceflavor import FlavorNeighbourhood, is_ours
from engine.worker.controllers.settings import SettingsNeighbourhood
from engine.worker.controllers.topology import TopologyNeighbourhood
from engine.worker.fleet import Fleet
from engine.worker.log import Log
from engine.worker.options import Options
from engine.worker.settings import ReadSettings, SettingsReader

TARGET: Final = "target"
TOPOLOGY: Final = "topology"
_BARE_CRDS: Final[Resource[Object]] = replace(CRDS, struct=Object)  # type: ignore[arg-type,assignment]
"""Definitions by name alone: a whole one of Kueue's is a megabyte."""


@dataclass(frozen=True, slots=True)
class Informers:
    """Everything that is watched, but for what the features provider watches of a real NFD."""

    nodes: Informer[Node]
    features: Informer[NodeFeature]
    flavors: Informer[Owned]
    topologies: Informer[Owned]
    crds: Informer[Object]
    secrets: Informer[Data]
    rules: Informer[Owned]

    @classmethod
    def of(cls, client: Client, namespace: str, log: Log) -> Informers:
        """The informers, not yet running."""
        told: dict[str, str] = {}

        def report(trouble: Trouble) -> None:
            # An informer tries for ever; the same trouble is told once.
            text = f"{trouble.what}: {trouble.error or trouble.broken}"
            if told.get(trouble.resource) != text:
                told[trouble.resource] = text
                log.warning(
                    "trouble", resource=trouble.resource, what=trouble.what, error=trouble.error, of=trouble.broken
                )

        made = cls(
            nodes=Informer(client, NODES, report=report),
            features=Informer(client, READ_NODE_FEATURES, report=report),
            flavors=Informer(client, RESOURCE_FLAVORS, report=report),
            topologies=Informer(client, TOPOLOGIES, report=report),
            crds=Informer(client, _BARE_CRDS, report=report),
            secrets=Informer(
                client, SECRETS, Selection(namespace, fields=f"metadata.name={settings_kind.NAME}"), report=report
            ),
            rules=Informer(
                client, NODE_FEATURE_RULES, Selection(fields=f"metadata.name={cpurule.NAME}"), report=report
            ),
        )
        made.features.cache.add_index(TARGET, lambda each: [feature_object(each).target])
        made.flavors.cache.add_index(TOPOLOGY, lambda each: [str(each.spec.get("topologyName", ""))])
        return made

    def all(
        self,
    ) -> tuple[Informer[Node] | Informer[NodeFeature] | Informer[Owned] | Informer[Object] | Informer[Data], ...]:
        return (self.nodes, self.features, self.flavors, self.topologies, self.crds, self.secrets, self.rules)

    def known(self, resource: Resource[HasMeta], key: ObjectKey) -> HasMeta | None:
        """An object as last seen, for a writer that compares before it writes."""
        caches: dict[str, Cache[NodeFeature] | Cache[Owned] | Cache[Object] | Cache[Data]] = {
            str(each.resource): each.cache
            for each in (self.features, self.flavors, self.topologies, self.secrets, self.rules)
        }
        cache = caches.get(str(resource))
        return cache.get(key.name, key.namespace) if cache is not None else None


class Observer:
    """Gives neighbourhoods. `settings` and the fleet are kept up to date by whoever is told of changes."""

    def __init__(
        self, informers: Informers, fleet: Fleet, options: Options, reader: SettingsReader, clock: Clock
    ) -> None:
        self.settings: ReadSettings = reader.first()
        self.provider_trouble: tuple[str, str] | None = None
        self._seen = informers
        self._fleet = fleet
        self._options = options
        self._reader = reader
        self._clock = clock
        self._trust = Trust(options.namespace, options.trusted_namespaces)
        self._documents = documents()
        self._first_seen: dict[str, float] = {}

    def node(self, name: str) -> NodeNeighbourhood | None:
        """A Node and what its NodeFeatures say."""
        node = self._fleet.node(name)
        if node is None:
            self._first_seen.pop(name, None)
            return None
        merged = self._merged(name)
        key = self._fleet.asker.keys.is_acceleratable
        return NodeNeighbourhood(
            node=node,
            namespace=self._options.namespace,
            host=read_host(merged.features),
            is_accelerated=merged.labels.get(key, node.labels.get(key)) == "true",
            live=self.worker_feature(name),
            patience=self._patience(name),
        )

    def host_cpu(self, node: Node) -> CpuFacts | None:
        """What NodeFeatures state of a Node's CPU, or last stated; None where the Node's annotations tell of it."""
        told = node.metadata.annotations.get(f"{self._fleet.asker.keys.cpu_fact}name")
        if fact_text(told) is not None:
            return None
        known = self._fleet.node(node.metadata.name)
        stated = read_host(self._merged(node.metadata.name).features).cpu
        return known.host_cpu if stated is None and known is not None else stated

    def node_again(self, seen: NodeNeighbourhood) -> float | None:
        """When patience with a silent host ends, or is less."""
        if self._fleet.asker.knows_cpu(seen.node, seen.host) or seen.patience is Patience.OVER:
            return None
        since = self._clock.monotonic() - self._first_seen[seen.node.name]
        ends = (self._options.mark_after_seconds, self._options.unknown_cpu_after_seconds)
        return min((end - since for end in ends if end > since), default=None)

    def worker_feature(self, node: str) -> NodeFeature | None:
        """The worker's own object of a Node."""
        return self._seen.features.cache.get(node + WORKER_SUFFIX, self._options.namespace)

    def flavor(self, name: str) -> FlavorNeighbourhood:
        """A flavor: what Nodes come to, and what is there."""
        wanted, live = self._fleet.flavor(name), self._seen.flavors.cache.get(name)
        is_leaving = wanted is None and live is not None
        selector = live.spec.get("nodeLabels", {}) if live is not None else {}
        return FlavorNeighbourhood(
            name=name,
            keys=self._fleet.asker.keys,
            wanted=wanted,
            live=live,
            unprofiled=self._fleet.unprofiled(selector) if is_leaving else (),
            untold=self._fleet.untold() if is_leaving else (),
        )

    def flavor_names(self) -> set[str]:
        """All that Nodes come to or came to."""
        keys = self._fleet.asker.keys
        return {
            *self._fleet.flavor_names(),
            *(each.metadata.name for each in self._seen.flavors.cache if is_ours(each, keys)),
        }

    def topology(self, name: str) -> TopologyNeighbourhood:
        """A topology, and the flavors that name it."""
        wanted = self._fleet.topology(name)
        return TopologyNeighbourhood(
            name=name,
            keys=self._fleet.asker.keys,
            wanted=wanted,
            live=self._seen.topologies.cache.get(name),
            users=tuple(each.metadata.name for each in self._seen.flavors.cache.by_index(TOPOLOGY, name)),
            untold=() if wanted is not None else self._fleet.untold(),
        )

    def topology_names(self) -> set[str]:
        """All that Nodes are in, and all that are there."""
        named = {self._fleet.topology_of(node) for node in self._fleet.nodes()} - {""}
        return named | {each.metadata.name for each in self._seen.topologies.cache}

    def profile(self, name: str) -> NodeProfileNeighbourhood | None:
        """A Node and the labels of its topology, once that is there."""
        node = self._seen.nodes.cache.get(name)
        if node is None:
            return None
        is_there = self._seen.topologies.cache.get(self._fleet.topology_of(name)) is not None
        return NodeProfileNeighbourhood(node, self._fleet.profile_labels(name) if is_there else {})

    def crd(self, name: str) -> CrdNeighbourhood | None:
        """A definition that the worker brings."""
        document = self._documents.get(name)
        return None if document is None else CrdNeighbourhood(document, self._seen.crds.cache.get(name))

    def crd_names(self) -> list[str]:
        """All that the worker brings."""
        return sorted(self._documents)

    def secret(self, _name: str) -> SettingsNeighbourhood:
        """The Secret of settings."""
        return SettingsNeighbourhood(
            namespace=self._options.namespace,
            seeds=self._reader.seeds,
            live=self._seen.secrets.cache.get(settings_kind.NAME, self._options.namespace),
            unknown=self.settings.settings.unknown,
            refused=self.settings.refused,
            provider=self.provider_trouble,
        )

    def read_settings(self, secret: Data | None) -> ReadSettings:
        """The settings that are in force by a Secret."""
        return self._reader.read(None if secret is None else secret.data, self.settings)

    def _merged(self, node: str) -> Merged:
        return merge_objects(map(feature_object, self._seen.features.cache.by_index(TARGET, node)), self._trust)

    def _patience(self, name: str) -> Patience:
        now = self._clock.monotonic()
        since = now - self._first_seen.setdefault(name, now)
        if since >= self._options.unknown_cpu_after_seconds:
            return Patience.OVER
        return Patience.MARK if since >= self._options.mark_after_seconds else Patience.WAIT
