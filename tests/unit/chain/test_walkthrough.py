"""The walkthrough's steps as the acceptance table has them: 1, 2a, 2b, 4a, 5a to 5c and 5e.

Flavor names are those of the default profile, which has no suffix.
"""

from __future__ import annotations

import pytest

from engine.chain.chain import Chain
from engine.chain.changes import InstanceTypeSet, NamespaceSet, NodeSet, SettingsChanged
from engine.worker.render import tables
from tests.unit.chain.shipped import cluster, program, walkthrough

GENERIC = "gpustack--generic-linux-amd64"
A10G = "gpustack--nvidia-a10g-linux-amd64"
T4 = "gpustack--nvidia-tesla-t4-linux-amd64"
INTEL = "intel-xeon-platinum-8259cl"
FLAVORS = [
    "gpustack--amd-epyc-7r13-linux-amd64-16c",
    "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64-1d",
    "gpustack--amd-epyc-7r32-linux-amd64-4c",
    f"gpustack--{INTEL}--nvidia-tesla-t4-linux-amd64-1d",
    f"gpustack--{INTEL}--nvidia-tesla-t4-linux-amd64-4d",
    f"gpustack--{INTEL}-linux-amd64-48c",
    f"gpustack--{INTEL}-linux-amd64-4c",
]
ZERO = "0/0 0/0 0/0 0/0"
STEP_1C = {
    GENERIC: ("3b93966fd73eb9ec", "1/2Gi/100Gi", ZERO, "48/72", "Active"),
    A10G: ("c4680bb149644f1c", "8/64Gi/100Gi", "1/1 1/10 100/100 0/0", "0/0", "Active"),
    T4: ("6b371caa2da0b799", "8/32Gi/100Gi", "4/5 4/50 100/500 0/0", "0/0", "Active"),
}
AWARE = "instance-type-aware-cpu-manufacturer"
CUSTOM = {
    "acceleratable": True,
    "acceleratorGroup": "nvidia-a10g",
    "os": "linux",
    "arch": "amd64",
    "unitResources": {"cpu": "12", "ram": "128Gi"},
    "localStorage": "200Gi",
}


@pytest.fixture
def chain() -> Chain:
    made = Chain(program())
    made.apply(cluster())
    return made


def rows(chain: Chain) -> dict[str, tuple[str, ...]]:
    table = tables.instance_types(chain.types())
    return {name: (entrance.removeprefix("gpustack-fnv64-"), *rest) for name, entrance, *rest in table.rows}


def catalogue(chain: Chain) -> list[tuple[str, ...]]:
    return list(tables.instance_type_flavors(chain.catalogue()).rows)


def quotas(chain: Chain, queue: str) -> list[tuple[str, str, int]]:
    state = next(each.state for each in chain.queues() if each.name == queue)
    return [(quota.flavor, quota.resource, quota.nominal) for quota in state.groups]


def test_step_1a_seven_flavors_are_named_as_recorded(chain: Chain) -> None:
    assert [flavor.name for flavor in chain.flavors()] == FLAVORS


def test_step_1b_and_1h_three_queues_hold_their_flavors_by_count_and_name(chain: Chain) -> None:
    assert [queue.name for queue in chain.queues()] == [GENERIC, A10G, T4]
    assert quotas(chain, A10G) == [(FLAVORS[1], "credits.gpustack.ai/nvidia", 1_600_000)]
    assert quotas(chain, T4) == [
        (FLAVORS[3], "credits.gpustack.ai/nvidia", 1_600_000),
        (FLAVORS[4], "credits.gpustack.ai/nvidia", 6_400_000),
    ]
    assert quotas(chain, GENERIC) == [
        (FLAVORS[2], "cpu", 4),
        (FLAVORS[6], "cpu", 4),
        (FLAVORS[0], "cpu", 16),
        (FLAVORS[5], "cpu", 48),
    ]
    assert {queue.name: queue.state.checks for queue in chain.queues()} == {
        GENERIC: (),
        A10G: ("gpustack-node-devices",),
        T4: ("gpustack-node-devices",),
    }
    assert {queue.state.stop_policy for queue in chain.queues()} == {"None"}
    assert not any(queue.state.has_empty_plan_hold for queue in chain.queues())


def test_step_1c_the_types_show_their_views(chain: Chain) -> None:
    assert rows(chain) == STEP_1C


def test_step_1d_the_catalogue_is_in_order(chain: Chain) -> None:
    assert catalogue(chain) == [
        ("gpustack--generic", "generic", "", "false", "generic", "", "", "", ""),
        ("gpustack--nvidia-a10g", "", "nvidia-a10g", "true", "nvidia", "NVIDIA-A10G", "24Gi", "10240", "true"),
        ("gpustack--nvidia-tesla-t4", "", "nvidia-tesla-t4", "true", "nvidia", "Tesla-T4", "16Gi", "2560", "true"),
    ]


def test_step_1e_nodes_with_cards_have_devices(chain: Chain) -> None:
    assert [name for (name,) in tables.devices(chain.nodes()).rows] == ["node-a10g", "node-t4-a", "node-t4-b"]


def test_step_1i_view_capacities_of_the_a10g_type(chain: Chain) -> None:
    views = next(each.status.accelerator for each in chain.types() if each.name == A10G)
    assert [view.capacity for view in (views.exclusive, views.shared, views.sliced, views.partitioned)] == [
        1,
        10,
        100,
        0,
    ]


