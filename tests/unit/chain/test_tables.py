"""Tables: the columns people know, and what wide adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import NodeSet
from engine.chain.plan import plan
from engine.worker.render import tables
from tests.unit.chain.shipped import cluster, machines, program, walkthrough

ALL: list[tuple[Callable[..., tables.Table], Callable[[Chain], Any]]] = [
    (tables.nodes, Chain.nodes),
    (tables.devices, Chain.nodes),
    (tables.topologies, Chain.topologies),
    (tables.resource_flavors, Chain.flavors),
    (tables.cluster_queues, Chain.queues),
    (tables.local_queues, Chain.local_queues),
    (tables.instance_types, Chain.types),
    (tables.instance_type_flavors, Chain.catalogue),
]


@pytest.fixture(scope="module")
def chain() -> Chain:
    return plan(cluster(), program())


@pytest.mark.parametrize(("table", "objects"), ALL)
def test_a_wide_table_is_the_plain_one_with_more_at_its_end(
    chain: Chain, table: Callable[..., tables.Table], objects: Callable[[Chain], Any]
) -> None:
    plain, wide = table(objects(chain)), table(objects(chain), wide=True)
    assert wide.columns[: len(plain.columns)] == plain.columns
    assert [row[: len(plain.columns)] for row in wide.rows] == list(plain.rows)
    for made in (plain, wide):
        assert made.rows
        assert all(len(row) == len(made.columns) for row in made.rows)
        assert all(isinstance(cell, str) for row in made.rows for cell in row)


def test_columns_are_as_recorded(chain: Chain) -> None:
    assert tables.instance_types(chain.types()).columns == (
        "NAME",
        "ENTRANCE",
        "UNIT(CPU/RAM)/STORAGE",
        "ACCELERATOR(EX/SH/SL/PT)",
        "CPU",
        "PHASE",
    )
    assert tables.instance_type_flavors(chain.catalogue()).columns == (
        "NAME",
        "GENERALGROUP",
        "ACCELERATORGROUP",
        "ACCELERATABLE",
        "MANUFACTURER",
        "PRODUCT",
        "MEMORY",
        "CORES",
        "SLICEABLE",
    )
    assert tables.cluster_queues(chain.queues()).columns == ("NAME", "COHORT", "PENDING WORKLOADS")


def test_wide_flavors_and_queues_say_what_is_behind_them(chain: Chain) -> None:
    flavors = tables.resource_flavors(chain.flavors(), wide=True).rows
    assert flavors[4][1:] == ("gpustack-fnv64-87bf574bea2a4f23", "1", "4", "4")
    queue = tables.cluster_queues(chain.queues(), wide=True).rows[1]
    assert queue[3:] == ("None", "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64-1d=1600k")
    assert tables.topologies(chain.topologies(), wide=True).rows[0][1] == "kubernetes.io/hostname"


def test_a_node_shows_its_mark_cores_and_cards() -> None:
    chain = plan([NodeSet(walkthrough()["node-t4-b"], "false"), NodeSet(walkthrough()["node-cpu"])], program())
    assert tables.nodes(chain.nodes()).rows == (
        ("node-cpu", "true", "16", ""),
        ("node-t4-b", "false", "48", "4xnvidia-tesla-t4"),
    )
    assert tables.devices(chain.nodes(), wide=True).rows == (("node-t4-b", "4"),)


def test_wide_types_list_the_partitions_left() -> None:
    chain = plan([NodeSet(machines("mig")["node-h100-mixed"])], program())
    cells = {row[0]: row[-1] for row in tables.instance_types(chain.types(), wide=True).rows}
    assert "7g.80gb:" in cells["gpustack--nvidia-h100-80gb-hbm3-linux-amd64"]
    assert cells["gpustack--generic-linux-amd64"] == ""


def test_an_absent_cell_of_the_catalogue_is_blank_but_acceleratable_never_is(chain: Chain) -> None:
    generic = tables.instance_type_flavors(chain.catalogue(), wide=True).rows[0]
    assert generic == ("gpustack--generic", "generic", "", "false", "generic", "", "", "", "", "")
