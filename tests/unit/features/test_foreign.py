"""Is a real NFD alive: signal by signal, in both modes, and what it allows."""

from __future__ import annotations

import pytest

from engine.cluster.objects import ManagedFields
from engine.features.foreign import (
    LEASE,
    LeaseSeen,
    PodSeen,
    Provider,
    Signals,
    Standing,
    judge,
    manager_of,
    too_long_for_nfd,
)

START = Standing(100.0)
CHART = {"app.kubernetes.io/name": "node-feature-discovery", "role": "master"}


def pod(**parts: object) -> Signals:
    return Signals(pods=(PodSeen("ns", "p", **parts),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("signals", "is_alive"),
    [
        (pod(labels=CHART), True),
        (pod(labels=CHART, is_ready=False), False),
        (pod(labels={**CHART, "role": "worker"}), False),
        (pod(labels={"app": "nfd-master"}), True),
        (pod(programs=("registry/nfd:v1", "/usr/bin/nfd-master")), True),
        (pod(programs=("registry/nfd:v1", "nfd-worker")), False),
        (Signals(leases=(LeaseSeen("any", LEASE, 61.0),)), True),
        (Signals(leases=(LeaseSeen("any", LEASE, 40.0),)), False),
        (Signals(leases=(LeaseSeen("any", LEASE, 100.0, age_seconds=601.0),)), False),
        (Signals(leases=(LeaseSeen("any", LEASE, 100.0, age_seconds=-500.0),)), True),
        (Signals(leases=(LeaseSeen("any", "another", 100.0),)), False),
        (Signals(wrote_seconds=41.0, wrote_node="n1"), True),
        (Signals(wrote_seconds=40.0, wrote_node="n1"), False),
        (Signals(), False),
    ],
)
def test_a_signal_stops_the_provider_or_does_not(signals: Signals, is_alive: bool) -> None:
    standing = judge(Provider.BUILTIN, signals, START, 100.0)
    assert bool(standing.evidence) == is_alive
    assert standing.permission.may_write != is_alive or signals.wrote_seconds == 40.0


def test_without_any_sign_it_runs_at_once_and_adopts_after_a_minute() -> None:
    early = judge(Provider.BUILTIN, Signals(), START, 100.0)
    assert (early.permission.may_write, early.permission.may_adopt) == (True, False)
    assert early.again_after_seconds == 60.0
    late = judge(Provider.BUILTIN, Signals(), early, 160.0)
    assert (late.permission.may_write, late.permission.may_adopt) == (True, True)
    assert late.again_after_seconds is None
    assert late.condition()["status"] == "True"


def test_a_master_that_restarts_is_no_hand_over() -> None:
    alive = judge(Provider.BUILTIN, pod(labels=CHART), START, 100.0)
    assert alive.condition() == {
        "type": "FeaturesProvider",
        "status": "False",
        "reason": "ForeignNFD",
        "message": alive.message,
    }
    assert "features.provider" in alive.message
    leaving = judge(Provider.BUILTIN, Signals(), alive, 500.0)
    assert (leaving.reason, leaving.again_after_seconds) == ("NFDLeaving", 60.0)
    assert not leaving.permission.may_write
    back = judge(Provider.BUILTIN, pod(labels=CHART), leaving, 530.0)
    assert back.reason == "ForeignNFD"
    leaving = judge(Provider.BUILTIN, Signals(), back, 540.0)
    assert not judge(Provider.BUILTIN, Signals(), leaving, 599.0).permission.may_write
    assert judge(Provider.BUILTIN, Signals(), leaving, 600.0).permission.may_adopt


def test_a_lease_is_looked_at_again_when_it_may_have_run_out() -> None:
    standing = judge(Provider.BUILTIN, Signals(leases=(LeaseSeen("ns", LEASE, 90.0),)), START, 100.0)
    assert standing.again_after_seconds == 50.0


def test_in_nfd_mode_nothing_is_written_and_a_missing_nfd_is_told() -> None:
    waiting = judge(Provider.NFD, Signals(), START, 100.0)
    assert (waiting.reason, waiting.permission.may_write, waiting.condition()["status"]) == ("NFD", False, "True")
    missing = judge(Provider.NFD, Signals(), waiting, 160.0)
    assert (missing.reason, missing.permission.may_write, missing.condition()["status"]) == (
        "NFDMissing",
        False,
        "False",
    )
    alive = judge(Provider.NFD, pod(labels=CHART), missing, 170.0)
    assert (alive.reason, alive.permission.may_write) == ("NFD", False)


def test_nodes_whose_names_no_label_can_hold_are_named_in_nfd_mode_only() -> None:
    names = ["short", "n" * 64, "n" * 63]
    assert too_long_for_nfd(Provider.NFD, names) == ("n" * 64,)
    assert too_long_for_nfd(Provider.BUILTIN, names) == ()


def test_who_wrote_a_key_is_found_in_the_managed_fields() -> None:
    fields = [
        ManagedFields(manager="kubelet", fields={"f:status": {}}),
        ManagedFields(manager="rival", fields={"f:metadata": {"f:labels": {"f:a/b": {}}}}),
        ManagedFields(manager="other", fields={"f:metadata": {"f:annotations": {"f:a/b": {}}}}),
    ]
    assert manager_of(fields, "a/b") == "rival"
    assert manager_of(fields, "a/b", is_label=False) == "other"
    assert manager_of(fields, "c") == ""
