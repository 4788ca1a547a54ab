"""Kueue's answers: activity, finalizers, stop policies, admission with a check; the model and the real one alike."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.errors import Invalid, NotFound
from engine.cluster.objects import Owned
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    TOPOLOGIES,
    WORKLOADS,
    Resource,
)
from tests.contract.servers import Bench, Server

IN_USE = "kueue.x-k8s.io/resource-in-use"
RESOURCE = "credits.example.com/acme"


def _queue(
    bench: Bench, *flavors: str, checks: list[str] | None = None, quota: str = "10", **spec: Any
) -> dict[str, Any]:
    body: dict[str, Any] = {"namespaceSelector": {}, **spec}
    if flavors:
        quotas = [{"name": flavor, "resources": [{"name": RESOURCE, "nominalQuota": quota}]} for flavor in flavors]
        body["resourceGroups"] = [{"coveredResources": [RESOURCE], "flavors": quotas}]
    if checks:
        body["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in checks]}
    return CLUSTER_QUEUES.body(f"{bench.prefix}-q", spec=body)


async def _apply(bench: Bench, resource: Resource[Owned], body: dict[str, Any]) -> Owned:
    metadata = body["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace", "")
    bench.later(lambda: bench.client.delete(resource, name, namespace))
    return await bench.client.apply(resource, body, manager="engine-test")


async def _flavor(bench: Bench, name: str = "f", **spec: Any) -> str:
    full = f"{bench.prefix}-{name}"
    await _apply(bench, RESOURCE_FLAVORS, RESOURCE_FLAVORS.body(full, spec={"nodeLabels": {"a": "b"}, **spec}))
    return full


async def _check(bench: Bench, *, is_active: bool = True) -> str:
    name = f"{bench.prefix}-check"
    body = ADMISSION_CHECKS.body(name, spec={"controllerName": "engine.test/check"})
    made = await _apply(bench, ADMISSION_CHECKS, body)
    if is_active:
        await _activate(bench, made)
    return name


async def _activate(bench: Bench, check: Owned) -> None:
    condition = {
        "type": "Active",
        "status": "True",
        "reason": "Active",
        "message": "ready",
        "lastTransitionTime": "2026-11-29T12:00:00Z",
        "observedGeneration": check.metadata.generation,
    }
    await bench.client.merge_patch(
        ADMISSION_CHECKS,
        check.metadata.name,
        {"status": {"conditions": [condition]}},
        manager="c",
        subresource="status",
    )


async def _active(bench: Bench) -> tuple[str, str]:
    """(status, reason) of the queue's Active condition, once Kueue has seen the queue as it is."""

    async def answered() -> tuple[str, str] | None:
        queue = await bench.client.get(CLUSTER_QUEUES, f"{bench.prefix}-q")
        found = _condition(queue, "Active")
        if found is None or found["observedGeneration"] != queue.metadata.generation:
            return None
        return found["status"], found["reason"]

    answer: tuple[str, str] = await bench.eventually(answered)
    return answer


async def _becomes(bench: Bench, status: str, reason: str) -> None:
    async def is_so() -> bool:
        return await _active(bench) == (status, reason)

    await bench.eventually(is_so)


def _condition(thing: Owned, kind: str) -> dict[str, Any] | None:
    return next((each for each in thing.status.get("conditions") or () if each["type"] == kind), None)


async def _gone(bench: Bench, resource: Resource[Owned], name: str) -> bool:
    try:
        await bench.client.get(resource, name)
    except NotFound:
        return True
    return False


async def _submit(bench: Bench, name: str, amount: str) -> None:
    local = LOCAL_QUEUES.body("lq", bench.namespace, spec={"clusterQueue": f"{bench.prefix}-q"})
    await bench.client.apply(LOCAL_QUEUES, local, manager="engine-test")
    container = {"name": "c", "image": "x", "resources": {"requests": {RESOURCE: amount}, "limits": {RESOURCE: amount}}}
    pod = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    body = WORKLOADS.body(
        name, bench.namespace, spec={"queueName": "lq", "podSets": [{"name": "main", "count": 1, "template": pod}]}
    )
    await bench.client.create(WORKLOADS, body, manager="engine-test")


async def _workload_has(bench: Bench, name: str, kind: str, status: str = "True") -> Owned:
    async def has() -> Owned | None:
        thing = await bench.client.get(WORKLOADS, name, bench.namespace)
        found = _condition(thing, kind)
        return thing if found is not None and found["status"] == status else None

    thing: Owned = await bench.eventually(has)
    return thing


async def _asked(bench: Bench, name: str) -> Owned:
    """The Workload once its checks are asked; real Kueue asks them in a write after the reservation."""

    async def asked() -> Owned | None:
        thing = await bench.client.get(WORKLOADS, name, bench.namespace)
        return thing if thing.status.get("admissionChecks") else None

    thing: Owned = await bench.eventually(asked)
    return thing


