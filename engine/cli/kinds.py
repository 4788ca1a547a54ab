"""The kinds that `engine plan` shows: their names as kubectl takes them, and where table and objects come from.

Knows nothing of how a table is laid out. Order is the order in which kinds are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from engine.chain.chain import Chain
from engine.chain.node import NodePlan
from engine.errors import InputError, UsageError
from engine.lang.diagnostics import nearest
from engine.sections.resources import Transformation, resource_names
from engine.worker.options import SYSTEM_NAMESPACE
from engine.worker.render import tables
from engine.worker.render.clusterqueue import cluster_queue
from engine.worker.render.devices import devices
from engine.worker.render.instancetype import instance_type
from engine.worker.render.instancetypeflavor import instance_type_flavor
from engine.worker.render.kueue_configuration import kueue_configuration
from engine.worker.render.localqueue import local_queue
from engine.worker.render.node import node
from engine.worker.render.nodefeature import device_manager_node_feature, host_node_feature, worker_node_feature
from engine.worker.render.resourceflavor import resource_flavor
from engine.worker.render.tables import Table
from engine.worker.render.topology import topology

Object = dict[str, Any]
KUEUE: Final = "kueue.x-k8s.io"
WORKER: Final = "worker.gpustack.ai"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. Shape: `plural` as in its API; `short` further names; `group` empty for Kubernetes' core."""

    name: str
    plural: str
    group: str
    short: tuple[str, ...]
    table: Callable[[Chain, bool], Table]
    objects: Callable[[Chain], Iterable[Object]]

    @property
    def singular(self) -> str:
        """The name in lower case, as kubectl writes it before a slash."""
        return self.name.lower()

    @property
    def prefix(self) -> str:
        """`instancetype.worker.gpustack.ai`."""
        return f"{self.singular}.{self.group}" if self.group else self.singular

    @property
    def names(self) -> tuple[str, ...]:
        """All names a person may use."""
        return (self.plural, self.singular, *self.short, f"{self.plural}.{self.group}", self.prefix)


DEFAULT: Final = ("resourceflavors", "clusterqueues", "instancetypes", "instancetypeflavors")


def parse_kinds(texts: Iterable[str]) -> list[Kind]:
    """The kinds of comma-separated lists, each once, in the order given.

    Raises: UsageError: a name that no kind has.
    """
    named = [word.strip() for text in texts for word in text.split(",")]
    return list(dict.fromkeys(kind_of(word) for word in named if word))


def kind_of(word: str) -> Kind:
    """The kind of that name, plural, singular or short, with or without its group.

    Raises: UsageError: there is none; the message names the nearest.
    """
    found = _BY_NAME.get(word.lower())
    if found is None:
        near = nearest(word.lower(), _BY_NAME)
        known = ", ".join(kind.plural for kind in KINDS)
        raise UsageError(f"there is no kind {word}", remedy=f"did you mean {near}?" if near else f"known: {known}")
    return found


def _slots(chain: Chain) -> dict[str, tuple[str, ...]]:
    makers = chain.program.makers
    return {maker: tuple((chain.program.block("identity", maker) or {}).get("slots") or ()) for maker in makers}


def _devices(chain: Chain) -> Iterator[Object]:
    slots = _slots(chain)
    made = (devices(plan, slots) for plan in chain.nodes())
    return (each for each in made if each is not None)


def _node_features(chain: Chain) -> Iterator[Object]:
    for plan in chain.nodes():
        yield from _features_of(plan)


def _features_of(plan: NodePlan) -> Iterator[Object]:
    for made in (host_node_feature(plan), device_manager_node_feature(plan), worker_node_feature(plan)):
        if made is not None:
            yield made


def _node_feature_table(chain: Chain, _wide: bool) -> Table:
    rows = [(made["metadata"]["namespace"], made["metadata"]["name"]) for made in _node_features(chain)]
    return Table(("NAMESPACE", "NAME"), tuple(rows))


def _transformations(chain: Chain) -> Iterator[Transformation]:
    for maker in chain.program.makers:
        answer = resource_names(chain.program, maker)
        if answer.value is None:
            raise InputError(
                f"the resources of {maker} cannot be told",
                why=answer.reason or "section resources gives none",
                remedy="without them requests would be admitted uncharged: mend the section",
            )
        yield from answer.value.transformations


def _transformation_table(chain: Chain, _wide: bool) -> Table:
    rows = tuple(
        (each.input, each.multiply_by or "", ",".join(f"{name}={amount}" for name, amount in each.outputs))
        for each in _transformations(chain)
    )
    return Table(("INPUT", "MULTIPLY BY", "OUTPUTS"), rows)


def _configuration(chain: Chain) -> Iterator[Object]:
    yield kueue_configuration(_transformations(chain), SYSTEM_NAMESPACE)


def _table(function: Callable[..., Table], fields: Callable[[Chain], Iterable[Any]], chain: Chain, wide: bool) -> Table:
    return function(fields(chain), wide=wide)


def _objects(
    function: Callable[[Any], Object], fields: Callable[[Chain], Iterable[Any]], chain: Chain
) -> Iterator[Object]:
    return map(function, fields(chain))


def _resource_flavors(chain: Chain) -> Iterator[Object]:
    return (resource_flavor(flavor, chain.note_prefix) for flavor in chain.flavors())


def _kind(
    name: str,
    plural: str,
    group: str,
    short: tuple[str, ...],
    fields: Callable[[Chain], Iterable[Any]],
    table: Callable[..., Table],
    render: Callable[[Any], Object],
) -> Kind:
    return Kind(name, plural, group, short, partial(_table, table, fields), partial(_objects, render, fields))


KINDS: Final = (
    _kind("Node", "nodes", "", ("no",), Chain.nodes, tables.nodes, node),
    Kind("NodeFeature", "nodefeatures", "nfd.k8s-sigs.io", (), _node_feature_table, _node_features),
    Kind("Devices", "devices", WORKER, ("device",), partial(_table, tables.devices, Chain.nodes), _devices),
    _kind("Topology", "topologies", KUEUE, ("topo",), Chain.topologies, tables.topologies, topology),
    Kind(
        "ResourceFlavor",
        "resourceflavors",
        KUEUE,
        ("flavor", "flavors", "rf"),
        partial(_table, tables.resource_flavors, Chain.flavors),
        _resource_flavors,
    ),
    _kind("ClusterQueue", "clusterqueues", KUEUE, ("cq",), Chain.queues, tables.cluster_queues, cluster_queue),
    _kind(
        "LocalQueue",
        "localqueues",
        KUEUE,
        ("lq", "queue", "queues"),
        Chain.local_queues,
        tables.local_queues,
        local_queue,
    ),
    _kind("InstanceType", "instancetypes", WORKER, ("instype",), Chain.types, tables.instance_types, instance_type),
    _kind(
        "InstanceTypeFlavor",
        "instancetypeflavors",
        WORKER,
        ("instypeflavor",),
        Chain.catalogue,
        tables.instance_type_flavors,
        instance_type_flavor,
    ),
    Kind(
        "Configuration",
        "configurations",
        "config.kueue.x-k8s.io",
        ("kueue-configuration",),
        _transformation_table,
        _configuration,
    ),
)
_BY_NAME: Final = {name: kind for kind in KINDS for name in kind.names}
