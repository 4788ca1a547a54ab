"""What the worker watches: one informer a kind, shared by every part.

What the features provider watches of a real NFD, and what one part alone needs, is added by them. Looks at nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.api.devices import Devices
from engine.cluster.client import Client, Selection
from engine.cluster.informer import Informer, InformerSettings, Trouble
from engine.cluster.objects import Data, Namespace, Node, Object, Owned
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    CRDS,
    INSTANCE_TYPE_FLAVORS,
    INSTANCE_TYPES,
    LOCAL_QUEUES,
    NAMESPACES,
    NODE_FEATURE_RULES,
    NODES,
    RESOURCE_FLAVORS,
    SECRETS,
    TOPOLOGIES,
    HasMeta,
    ObjectKey,
    Resource,
)
from engine.features.objects import READ_NODE_FEATURES, NodeFeature, feature_object
from engine.worker.cards import READ_DEVICES
from engine.worker.controllers import cpurule
from engine.worker.controllers import settings as settings_kind
from engine.worker.log import Log

NODE_REST_SECONDS: Final = 0.2
"""1,000 kubelets that repeat their status are 100 events a second of which none says anything. Chosen: the window in which
changes of a Node are gathered anyway."""

TARGET: Final = "target"
TOPOLOGY: Final = "topology"
_BARE_CRDS: Final[Resource[Object]] = replace(CRDS, struct=Object)  # type: ignore[arg-type,assignment]
"""Definitions by name alone: a whole one of Kueue's is a megabyte."""


@dataclass(frozen=True, slots=True)
class Informers:
    """Everything that several parts look at; `others` are what single parts have added."""

    nodes: Informer[Node]
    features: Informer[NodeFeature]
    devices: Informer[Devices]
    flavors: Informer[Owned]
    topologies: Informer[Owned]
    types: Informer[Owned]
    type_flavors: Informer[Owned]
    queues: Informer[Owned]
    local_queues: Informer[Owned]
    checks: Informer[Owned]
    namespaces: Informer[Namespace]
    crds: Informer[Object]
    secrets: Informer[Data]
    rules: Informer[Owned]
    others: list[Informer[Any]]
    report: Callable[[Trouble], None]

    @classmethod
    def of(cls, client: Client, namespace: str, log: Log) -> Informers:
        """The informers, not yet running."""
        report = _reporter(log)

        def informer(resource: Resource[Any], selection: Selection | None = None) -> Informer[Any]:
            return Informer(client, resource, selection or Selection(), report=report)

        made = cls(
            nodes=Informer(client, NODES, settings=InformerSettings(rest_seconds=NODE_REST_SECONDS), report=report),
            features=informer(READ_NODE_FEATURES),
            devices=informer(READ_DEVICES),
            flavors=informer(RESOURCE_FLAVORS),
            topologies=informer(TOPOLOGIES),
            types=informer(INSTANCE_TYPES),
            type_flavors=informer(INSTANCE_TYPE_FLAVORS),
            queues=informer(CLUSTER_QUEUES),
            local_queues=informer(LOCAL_QUEUES),
            checks=informer(ADMISSION_CHECKS),
            namespaces=informer(NAMESPACES),
            crds=informer(_BARE_CRDS),
            secrets=informer(SECRETS, Selection(namespace, fields=f"metadata.name={settings_kind.NAME}")),
            rules=informer(NODE_FEATURE_RULES, Selection(fields=f"metadata.name={cpurule.NAME}")),
            others=[],
            report=report,
        )
        made.features.cache.add_index(TARGET, lambda each: [feature_object(each).target])
        made.flavors.cache.add_index(TOPOLOGY, lambda each: [str(each.spec.get("topologyName", ""))])
        return made

    def add(self, informer: Informer[Any]) -> None:
        """One more, of a kind that a single part watches; before anything runs."""
        self.others.append(informer)

    def all(self) -> tuple[Informer[Any], ...]:
        return (self.nodes, self.features, self.devices, *self._compared(), self.namespaces, self.crds, *self.others)

    def waiting_for(self) -> list[str]:
        """The kinds that have not been listed yet."""
        return sorted(str(each.resource) for each in self.all() if not each.has_synced)

    def known(self, resource: Resource[HasMeta], key: ObjectKey) -> HasMeta | None:
        """An object as last seen, for a writer that compares before it writes; None where too little of it is kept."""
        for each in (self.features, *self._compared()):
            if each.resource.plural == resource.plural and each.resource.group == resource.group:
                found: HasMeta | None = each.cache.get(key.name, key.namespace)
                return found
        return None

    def learn(self, resource: Resource[Any], written: HasMeta) -> None:
        """An object as the answer to a write has it, so that the next plan need not wait for the watch."""
        for each in self.all():
            at = each.resource
            if at.struct is type(written) and (at.plural, at.group) == (resource.plural, resource.group):
                each.learn(written)

    def _compared(self) -> Iterator[Informer[Any]]:
        yield from (self.flavors, self.topologies, self.types, self.type_flavors, self.queues, self.local_queues)
        yield from (self.checks, self.secrets, self.rules)


def _reporter(log: Log) -> Callable[[Trouble], None]:
    told: dict[str, str] = {}

    def report(trouble: Trouble) -> None:
        # An informer tries for ever; the same trouble is told once.
        text = f"{trouble.what}: {trouble.error or trouble.broken}"
        if told.get(trouble.resource) != text:
            told[trouble.resource] = text
            log.warning("trouble", resource=trouble.resource, what=trouble.what, error=trouble.error, of=trouble.broken)

    return report