async def _answer(bench: Bench, name: str, check: str, state: str) -> None:
    thing = await _asked(bench, name)
    states = [
        {**each, "state": state, "message": "answered", "lastTransitionTime": "2026-11-29T12:00:00Z"}
        if each["name"] == check
        else each
        for each in thing.status["admissionChecks"]
    ]
    await bench.client.merge_patch(
        WORKLOADS,
        name,
        {"status": {"admissionChecks": states}},
        manager="engine-test",
        namespace=bench.namespace,
        resource_version=thing.metadata.resource_version,
        subresource="status",
    )


def test_a_queue_is_active_once_its_flavors_and_checks_are_there(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        flavor, check = f"{bench.prefix}-f", f"{bench.prefix}-check"
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor, checks=[check]))
        await _becomes(bench, "False", "FlavorNotFound")
        await _flavor(bench)
        await _becomes(bench, "False", "AdmissionCheckNotFound")
        await _check(bench, is_active=False)
        await _becomes(bench, "False", "AdmissionCheckInactive")
        await _activate(bench, await bench.client.get(ADMISSION_CHECKS, check))
        await _becomes(bench, "True", "Ready")

    kueue_server.run(test)


def test_a_flavor_with_a_topology_needs_that_topology(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        topology = f"{bench.prefix}-t"
        flavor = await _flavor(bench, topologyName=topology)
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor))
        await _becomes(bench, "False", "TopologyNotFound")
        levels = [{"nodeLabel": "kubernetes.io/hostname"}]
        await _apply(bench, TOPOLOGIES, TOPOLOGIES.body(topology, spec={"levels": levels}))
        await _becomes(bench, "True", "Ready")
        with pytest.raises(Invalid, match="immutable"):
            await bench.client.merge_patch(
                RESOURCE_FLAVORS, flavor, {"spec": {"nodeLabels": {"a": "c"}}}, manager="engine-test"
            )

    kueue_server.run(test)