def test_step_1j_every_namespace_but_the_systems_has_an_entrance_to_every_queue(chain: Chain) -> None:
    chain.apply(NamespaceSet(name) for name in ("team", "kube-system", "gpustack-system"))
    assert [(each.namespace, each.queue) for each in chain.local_queues()] == [
        (namespace, queue) for namespace in ("default", "team") for queue in (GENERIC, T4, A10G)
    ]
    assert {each.annotations["schedule.gpustack.ai/queue"] for each in chain.local_queues()} == {GENERIC, A10G, T4}


def test_step_2a_an_unmanaged_node_empties_its_pool_and_leaves_the_others(chain: Chain) -> None:
    changed = chain.apply([NodeSet(walkthrough()["node-a10g"], "false")])
    assert changed.removed["ResourceFlavor"] == (FLAVORS[1], FLAVORS[2])
    assert rows(chain) == STEP_1C | {
        GENERIC: ("3b93966fd73eb9ec", "1/2Gi/100Gi", ZERO, "48/68", "Active"),
        A10G: ("c4680bb149644f1c", "8/64Gi/100Gi", ZERO, "0/0", "Inactive"),
    }
    assert next(each.state.stop_policy for each in chain.queues() if each.name == A10G) == "HoldAndDrain"
    assert quotas(chain, A10G) == []


def test_step_2b_a_node_managed_again_restores_its_pool_without_an_admin(chain: Chain) -> None:
    chain.apply([NodeSet(walkthrough()["node-a10g"], "false")])
    chain.apply([NodeSet(walkthrough()["node-a10g"], "true")])
    assert rows(chain) == STEP_1C
    assert [flavor.name for flavor in chain.flavors()] == FLAVORS


def test_step_4a_a_type_a_person_wrote_has_the_views_of_the_pool_it_names(chain: Chain) -> None:
    chain.apply([InstanceTypeSet("a10g-12c128g", CUSTOM)])
    custom = ("d4c0e6cd72686015", "12/128Gi/200Gi", "1/1 1/10 100/100 0/0", "0/0", "Active")
    assert rows(chain) == STEP_1C | {"a10g-12c128g": custom}
    made = next(each for each in chain.types() if each.name == "a10g-12c128g")
    assert made.spec["generalGroup"] == "generic"
    assert dict(made.labels) == {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "feature.gpustack.ai/acceleratable": "true",
        "acceleratable.feature.gpustack.ai/nvidia-a10g": "true",
        "schedule.gpustack.ai/queue-entrance": "gpustack-fnv64-d4c0e6cd72686015",
    }


def test_step_5a_awareness_adds_five_types_beside_the_three(chain: Chain) -> None:
    chain.apply([SettingsChanged({AWARE: "true"})])
    assert rows(chain) == STEP_1C | {
        "gpustack--amd-epyc-7r13-linux-amd64": ("8dde992f64a17a2f", "1/2Gi/100Gi", ZERO, "16/16", "Active"),
        "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64": ("029fd9550e0c70bd", *STEP_1C[A10G][1:]),
        "gpustack--amd-epyc-7r32-linux-amd64": ("d3390f10cd57a632", "1/2Gi/100Gi", ZERO, "4/4", "Active"),
        f"gpustack--{INTEL}--nvidia-tesla-t4-linux-amd64": ("5b59e508edc027b7", *STEP_1C[T4][1:]),
        f"gpustack--{INTEL}-linux-amd64": ("c6aee2b7b5c4dc6b", "1/2Gi/100Gi", ZERO, "48/52", "Active"),
    }


def test_step_5b_aware_queues_name_the_cpu_and_flavors_gain_only_a_note(chain: Chain) -> None:
    before = {flavor.name: flavor for flavor in chain.flavors()}
    chain.apply([SettingsChanged({AWARE: "true"})])
    queue = next(each for each in chain.queues() if each.name == "gpustack--amd-epyc-7r32--nvidia-a10g-linux-amd64")
    assert queue.labels["general.feature.gpustack.ai/amd-epyc-7r32"] == "true"
    after = {flavor.name: flavor for flavor in chain.flavors()}
    assert sorted(after) == FLAVORS
    for name, flavor in after.items():
        assert (flavor.labels, flavor.node_labels) == (before[name].labels, before[name].node_labels)
        assert flavor.notes.keys() - before[name].notes.keys() == ({"cpuDetail"} if flavor.accelerator else set())


def test_step_5c_the_aware_catalogue_replaces_the_collapsed_rows(chain: Chain) -> None:
    chain.apply([SettingsChanged({AWARE: "true"})])
    assert [(name, general, product) for name, general, _, _, _, product, *_ in catalogue(chain)] == [
        ("gpustack--amd-epyc-7r13", "amd-epyc-7r13", "AMD EPYC 7R13 Processor"),
        ("gpustack--amd-epyc-7r32", "amd-epyc-7r32", "AMD EPYC 7R32"),
        (f"gpustack--{INTEL}", INTEL, "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz"),
        ("gpustack--amd-epyc-7r32--nvidia-a10g", "amd-epyc-7r32", "NVIDIA-A10G"),
        (f"gpustack--{INTEL}--nvidia-tesla-t4", INTEL, "Tesla-T4"),
    ]


def test_step_5e_awareness_off_again_collapses_the_catalogue_and_keeps_the_types(chain: Chain) -> None:
    collapsed = catalogue(chain)
    chain.apply([SettingsChanged({AWARE: "true"})])
    aware = rows(chain)
    chain.apply([SettingsChanged({AWARE: "false"})])
    assert catalogue(chain) == collapsed
    assert rows(chain) == aware
    assert [flavor.name for flavor in chain.flavors()] == FLAVORS


def test_the_walkthrough_has_nothing_to_tell(chain: Chain) -> None:
    assert chain.conditions() == []
