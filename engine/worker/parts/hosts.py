"""What is known of each Node's host, and for how long a silent one is waited for.

Looks into caches and decides nothing; what comes of it is `controllers.nodefeature`.
"""

from __future__ import annotations

from engine.cluster.clock import Clock
from engine.cluster.objects import Node
from engine.domain.facts import CpuFacts
from engine.features.hostfacts import read_host
from engine.features.keys import WORKER_SUFFIX
from engine.features.merge import Merged, Trust, merge_objects
from engine.features.objects import NodeFeature, feature_object
from engine.sections.host_labels import fact_text
from engine.worker.controllers.nodefeature import NodeNeighbourhood, Patience
from engine.worker.fleet import Fleet
from engine.worker.options import Options
from engine.worker.watching import TARGET, Informers


class Hosts:
    """The hosts of all Nodes."""

    def __init__(self, informers: Informers, fleet: Fleet, options: Options, clock: Clock) -> None:
        self._seen = informers
        self._fleet = fleet
        self._options = options
        self._clock = clock
        self._trust = Trust(options.namespace, options.trusted_namespaces)
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

    def again_after_seconds(self, seen: NodeNeighbourhood) -> float | None:
        """When patience with a silent host ends, or is less."""
        if self._fleet.asker.knows_cpu(seen.node, seen.host) or seen.patience is Patience.OVER:
            return None
        since = self._clock.monotonic() - self._first_seen[seen.node.name]
        ends = (self._options.mark_after_seconds, self._options.unknown_cpu_after_seconds)
        return min((end - since for end in ends if end > since), default=None)

    def cpu(self, node: Node) -> CpuFacts | None:
        """What NodeFeatures state of a Node's CPU, or last stated; None where the Node's annotations tell of it."""
        told = node.metadata.annotations.get(f"{self._fleet.asker.keys.cpu_fact}name")
        if fact_text(told) is not None:
            return None
        known = self._fleet.node(node.metadata.name)
        stated = read_host(self._merged(node.metadata.name).features).cpu
        return known.host_cpu if stated is None and known is not None else stated

    def worker_feature(self, node: str) -> NodeFeature | None:
        """The worker's own object of a Node."""
        return self._seen.features.cache.get(node + WORKER_SUFFIX, self._options.namespace)

    def _merged(self, node: str) -> Merged:
        return merge_objects(map(feature_object, self._seen.features.cache.by_index(TARGET, node)), self._trust)

    def _patience(self, name: str) -> Patience:
        now = self._clock.monotonic()
        since = now - self._first_seen.setdefault(name, now)
        if since >= self._options.unknown_cpu_after_seconds:
            return Patience.OVER
        return Patience.MARK if since >= self._options.mark_after_seconds else Patience.WAIT