def test_a_stopped_queue_is_inactive_and_says_so_for_the_generation_it_saw(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        await _becomes(bench, "True", "Ready")
        for policy, answer in (
            ("Hold", ("False", "Stopped")),
            ("HoldAndDrain", ("False", "Stopped")),
            ("None", ("True", "Ready")),
        ):
            await bench.client.merge_patch(
                CLUSTER_QUEUES, f"{bench.prefix}-q", {"spec": {"stopPolicy": policy}}, manager="engine-test"
            )
            assert await _active(bench) == answer

    kueue_server.run(test)


def test_a_queue_gets_defaults_that_need_no_second_apply(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        assert made.spec["queueingStrategy"] == "BestEffortFIFO"
        assert made.spec["stopPolicy"] == "None"
        assert made.spec["preemption"]["withinClusterQueue"] == "Never"
        again = await _apply(bench, CLUSTER_QUEUES, _queue(bench, f"{bench.prefix}-f"))
        assert again.metadata.generation == made.metadata.generation

    kueue_server.run(test)


def test_a_queue_with_65_flavors_or_unmatched_resources_is_refused(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        with pytest.raises(Invalid, match="flavors"):
            await _apply(bench, CLUSTER_QUEUES, _queue(bench, *(f"f{number}" for number in range(65))))
        body = _queue(bench, "f")
        body["spec"]["resourceGroups"][0]["coveredResources"] = ["other.example.com/x"]
        # Real Kueue refuses in its webhook, which answers 403.
        with pytest.raises(Exception, match="coveredResources"):
            await _apply(bench, CLUSTER_QUEUES, body)

    kueue_server.run(test)


def test_a_flavor_in_use_is_held_until_no_queue_names_it(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        flavor = await _flavor(bench)
        assert IN_USE in (await bench.client.get(RESOURCE_FLAVORS, flavor)).metadata.finalizers
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor))
        await _becomes(bench, "True", "Ready")
        await bench.client.delete(RESOURCE_FLAVORS, flavor)
        held = await bench.client.get(RESOURCE_FLAVORS, flavor)
        assert held.metadata.deletion_timestamp
        await _apply(bench, CLUSTER_QUEUES, _queue(bench))
        await bench.eventually(lambda: _gone(bench, RESOURCE_FLAVORS, flavor))

    kueue_server.run(test)


def test_a_local_queue_follows_its_queue(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        local = LOCAL_QUEUES.body("lq", bench.namespace, spec={"clusterQueue": f"{bench.prefix}-q"})
        await _apply(bench, LOCAL_QUEUES, local)

        async def says(status: str, reason: str) -> None:
            async def is_so() -> bool:
                found = _condition(await bench.client.get(LOCAL_QUEUES, "lq", bench.namespace), "Active")
                return found is not None and (found["status"], found["reason"]) == (status, reason)

            await bench.eventually(is_so)

        await says("False", "ClusterQueueDoesNotExist")
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        await says("True", "Ready")
        await bench.client.merge_patch(
            CLUSTER_QUEUES, f"{bench.prefix}-q", {"spec": {"stopPolicy": "Hold"}}, manager="engine-test"
        )
        await says("False", "ClusterQueueIsInactive")
        with pytest.raises(Invalid, match="immutable"):
            await bench.client.merge_patch(
                LOCAL_QUEUES, "lq", {"spec": {"clusterQueue": "x"}}, manager="c", namespace=bench.namespace
            )

    kueue_server.run(test)


def test_a_workload_reserves_quota_waits_for_the_check_and_is_admitted(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        flavor, check = await _flavor(bench), await _check(bench)
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor, checks=[check]))
        await _becomes(bench, "True", "Ready")
        await _submit(bench, "w", "6")
        await _workload_has(bench, "w", "QuotaReserved")
        waiting = await _asked(bench, "w")
        assert waiting.status["admission"]["podSetAssignments"][0]["flavors"] == {RESOURCE: flavor}
        assert [(each["name"], each["state"]) for each in waiting.status["admissionChecks"]] == [(check, "Pending")]
        assert (_condition(waiting, "Admitted") or {"status": "False"})["status"] == "False"
        await _answer(bench, "w", check, "Ready")
        await _workload_has(bench, "w", "Admitted")

        async def counts() -> bool:
            status = (await bench.client.get(CLUSTER_QUEUES, f"{bench.prefix}-q")).status
            usage = status["flavorsUsage"][0]["resources"][0]["total"]
            return (status["admittedWorkloads"], status["reservingWorkloads"], usage) == (1, 1, "6")

        await bench.eventually(counts)
        await _submit(bench, "late", "6")
        await _workload_has(bench, "late", "QuotaReserved", "False")

    kueue_server.run(test)


def test_a_held_queue_admits_nothing_new_and_keeps_what_runs(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        await _becomes(bench, "True", "Ready")
        await _submit(bench, "runs", "3")
        await _workload_has(bench, "runs", "Admitted")
        await bench.client.merge_patch(
            CLUSTER_QUEUES, f"{bench.prefix}-q", {"spec": {"stopPolicy": "Hold"}}, manager="engine-test"
        )
        await _becomes(bench, "False", "Stopped")
        await _submit(bench, "waits", "3")
        status = (await bench.client.get(CLUSTER_QUEUES, f"{bench.prefix}-q")).status
        assert status["admittedWorkloads"] == 1
        await bench.client.merge_patch(
            CLUSTER_QUEUES, f"{bench.prefix}-q", {"spec": {"stopPolicy": "None"}}, manager="engine-test"
        )
        await _workload_has(bench, "waits", "Admitted")

    kueue_server.run(test)


def test_a_drained_queue_evicts(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        await _becomes(bench, "True", "Ready")
        await _submit(bench, "w", "3")
        await _workload_has(bench, "w", "Admitted")
        await bench.client.merge_patch(
            CLUSTER_QUEUES, f"{bench.prefix}-q", {"spec": {"stopPolicy": "HoldAndDrain"}}, manager="engine-test"
        )
        evicted = _condition(await _workload_has(bench, "w", "Evicted"), "Evicted")
        assert evicted is not None
        assert evicted["reason"] == "ClusterQueueStopped"

    kueue_server.run(test)


def test_a_check_that_says_retry_gives_the_quota_back(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        flavor, check = await _flavor(bench), await _check(bench)
        await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor, checks=[check]))
        await _becomes(bench, "True", "Ready")
        await _submit(bench, "w", "3")
        await _workload_has(bench, "w", "QuotaReserved")
        await _answer(bench, "w", check, "Retry")
        evicted = _condition(await _workload_has(bench, "w", "Evicted"), "Evicted")
        assert evicted is not None
        assert evicted["reason"] == "AdmissionCheck"

    kueue_server.run(test)


def test_a_queue_is_deleted_only_when_nothing_reserves_in_it(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        name = f"{bench.prefix}-q"
        made = await _apply(bench, CLUSTER_QUEUES, _queue(bench, await _flavor(bench)))
        assert IN_USE in made.metadata.finalizers
        await _becomes(bench, "True", "Ready")
        await _submit(bench, "w", "3")
        await _workload_has(bench, "w", "Admitted")
        await bench.client.delete(CLUSTER_QUEUES, name)

        async def is_terminating() -> bool:
            found = _condition(await bench.client.get(CLUSTER_QUEUES, name), "Active")
            return found is not None and found["reason"] == "Terminating"

        await bench.eventually(is_terminating)
        await bench.client.delete(WORKLOADS, "w", bench.namespace)
        await bench.eventually(lambda: _gone(bench, CLUSTER_QUEUES, name))

    kueue_server.run(test)
