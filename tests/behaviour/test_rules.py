"""`engine rules` beside a worker's cluster: what it lists, what it shows, and what an approval does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import pytest

from engine.cli import rules
from engine.cluster.client import Client
from engine.cluster.errors import Forbidden
from engine.cluster.resources import CONFIG_MAPS, RULE_PACKS
from engine.cluster.writers import Writer
from engine.delivery.decide import consider
from engine.delivery.publish import program_actions, rule_pack_actions
from engine.delivery.stored import APPROVED, HEAD
from engine.delivery.verdict import InForce, Snapshot, Verdict
from tests.behaviour.running import run
from tests.fakes import virtual
from tests.fakes.apiserver import ApiServer, FakeTransport
from tests.fakes.faults import Storm
from tests.fakes.virtual import VirtualClock, half
from tests.unit.delivery.mounts import mounted, snapshot

NAMESPACE = "gpustack-system"
PACK = "manufacturer-nvidia"


@cache
def served() -> InForce:
    offered = consider(mounted("base"), None, Snapshot()).offered
    assert offered is not None
    return offered


@cache
def verdict(name: str) -> Verdict:
    return consider(mounted(name), served(), snapshot())


def cluster(name: str) -> ApiServer:
    """What a worker has written about a delivery."""

    async def main() -> ApiServer:
        server = ApiServer(VirtualClock())
        writer = Writer(Client(FakeTransport(server, "worker"), clock=server.clock, chance=half))
        made = verdict(name)
        waiting = made.digest if made.state == "Held" else ""
        await writer.apply_actions(
            program_actions(made.offered if made.state == "Loaded" else served(), NAMESPACE, waiting=waiting)
        )
        await writer.apply_actions(rule_pack_actions(made, {}, "2026-11-29T12:00:00Z"))
        return server

    return virtual.run(main())


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def at(server: ApiServer) -> ApiServer:
        @asynccontextmanager
        async def reached(_where: rules.Where) -> AsyncIterator[Client]:
            yield Client(FakeTransport(server, "person"), clock=server.clock, chance=half)

        monkeypatch.setattr(rules, "reached", reached)
        return server

    return at


def test_a_list_of_packs_in_force_is_a_table_and_0(reach: Any) -> None:
    reach(cluster("newer"))
    result = run("rules", "list")
    assert result.exit_code == 0
    head, *rows = result.stdout.splitlines()
    assert head.split() == ["NAME", "VERDICT", "PROGRAM", "WHY"]
    assert [PACK, "Loaded", verdict("newer").digest[:12]] in [row.split() for row in rows]
    assert result.stderr == ""


def test_a_held_delivery_is_1_and_says_what_to_approve(reach: Any) -> None:
    reach(cluster("renames"))
    result = run("rules", "list")
    assert result.exit_code == 1
    assert f"held: engine rules approve {verdict('renames').digest}" in result.stderr
    assert max(map(len, result.stdout.splitlines())) < 200
    assert f"engine rules approve {verdict('renames').digest}" in run("rules", "list", "-o", "wide").stdout


def test_a_refused_pack_is_1_with_its_reason(reach: Any) -> None:
    reach(cluster("broken"))
    assert run("rules", "list").exit_code == 1
    result = run("rules", "show", PACK)
    assert result.exit_code == 1
    assert "verdict: Failed" in result.stdout
    assert "RP1" in result.stdout


def test_objects_come_as_json_yaml_and_names(reach: Any) -> None:
    reach(cluster("newer"))
    items = json.loads(run("rules", "list", "-o", "json").stdout)["items"]
    assert {item["status"]["verdict"] for item in items} == {"Loaded"}
    assert "kind: RulePack" in run("rules", "list", "-o", "yaml").stdout
    assert f"rulepack.worker.gpustack.ai/{PACK}" in run("rules", "list", "-o", "name").stdout.splitlines()


def test_show_without_a_pack_is_the_program(reach: Any) -> None:
    reach(cluster("renames"))
    result = run("rules", "show")
    assert result.exit_code == 1
    assert f"program:    {served().program.digest}" in result.stdout
    assert f"waiting:    {verdict('renames').digest}" in result.stdout
    assert "would rename" in result.stdout


def test_a_pack_that_is_not_there_is_2_with_the_nearest(reach: Any) -> None:
    reach(cluster("newer"))
    result = run("rules", "show", "manufacturer-nvida")
    assert result.exit_code == 2
    assert f"did you mean {PACK}?" in result.stderr


def approved(server: ApiServer) -> str:
    found = server.get(CONFIG_MAPS, HEAD, NAMESPACE)
    assert found is not None
    text: str = (found["metadata"].get("annotations") or {}).get(APPROVED, "")
    return text


@pytest.mark.parametrize("digits", [12, 64])
def test_an_approval_is_written_in_full_whether_the_digest_was_or_not(reach: Any, digits: int) -> None:
    server = reach(cluster("renames"))
    digest = verdict("renames").digest
    result = run("rules", "approve", digest[:digits])
    assert (result.exit_code, result.stdout) == (0, f"{digest} approved\n")
    assert approved(server) == digest


def test_what_does_not_wait_is_approved_only_ahead_and_in_full(reach: Any) -> None:
    server = reach(cluster("newer"))
    digest = verdict("renames").digest
    result = run("rules", "approve", digest)
    assert result.exit_code == 1
    assert "nothing waits" in result.stderr
    assert run("rules", "approve", digest[:12], "--ahead").exit_code == 2
    assert approved(server) == ""
    assert run("rules", "approve", digest, "--ahead").exit_code == 0
    assert approved(server) == digest
    assert "in force already" in run("rules", "approve", verdict("newer").digest).stdout


def test_waiting_for_a_worker_that_is_not_there_ends(reach: Any) -> None:
    reach(cluster("renames"))
    result = run("rules", "approve", verdict("renames").digest, "--wait", "0.1")
    assert result.exit_code == 1
    assert "is a worker running?" in result.stderr


@pytest.mark.parametrize("text", ["x", "1234", "Z" * 64])
def test_what_is_no_digest_is_bad_usage(text: str) -> None:
    result = run("rules", "approve", text)
    assert result.exit_code == 2
    assert "is no digest" in result.stderr


def test_a_cluster_without_a_worker_says_what_is_missing(reach: Any) -> None:
    async def empty() -> ApiServer:
        return ApiServer(VirtualClock())

    server = reach(virtual.run(empty()))
    result = run("rules", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no worker has judged any" in result.stderr
    assert "there is no ConfigMap gpustack-system/engine-program" in run("rules", "show").stderr
    server.stop_serving(RULE_PACKS)
    assert run("rules", "list").exit_code == 2


def test_a_cluster_that_says_no_is_1(reach: Any) -> None:
    reach(cluster("newer")).faults.storm = Storm(403)
    result = run("rules", "list")
    assert result.exit_code == 1
    assert Forbidden.remedy_text in result.stderr


def test_commands_below_rules_are_completed_and_a_misspelt_one_is_2() -> None:
    assert run("rules", "aprove", "x").exit_code == 2
    assert "list" in run("rules").output
