"""Tables as kubectl shows them: columns and rows of text, one function a kind.

Widths, colours and time are not known here. A wide table is the plain one with more columns at its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engine.chain.fields import (
    CatalogueRow,
    FlavorFields,
    LocalQueueFields,
    QueueFields,
    TopologyFields,
    TypeFields,
)
from engine.chain.node import NodePlan
from engine.values.quantities import canonical
from engine.worker.render import cells

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Column names and rows of as many cells; an empty cell is an empty text."""

    columns: Row
    rows: tuple[Row, ...]


def resource_flavors(flavors: Iterable[FlavorFields], *, wide: bool = False) -> Table:
    """Wide: what is behind the flavor."""
    rows = []
    for flavor in flavors:
        more = (flavor.topology_name, str(flavor.nodes), str(flavor.key.count), str(flavor.capacity))
        rows.append((flavor.name, *(more if wide else ())))
    return _table(("NAME",), ("TOPOLOGY", "NODES", "COUNT", "CAPACITY"), rows, wide=wide)


def topologies(topologies: Iterable[TopologyFields], *, wide: bool = False) -> Table:
    """Wide: the levels."""
    rows = [(each.name, *((",".join(each.levels),) if wide else ())) for each in topologies]
    return _table(("NAME",), ("LEVELS",), rows, wide=wide)


def cluster_queues(queues: Iterable[QueueFields], *, wide: bool = False) -> Table:
    """Kueue's own columns; wide: the stop policy and the quotas. Nothing is pending offline."""
    rows = []
    for queue in queues:
        quotas = ",".join(f"{quota.flavor}={canonical(quota.nominal)}" for quota in queue.state.groups)
        more = (queue.state.stop_policy or "None", quotas)
        rows.append((queue.name, "", "0", *(more if wide else ())))
    return _table(("NAME", "COHORT", "PENDING WORKLOADS"), ("STOP POLICY", "QUOTAS"), rows, wide=wide)


def local_queues(queues: Iterable[LocalQueueFields], *, wide: bool = False) -> Table:
    """As `kubectl get localqueue -A`."""
    rows = [(each.namespace, each.name, each.queue, "0", "0") for each in queues]
    return _table(("NAMESPACE", "NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS"), (), rows, wide=wide)


def instance_types(types: Iterable[TypeFields], *, wide: bool = False) -> Table:
    """Source: specification 20 §6.8. Wide: partitions left."""
    rows = []
    for each in types:
        views = each.status.accelerator
        rows.append(
            (
                each.name,
                each.entrance,
                cells.unit_storage(each.spec),
                cells.accelerator(views),
                cells.pair(each.status.cpu),
                each.status.phase,
                *((cells.partitions(views.partitioned.remaining_profiles),) if wide else ()),
            )
        )
    columns = ("NAME", "ENTRANCE", "UNIT(CPU/RAM)/STORAGE", "ACCELERATOR(EX/SH/SL/PT)", "CPU", "PHASE")
    return _table(columns, ("PARTITIONS",), rows, wide=wide)


def instance_type_flavors(catalogue: Iterable[CatalogueRow], *, wide: bool = False) -> Table:
    """Source: specification 20 §6.9; what is absent or false is blank, except in ACCELERATABLE. Wide: the family."""
    fields = (
        "generalGroup",
        "acceleratorGroup",
        "acceleratable",
        "manufacturer",
        "product",
        "memory",
        "cores",
        "sliceable",
    )
    rows = []
    for row in catalogue:
        texts = [_optional(row.spec.get(field)) for field in fields]
        texts[2] = "true" if row.spec.get("acceleratable") else "false"
        rows.append((row.name, *texts, *((_optional(row.spec.get("family")),) if wide else ())))
    columns = ("NAME", *(field.upper() for field in fields))
    return _table(columns, ("FAMILY",), rows, wide=wide)


def nodes(plans: Iterable[NodePlan], *, wide: bool = False) -> Table:
    """What the chain knows of a node; wide: its CPU's key and its profile."""
    rows = []
    for plan in plans:
        given = plan.contribution
        cards = ",".join(f"{group.count}x{group.key}" for group in given.groups)
        more = (given.cpu.key, given.profile.profile if given.profile else "")
        rows.append(
            (plan.facts.name, given.managed or "", str(given.cores), cards, *(more if wide else ())),
        )
    return _table(("NAME", "MANAGED", "CPU", "ACCELERATORS"), ("CPU KEY", "PROFILE"), rows, wide=wide)


def devices(plans: Iterable[NodePlan], *, wide: bool = False) -> Table:
    """Nodes that have cards; wide: how many."""
    rows = [
        (plan.facts.name, *((str(sum(group.count for group in plan.groups)),) if wide else ()))
        for plan in plans
        if plan.groups
    ]
    return _table(("NAME",), ("ACCELERATORS",), rows, wide=wide)


def _table(columns: Row, more: Row, rows: Iterable[Row], *, wide: bool) -> Table:
    return Table((*columns, *more) if wide else columns, tuple(rows))


def _optional(value: Any) -> str:
    if value is None or value is False:
        return ""
    return "true" if value is True else str(value)
