"""InstanceTypes, their queues, their status and the catalogue: a neighbourhood in, actions out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.api.instance_type import INSTANCE_TYPE
from engine.chain.chain import Chain
from engine.chain.changes import Condition
from engine.chain.fields import CatalogueRow
from engine.cluster.actions import Action, Apply, Create, Delete, EmitEvent, MergePatch
from engine.cluster.objects import Owned
from engine.cluster.resources import CLUSTER_QUEUES, INSTANCE_TYPE_FLAVORS, INSTANCE_TYPES, ObjectKey
from engine.worker.controllers import instancetype, instancetypeflavor, instancetypestatus, typeauthoring
from engine.worker.controllers.instancetypeflavor import RowNeighbourhood
from engine.worker.controllers.typeauthoring import PoolNeighbourhood
from engine.worker.inforce import InForce
from engine.worker.making import Making
from engine.worker.render import tables
from tests.unit.chain.shipped import cluster
from tests.unit.features.world import program
from tests.unit.worker.replaced import Replaced, unknown
from tests.unit.worker.types_world import (
    A10G,
    CUSTOM,
    CUSTOM_SPEC,
    DELETED,
    FINALIZER,
    GENERIC,
    T4,
    THREE,
    around,
    behind,
    derived,
    fleet,
    golden,
    live_queue,
    live_type,
    owned,
    pool,
)

HOLD = "topology.gpustack.ai/empty-plan-hold"
PHASE = "topology.gpustack.ai/migration-phase"
SAVED = "topology.gpustack.ai/migration-stop-policy"
CARD = "acceleratable.feature.gpustack.ai/nvidia-a10g"


def flavors(name: str) -> tuple[Owned, ...]:
    return tuple(owned(golden("resourceflavors.yaml", each), uid=each) for each in fleet().supply.pool_flavors(name))


def queue_patch(name: str, patch: dict[str, Any]) -> list[Action]:
    return [MergePatch(CLUSTER_QUEUES, ObjectKey("", name), patch, "engine-instancetype", "7")]


def type_patch(name: str, patch: dict[str, Any]) -> list[Action]:
    return [MergePatch(INSTANCE_TYPES, ObjectKey("", name), patch, "engine-instancetype", "7")]


# Authoring


@pytest.mark.parametrize("name", THREE)
def test_a_pool_with_a_flavor_gets_the_very_type_that_a_plan_shows(name: str) -> None:
    body = {key: part for key, part in golden("instancetypes.yaml", name).items() if key != "status"}
    seen = PoolNeighbourhood(name, derived(name), flavors(name))
    assert typeauthoring.plan(seen) == [Create(INSTANCE_TYPES, body, "engine-type-authoring")]


def test_no_type_is_made_before_a_flavor_or_beside_a_type_or_where_rules_author_none() -> None:
    assert typeauthoring.plan(PoolNeighbourhood(A10G, derived(A10G), ())) == []
    assert typeauthoring.plan(PoolNeighbourhood(A10G, derived(A10G), flavors(A10G), live_type(A10G))) == []
    leaving = live_type(A10G, deletionTimestamp=DELETED)
    assert typeauthoring.plan(PoolNeighbourhood(A10G, derived(A10G), flavors(A10G), leaving)) == []
    assert typeauthoring.plan(PoolNeighbourhood(A10G, None, flavors(A10G))) == []


def test_the_rules_author_no_type_while_the_setting_is_off() -> None:
    rules = InForce(program(), {"GPUSTACK_INSTANCE_TYPE_DERIVED_FROM_NODE": "false"})
    assert Making(rules).derived(pool(A10G)) == (None, None)


def test_a_pool_that_rules_cannot_tell_is_told_of_at_its_flavor_and_made_nothing_of() -> None:
    wanted, condition = Making(InForce(Replaced(type=unknown), {})).derived(pool(A10G))
    assert wanted is None
    assert condition is not None
    seen = PoolNeighbourhood(A10G, None, flavors(A10G), conditions=(condition,))
    (told,) = typeauthoring.plan(seen)
    assert isinstance(told, EmitEvent)
    assert (told.regarding.kind, told.regarding.key.name) == ("ResourceFlavor", flavors(A10G)[0].metadata.name)
    assert told.reason == "CouldNotTell"
    assert told.note.startswith(f"InstanceType {A10G}: section type could not tell")


def test_a_pool_that_flavors_describe_differently_is_told_of_and_made_all_the_same() -> None:
    condition = Condition("InstanceType", A10G, "PoolsDiffer", "they differ")
    seen = PoolNeighbourhood(A10G, derived(A10G), flavors(A10G), conditions=(condition,))
    told, made = typeauthoring.plan(seen)
    assert isinstance(told, EmitEvent)
    assert isinstance(made, Create)


# The life of a type


@pytest.mark.parametrize("name", THREE)
def test_a_type_that_stands_well_with_an_open_queue_needs_nothing(name: str) -> None:
    assert instancetype.plan(around(live_type(name), live_queue(name))) == []


def test_a_new_type_is_held_on_to_before_its_queue_is_made_held_and_empty() -> None:
    wanted = golden("clusterqueues.yaml", A10G)
    del wanted["spec"]["resourceGroups"], wanted["spec"]["admissionChecksStrategy"]
    wanted["spec"]["stopPolicy"] = "Hold"
    wanted["metadata"]["annotations"] = {HOLD: "true"}
    assert instancetype.plan(around(live_type(A10G, finalizers=[]))) == [
        *type_patch(A10G, {"metadata": {"finalizers": [FINALIZER]}}),
        Create(CLUSTER_QUEUES, wanted, "engine-instancetype"),
    ]


def test_a_type_that_a_person_wrote_gets_the_labels_of_its_pool_and_its_entrance() -> None:
    (patch, _) = instancetype.plan(around(live_type(CUSTOM, finalizers=["mine"], labels={"mine": "1"})))
    labels = {
        "feature.gpustack.ai/acceleratable": "true",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        CARD: "true",
        "schedule.gpustack.ai/queue-entrance": "gpustack-fnv64-d4c0e6cd72686015",
    }
    assert [patch] == type_patch(CUSTOM, {"metadata": {"labels": labels, "finalizers": ["mine", FINALIZER]}})


def test_stale_feature_labels_go_from_a_type_and_its_queue_and_any_other_label_stays() -> None:
    stale = {
        "general.feature.gpustack.ai/amd-epyc-7r32": "true",
        "acceleratable.feature.gpustack.ai/nvidia-h100": "true",
    }
    labels = golden("instancetypes.yaml", A10G)["metadata"]["labels"] | stale | {"mine": "1"}
    queue_labels = golden("clusterqueues.yaml", A10G)["metadata"]["labels"] | stale | {"mine": "1", CARD: "false"}
    gone: dict[str, str | None] = dict.fromkeys(sorted(stale))
    assert instancetype.plan(around(live_type(A10G, labels=labels), live_queue(A10G, labels=queue_labels))) == [
        *type_patch(A10G, {"metadata": {"labels": gone}}),
        *queue_patch(A10G, {"metadata": {"labels": {CARD: "true", **gone}}}),
    ]


@pytest.mark.parametrize(
    ("policy", "annotations", "is_filled", "inactive", "patch"),
    [
        ("None", {}, True, False, None),
        ("None", {}, True, True, {"spec": {"stopPolicy": "Hold"}}),
        ("Hold", {}, True, False, {"spec": {"stopPolicy": "None"}}),
        ("Hold", {}, True, True, None),
        ("Hold", {}, False, False, {"metadata": {"annotations": {HOLD: "true"}}}),
        ("Hold", {HOLD: "true"}, False, False, None),
        ("Hold", {HOLD: "true"}, False, True, None),
        ("HoldAndDrain", {}, True, True, None),
        (
            "HoldAndDrain",
            {PHASE: "draining", SAVED: "None"},
            True,
            True,
            {"metadata": {"annotations": {SAVED: "Hold"}}},
        ),
        (
            "HoldAndDrain",
            {PHASE: "draining", SAVED: "Hold"},
            True,
            False,
            {"metadata": {"annotations": {SAVED: "None"}}},
        ),
        ("HoldAndDrain", {PHASE: "switched", SAVED: "None"}, False, False, None),
    ],
)
def test_the_admin_switch_writes_the_queue_as_the_table_says(
    policy: str, annotations: dict[str, str], is_filled: bool, inactive: bool, patch: dict[str, Any] | None
) -> None:
    spec: dict[str, Any] = {"stopPolicy": policy} | ({} if is_filled else {"resourceGroups": []})
    live = live_type(A10G)
    live = replace_spec(live, {**live.spec, "inactive": inactive})
    found = instancetype.plan(around(live, live_queue(A10G, spec=spec, annotations=annotations)))
    assert found == ([] if patch is None else queue_patch(A10G, patch))


def test_a_queue_that_somebody_drained_makes_its_type_inactive_and_nothing_else() -> None:
    queue = live_queue(A10G, spec={"stopPolicy": "HoldAndDrain"}, annotations={})
    assert instancetype.plan(around(live_type(A10G), queue)) == type_patch(A10G, {"spec": {"inactive": True}})


def test_a_queue_that_is_leaving_under_a_living_type_is_waited_for_and_then_made_anew() -> None:
    leaving = around(live_type(A10G), live_queue(A10G, spec={"stopPolicy": "Hold"}, deletionTimestamp=DELETED))
    assert instancetype.plan(leaving) == []
    assert instancetype.again_after_seconds(leaving) == 15
    gone = around(live_type(A10G))
    (made,) = instancetype.plan(gone)
    assert isinstance(made, Create)
    assert instancetype.again_after_seconds(gone) is None


def test_a_type_that_goes_says_so_deletes_its_queue_once_and_is_let_go_after_it() -> None:
    leaving = live_type(A10G, deletionTimestamp=DELETED, finalizers=["mine", FINALIZER])
    body = {
        "apiVersion": "worker.gpustack.ai/v1",
        "kind": "InstanceType",
        "metadata": {"name": A10G},
        "status": {
            "entrance": "gpustack-fnv64-c4680bb149644f1c",
            "phase": "Inactive",
            "phaseMessage": "instance type is terminating",
        },
    }
    said = Apply(INSTANCE_TYPES, body, "engine-instancetype-status", subresource="status")
    there = around(leaving, live_queue(A10G))
    assert instancetype.plan(there) == [said, Delete(CLUSTER_QUEUES, ObjectKey("", A10G), uid="u")]
    assert instancetype.again_after_seconds(there) == 15
    assert instancetype.plan(around(leaving, live_queue(A10G, deletionTimestamp=DELETED))) == [said]
    # A queue that was made a moment ago may not be in the cache yet.
    assert instancetype.plan(around(leaving)) == [
        Delete(CLUSTER_QUEUES, ObjectKey("", A10G)),
        *type_patch(A10G, {"metadata": {"finalizers": ["mine"]}}),
    ]
    assert instancetype.plan(around(live_type(A10G, deletionTimestamp=DELETED, finalizers=["mine"]))) == []


def test_a_queue_of_somebody_else_is_neither_taken_nor_deleted() -> None:
    foreign = live_queue(A10G, labels={}, spec={"stopPolicy": "HoldAndDrain"})
    (told,) = instancetype.plan(around(live_type(A10G), foreign))
    assert isinstance(told, EmitEvent)
    assert told.reason == "QueueTaken"
    assert "give the InstanceType another name" in told.note
    ending = around(live_type(A10G, deletionTimestamp=DELETED), foreign)
    assert instancetype.plan(ending) == type_patch(A10G, {"metadata": {"finalizers": []}})
    assert instancetype.again_after_seconds(ending) is None


def test_a_queue_whose_labels_were_stripped_is_still_ours_by_who_made_it() -> None:
    stripped = live_queue(A10G, labels={}, managedFields=[{"manager": "engine-instancetype", "operation": "Update"}])
    labels = golden("clusterqueues.yaml", A10G)["metadata"]["labels"]
    found = instancetype.plan(around(live_type(A10G), stripped))
    assert found == queue_patch(A10G, {"metadata": {"labels": labels}})


IMPOSSIBLE = [
    ({"unitResources": {"cpu": "08", "ram": "1Gi"}}, "must be a positive integer with no unit suffix"),
    ({"unitResources": {"cpu": "1", "ram": "1G"}}, 'must be a positive integer with a case-sensitive "Gi" suffix'),
    ({"acceleratorGroup": ""}, "must be specified when acceleratable is true"),
    ({"os": ""}, "spec.os: Required value: must be specified"),
]


@pytest.mark.parametrize(("spec", "why"), IMPOSSIBLE)
def test_an_impossible_spec_is_told_with_its_remedy_and_gets_neither_queue_nor_finalizer(
    spec: dict[str, Any], why: str
) -> None:
    live = replace_spec(live_type(CUSTOM, finalizers=[]), {**CUSTOM_SPEC, **spec})
    (told,) = instancetype.plan(around(live))
    assert isinstance(told, EmitEvent)
    assert (told.reason, told.regarding.kind, told.regarding.key.name) == ("SpecRefused", "InstanceType", CUSTOM)
    assert why in told.note
    assert "delete the InstanceType" in told.note
    (said,) = instancetypestatus.plan(behind(live, None))
    assert said.body["status"]["phase"] == "Inactive"
    assert said.body["status"]["phaseMessage"] == told.note
    assert "entrance" not in said.body["status"]


def test_a_type_that_rules_cannot_tell_of_keeps_what_it_has() -> None:
    making = Making(InForce(Replaced(pool_labels=unknown), {}))
    live = live_type(A10G)
    made, refusal = making.made(live)
    (told,) = instancetype.plan(replace(around(live, live_queue(A10G)), made=made, refusal=refusal))
    assert isinstance(told, EmitEvent)
    assert told.reason == "CouldNotTell"
    assert refusal is not None
    shown = owned(golden("instancetypes.yaml", A10G))
    doubt = {"refusal": refusal.message, "is_in_doubt": True}
    assert instancetypestatus.plan(behind(shown, live_queue(A10G), **doubt)) == []
    (said,) = instancetypestatus.plan(behind(live, None, **doubt))
    assert said.body["status"]["phase"] == "Inactive"


# Status


@pytest.mark.parametrize("name", THREE)
def test_the_status_is_the_one_that_a_plan_shows(name: str) -> None:
    (said,) = instancetypestatus.plan(behind(live_type(name), live_queue(name)))
    assert isinstance(said, Apply)
    assert (said.manager, said.subresource) == ("engine-instancetype-status", "status")
    assert said.body["metadata"] == {"name": name}
    assert said.body["status"] == golden("instancetypes.yaml", name)["status"]


def test_a_type_that_a_person_wrote_reports_the_same_views_as_the_derived_one_of_its_cards() -> None:
    (mine,) = instancetypestatus.plan(behind(live_type(CUSTOM), live_queue(A10G)))
    (theirs,) = instancetypestatus.plan(behind(live_type(A10G), live_queue(A10G)))
    differ = {"columns", "entrance"}
    same = {key: part for key, part in theirs.body["status"].items() if key not in differ}
    assert {key: part for key, part in mine.body["status"].items() if key not in differ} == same
    assert mine.body["status"]["entrance"] == "gpustack-fnv64-d4c0e6cd72686015"
    assert mine.body["status"]["columns"] == {
        "unitStorage": "12/128Gi/200Gi",
        "accelerator": "1/1 1/10 100/100 0/0",
        "cpu": "0/0",
    }


@pytest.mark.parametrize(
    ("policy", "status", "phase", "message"),
    [
        ("HoldAndDrain", {"reservingWorkloads": 1}, "Draining", "cluster queue is draining admitted workloads"),
        ("HoldAndDrain", {"reservingWorkloads": 0}, "Inactive", "cluster queue is held and drained"),
        ("Hold", {"reservingWorkloads": 1}, "Inactive", "cluster queue is held"),
        ("None", {"reservingWorkloads": 0}, "Activating", None),
        ("None", {"conditions": [{"type": "Active", "status": "Unknown", "message": "m"}]}, "Activating", "m"),
        ("None", {"conditions": [{"type": "Active", "status": "False", "message": "m"}]}, "Inactive", "m"),
        ("None", {"conditions": [{"type": "Active", "status": "True", "message": "m"}]}, "Active", "m"),
    ],
)
def test_the_phase_follows_the_stop_policy_and_kueues_answer(
    policy: str, status: dict[str, Any], phase: str, message: str | None
) -> None:
    queue = live_queue(T4, spec={"stopPolicy": policy}, status=status)
    (said,) = instancetypestatus.plan(behind(live_type(T4), queue))
    assert (said.body["status"]["phase"], said.body["status"].get("phaseMessage")) == (phase, message)
    cells = "0/0 0/0 0/0 0/0" if policy == "HoldAndDrain" else "4/5 4/50 100/500 0/0"
    assert said.body["status"]["columns"]["accelerator"] == cells


@pytest.mark.parametrize(
    ("overcommit", "remaining", "once_max"),
    # 1800m and 1500m are 3.3 cores, or what 4.125 cores ask for at 800m a core; a fraction of a core is not promised.
    [(False, "68", "48"), (True, "67", "48")],
)
def test_the_cpu_view_is_what_workloads_leave_of_the_live_quota(
    overcommit: bool, remaining: str, once_max: str
) -> None:
    reservation = [
        {"name": "a", "resources": [{"name": "cpu", "total": "1800m"}, {"name": "memory", "total": "1Gi"}]},
        {"name": "b", "resources": [{"name": "cpu", "total": "1500m"}]},
    ]
    queue = live_queue(GENERIC, status={"flavorsReservation": reservation})
    given = {**behind(live_type(GENERIC), queue).settings, "instanceGeneralResourcesOvercommit": overcommit}
    (said,) = instancetypestatus.plan(behind(live_type(GENERIC), queue, settings=given))
    assert instancetypestatus.reserved_millicores(queue, "cpu") == 3300
    assert said.body["status"]["cpu"] == {"capacity": "72", "remaining": remaining, "onceMaxRequest": once_max}


def test_a_type_without_a_queue_is_activating_and_one_at_its_end_is_left_alone() -> None:
    (said,) = instancetypestatus.plan(behind(live_type(A10G), None))
    assert said.body["status"]["phase"] == "Activating"
    assert said.body["status"]["columns"]["accelerator"] == "0/0 0/0 0/0 0/0"
    leaving = live_type(A10G, deletionTimestamp=DELETED)
    assert instancetypestatus.plan(behind(leaving, live_queue(A10G))) == []


def test_the_columns_that_kubectl_shows_are_the_cells_that_a_plan_prints() -> None:
    chain = Chain(program())
    chain.apply(cluster())
    table = tables.instance_types(chain.types(), wide=True)
    (name, *titles), paths = table.columns, [each.path for each in INSTANCE_TYPE.columns]
    assert titles == [each.name.upper() for each in INSTANCE_TYPE.columns]
    for row in table.rows:
        (said,) = instancetypestatus.plan(behind(live_type(row[0]), live_queue(row[0])))
        assert [cell(said.body, path) for path in paths] == list(row[1:]), name


def cell(body: Any, path: str) -> str:
    for name in path.removeprefix(".").split("."):
        body = body.get(name, {})
    return body or ""


# The catalogue


def test_a_row_that_flavors_show_is_applied_and_one_that_none_shows_is_deleted_if_we_made_it() -> None:
    body = golden("instancetypeflavors.yaml", "gpustack--nvidia-a10g")
    wanted = CatalogueRow("gpustack--nvidia-a10g", body["spec"])
    applied = Apply(INSTANCE_TYPE_FLAVORS, body, "engine-instancetypeflavor")
    assert instancetypeflavor.plan(RowNeighbourhood(wanted.name, wanted)) == [applied]
    live = owned(body, managedFields=[{"manager": "engine-instancetypeflavor", "operation": "Apply"}])
    gone = RowNeighbourhood(wanted.name, None, live)
    deleted = Delete(INSTANCE_TYPE_FLAVORS, ObjectKey("", wanted.name), uid="u")
    assert instancetypeflavor.plan(gone) == [deleted]
    assert instancetypeflavor.again_after_seconds(gone) is None
    assert instancetypeflavor.plan(RowNeighbourhood(wanted.name, None, owned(body))) == []
    assert instancetypeflavor.plan(RowNeighbourhood(wanted.name)) == []


def test_a_row_stays_while_rules_cannot_tell_and_is_looked_at_again() -> None:
    body = golden("instancetypeflavors.yaml", "gpustack--nvidia-a10g")
    live = owned(body, managedFields=[{"manager": "engine-instancetypeflavor", "operation": "Apply"}])
    doubt = RowNeighbourhood("gpustack--nvidia-a10g", None, live, untold=("node n1",))
    assert instancetypeflavor.plan(doubt) == []
    assert instancetypeflavor.again_after_seconds(doubt) == 30


def test_a_row_that_flavors_describe_differently_is_shown_and_told_of() -> None:
    body = golden("instancetypeflavors.yaml", "gpustack--nvidia-a10g")
    wanted = CatalogueRow("gpustack--nvidia-a10g", body["spec"])
    condition = Condition("InstanceTypeFlavor", wanted.name, "RowsDiffer", "they differ")
    applied, told = instancetypeflavor.plan(RowNeighbourhood(wanted.name, wanted, owned(body), condition))
    assert isinstance(applied, Apply)
    assert isinstance(told, EmitEvent)
    assert (told.reason, told.regarding.kind) == ("RowsDiffer", "InstanceTypeFlavor")
    leaving = owned(body, deletionTimestamp=DELETED)
    assert instancetypeflavor.plan(RowNeighbourhood(wanted.name, wanted, leaving)) == []


# What rules make of a type


def test_a_type_is_asked_for_once_until_its_spec_or_the_rules_are_others() -> None:
    making = Making(InForce(program(), {}))
    live = live_type(A10G)
    first = making.made(live)
    assert making.made(live_type(A10G, labels={})) is first
    assert making.made(replace_spec(live, {**live.spec, "inactive": True})) is not first
    again = making.made(live)
    making.forget()
    assert making.made(live) is not again
    assert making.made(live) == again


def test_a_type_takes_flavors_by_its_spec_and_in_doubt_by_its_labels() -> None:
    told, doubt = Making(InForce(program(), {})), Making(InForce(Replaced(pool_labels=unknown), {}))
    keys, stripped = fleet().asker.keys, live_type(A10G, labels={})
    selector = dict(told.selector(stripped, keys))
    assert selector[CARD] == "true"
    assert doubt.selector(stripped, keys) == {}
    assert doubt.selector(live_type(A10G), keys) == selector
    impossible = replace_spec(live_type(A10G), {**CUSTOM_SPEC, "os": ""})
    assert told.selector(impossible, keys) == {}


def replace_spec(live: Owned, spec: dict[str, Any]) -> Owned:
    return Owned(metadata=live.metadata, spec=spec, status=live.status)
