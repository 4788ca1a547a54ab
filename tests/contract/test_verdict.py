"""What Kueue makes of the answers that the worker writes: by apply, on one version, to the entry of one check."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.cluster.actions import Apply
from engine.cluster.errors import Conflict
from engine.cluster.objects import Owned
from engine.cluster.resources import CLUSTER_QUEUES, WORKLOADS
from engine.cluster.writers import Writer
from engine.domain.gate import Verdict
from engine.worker.admission.workload import READ_WORKLOADS, Workload
from engine.worker.controllers.nodedevices import JudgedWorkload, plan
from tests.contract.servers import Bench, Server
from tests.contract.test_kueue import (
    _apply,
    _asked,
    _becomes,
    _check,
    _condition,
    _flavor,
    _queue,
    _submit,
    _workload_has,
)

READY = Verdict(is_ready=True, message="there are cards")
RETRY = Verdict(is_ready=False, message="there are none")


async def _waiting(bench: Bench) -> tuple[Workload, str]:
    """A Workload that waits for its check, and the check's name."""
    flavor, check = await _flavor(bench), await _check(bench)
    await _apply(bench, CLUSTER_QUEUES, _queue(bench, flavor, checks=[check]))
    await _becomes(bench, "True", "Ready")
    await _submit(bench, "w", "3")
    await _workload_has(bench, "w", "QuotaReserved")
    await _asked(bench, "w")
    return await bench.client.get(READ_WORKLOADS, "w", bench.namespace), check


async def _answer(bench: Bench, workload: Workload, check: str, verdict: Verdict) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    await Writer(bench.client).apply_actions(plan(JudgedWorkload(workload, (check,), verdict, now)))


async def _settled(bench: Bench, check: str, verdict: Verdict) -> Workload:
    """Answers until Kueue does not write in between, as the worker does."""
    while True:
        workload = await bench.client.get(READ_WORKLOADS, "w", bench.namespace)
        assert workload.is_judged
        try:
            await _answer(bench, workload, check, verdict)
        except Conflict:
            continue
        return workload


def test_a_ready_by_apply_admits(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        _, check = await _waiting(bench)
        judged = await _settled(bench, check, READY)
        await _workload_has(bench, "w", "Admitted")
        read = await bench.client.get(READ_WORKLOADS, "w", bench.namespace)
        assert [(each.name, each.state, each.message) for each in read.status.checks] == [
            (check, "Ready", READY.message)
        ]
        assert read.reserved_at == judged.reserved_at
        assert not read.is_judged

    kueue_server.run(test)


def test_a_retry_by_apply_evicts_holds_back_and_begins_anew(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        _, check = await _waiting(bench)
        await _settled(bench, check, RETRY)
        evicted: Owned = await _workload_has(bench, "w", "Evicted")
        reason = _condition(evicted, "Evicted")
        assert reason is not None
        assert reason["reason"] == "AdmissionCheck"
        read = await bench.client.get(READ_WORKLOADS, "w", bench.namespace)
        assert [(each.name, each.state) for each in read.status.checks] == [(check, "Pending")]
        assert not read.is_judged

        async def is_held_back() -> bool:
            known = await bench.client.get(WORKLOADS, "w", bench.namespace)
            return bool((known.status.get("requeueState") or {}).get("requeueAt"))

        await bench.eventually(is_held_back)

    kueue_server.run(test)


def test_an_answer_about_an_earlier_version_is_refused(kueue_server: Server) -> None:
    async def test(bench: Bench) -> None:
        _, check = await _waiting(bench)
        judged = await _settled(bench, check, READY)
        await _workload_has(bench, "w", "Admitted")
        with pytest.raises(Conflict):
            await _answer(bench, judged, check, RETRY)
        (action,) = plan(JudgedWorkload(judged, (check,), RETRY, "now"))
        assert isinstance(action, Apply)
        assert action.body["metadata"]["resourceVersion"] == judged.metadata.resource_version

    kueue_server.run(test)
