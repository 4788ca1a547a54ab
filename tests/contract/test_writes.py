"""Create, merge patch, update, delete, status, finalizers, owner references: what writers stand on."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound, ServerFault
from engine.cluster.objects import Node, Owned
from engine.cluster.ownership import add_finalizer, owner_reference, remove_finalizer
from engine.cluster.resources import CONFIG_MAPS, EVENTS, LEASES, NAMESPACES, NODES
from engine.cluster.writers import Writer
from tests.contract.servers import WIDGETS, Bench, Server

HOLD = "contract.engine.dev/hold"


async def _made(bench: Bench, name: str = "a", **parts: object) -> Owned:
    return await bench.client.create(WIDGETS, bench.widget(name, **parts), manager="contract")


async def _patched(bench: Bench, patch: dict[str, Any], *, version: str = "", subresource: str = "") -> Owned:
    return await bench.client.merge_patch(
        WIDGETS,
        "a",
        patch,
        manager="contract",
        namespace=bench.namespace,
        resource_version=version,
        subresource=subresource,
    )


async def _is_gone(bench: Bench, name: str = "a") -> bool:
    try:
        await bench.client.get(WIDGETS, name, bench.namespace)
    except NotFound:
        return True
    return False


def test_creating_twice_says_that_it_exists(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _made(bench)
        with pytest.raises(AlreadyExists):
            await _made(bench)

    server.run(test)


def test_creating_with_a_version_or_in_a_missing_namespace_is_refused(server: Server) -> None:
    async def test(bench: Bench) -> None:
        with pytest.raises(ServerFault, match="resourceVersion should not be set"):
            await _made(bench, metadata={"resourceVersion": "5"})
        body = WIDGETS.body("a", "no-such-namespace")
        with pytest.raises(NotFound):
            await bench.client.create(WIDGETS, body, manager="contract")

    server.run(test)


def test_a_name_is_generated_when_only_a_prefix_is_given(server: Server) -> None:
    async def test(bench: Bench) -> None:
        body = {
            "apiVersion": WIDGETS.api_version,
            "kind": "Widget",
            "metadata": {"generateName": "gen-", "namespace": bench.namespace},
        }
        made = await bench.client.create(WIDGETS, body, manager="contract")
        assert made.metadata.name.startswith("gen-")
        assert len(made.metadata.name) == len("gen-") + 5

    server.run(test)


def test_a_label_value_over_63_bytes_is_refused_with_the_field_named(server: Server) -> None:
    async def test(bench: Bench) -> None:
        with pytest.raises(Invalid, match=r"metadata\.labels"):
            await _made(bench, metadata={"labels": {"a": "x" * 64}})
        with pytest.raises(Invalid, match=r"metadata\.name"):
            await _made(bench, name="Not_a_name")

    server.run(test)


def test_a_merge_patch_sets_replaces_and_removes(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _made(bench, metadata={"labels": {"a": "1", "b": "2"}}, spec={"text": "t", "whole": ["x", "y"]})
        patch = {"metadata": {"labels": {"a": None, "c": "3"}}, "spec": {"whole": ["z"]}}
        after = await _patched(bench, patch)
        assert after.metadata.labels == {"b": "2", "c": "3"}
        assert after.spec == {"text": "t", "whole": ["z"]}

    server.run(test)


def test_a_guarded_patch_conflicts_when_somebody_wrote_since(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _made(bench)
        await _patched(bench, {"spec": {"text": "other"}})
        with pytest.raises(Conflict):
            await _patched(bench, {"spec": {"text": "late"}}, version=made.metadata.resource_version)
        assert (await bench.client.get(WIDGETS, "a", bench.namespace)).spec == {"text": "other"}

    server.run(test)


def test_a_guarded_node_patch_works_on_a_node_without_any_annotation(server: Server) -> None:
    async def test(bench: Bench) -> None:
        bench.later(lambda: bench.client.delete(NODES, bench.prefix))
        await bench.client.create(NODES, NODES.body(bench.prefix), manager="c")
        patch = {"metadata": {"annotations": {"x.dev/a": ""}, "labels": {"x.dev/b": "1"}}}

        async def is_patched() -> Node | None:
            node = await bench.client.get(NODES, bench.prefix)
            version = node.metadata.resource_version
            try:
                return await bench.client.merge_patch(NODES, bench.prefix, patch, manager="c", resource_version=version)
            except Conflict:
                return None  # a controller wrote a taint in between

        after = await bench.eventually(is_patched)
        assert after.metadata.annotations["x.dev/a"] == ""

    server.run(test)


def test_a_write_that_changes_nothing_gives_no_new_version(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _made(bench, spec={"text": "t"})
        after = await _patched(bench, {"spec": {"text": "t"}})
        assert after.metadata.resource_version == made.metadata.resource_version

    server.run(test)


def test_the_generation_moves_with_the_spec_only(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _made(bench, spec={"text": "t"})
        assert (await _patched(bench, {"metadata": {"labels": {"a": "b"}}})).metadata.generation == 1
        assert (await _patched(bench, {"status": {"phase": "p"}}, subresource="status")).metadata.generation == 1
        assert (await _patched(bench, {"spec": {"text": "u"}})).metadata.generation == 2

    server.run(test)


def test_an_object_and_its_status_are_written_apart(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _made(bench, spec={"text": "t"}, status={"phase": "ignored"})
        assert made.status == {}
        patch = {"spec": {"text": "u"}, "status": {"phase": "p"}}
        after = await _patched(bench, patch, subresource="status")
        assert (after.spec, after.status) == ({"text": "t"}, {"phase": "p"})
        after = await _patched(bench, {"spec": {"text": "v"}, "status": {"phase": "q"}})
        assert (after.spec, after.status) == ({"text": "v"}, {"phase": "p"})
        after = await _patched(bench, {"metadata": {"labels": {"a": "b"}}}, subresource="status")
        assert after.metadata.labels == {}, "a custom resource's metadata is not written through its status"

    server.run(test)


def test_an_update_replaces_and_conflicts(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _made(bench, spec={"text": "t", "other": "o"})
        body = await bench.client.get_map(WIDGETS, "a", bench.namespace)
        body["spec"] = {"text": "u"}
        after = await bench.client.update(WIDGETS, body, manager="contract")
        assert after.spec == {"text": "u"}
        with pytest.raises(Conflict):
            await bench.client.update(WIDGETS, body, manager="contract")

    server.run(test)


def test_a_deletion_with_preconditions_spares_a_successor(server: Server) -> None:
    async def test(bench: Bench) -> None:
        first = await _made(bench)
        await bench.client.delete(WIDGETS, "a", bench.namespace, uid=first.metadata.uid)
        second = await _made(bench)
        with pytest.raises(Conflict):
            await bench.client.delete(WIDGETS, "a", bench.namespace, uid=first.metadata.uid)
        with pytest.raises(Conflict):
            await bench.client.delete(
                WIDGETS, "a", bench.namespace, resource_version=str(int(second.metadata.resource_version) + 1)
            )
        assert not await _is_gone(bench)
        await bench.client.delete(WIDGETS, "a", bench.namespace, resource_version=second.metadata.resource_version)
        assert await _is_gone(bench)
        with pytest.raises(NotFound):
            await bench.client.delete(WIDGETS, "a", bench.namespace)

    server.run(test)


def test_a_finalizer_holds_an_object_until_it_is_removed(server: Server) -> None:
    async def test(bench: Bench) -> None:
        writer = Writer(bench.client)
        made = await _made(bench, spec={"text": "t"})
        added = add_finalizer(WIDGETS, made, HOLD, "contract")
        assert added is not None
        await writer.apply_actions([added])
        await bench.client.delete(WIDGETS, "a", bench.namespace)
        held = await bench.client.get(WIDGETS, "a", bench.namespace)
        assert held.metadata.deletion_timestamp
        assert held.metadata.finalizers == (HOLD,)
        assert held.metadata.generation == 2, "being deleted counts as a change"
        with pytest.raises(Invalid, match="finalizers"):
            await _patched(bench, {"metadata": {"finalizers": [HOLD, "contract.engine.dev/more"]}})
        removed = remove_finalizer(WIDGETS, held, HOLD, "contract")
        assert removed is not None
        await writer.apply_actions([removed])
        assert await _is_gone(bench)

    server.run(test)


def test_dependents_go_with_their_owner(server: Server) -> None:
    async def test(bench: Bench) -> None:
        owner = await _made(bench, "owner")
        reference = owner_reference(WIDGETS, owner, is_controller=True)
        await _made(bench, "child", metadata={"ownerReferences": [reference]})
        await _made(bench, "stranger")
        await bench.client.delete(WIDGETS, "owner", bench.namespace)
        await bench.eventually(lambda: _is_gone(bench, "child"))
        assert not await _is_gone(bench, "stranger")

    server.run(test)


def test_an_orphaned_dependent_stays_without_its_owner(server: Server) -> None:
    async def test(bench: Bench) -> None:
        owner = await _made(bench, "owner")
        await _made(bench, "child", metadata={"ownerReferences": [owner_reference(WIDGETS, owner)]})
        await bench.client.delete(WIDGETS, "owner", bench.namespace, propagation="Orphan")
        await bench.eventually(lambda: _is_gone(bench, "owner"))
        assert (await bench.client.get(WIDGETS, "child", bench.namespace)).metadata.owner_references == ()

    server.run(test)


def test_an_owner_deleted_in_the_foreground_waits_for_its_dependents(server: Server) -> None:
    async def test(bench: Bench) -> None:
        owner = await _made(bench, "owner")
        reference = owner_reference(WIDGETS, owner, blocks_deletion=True)
        await _made(bench, "child", metadata={"ownerReferences": [reference], "finalizers": [HOLD]})
        await bench.client.delete(WIDGETS, "owner", bench.namespace, propagation="Foreground")

        async def child_goes() -> bool:
            return (await bench.client.get(WIDGETS, "child", bench.namespace)).metadata.deletion_timestamp is not None

        await bench.eventually(child_goes)
        assert not await _is_gone(bench, "owner")
        await bench.client.merge_patch(
            WIDGETS, "child", {"metadata": {"finalizers": None}}, manager="c", namespace=bench.namespace
        )
        await bench.eventually(lambda: _is_gone(bench, "owner"))

    server.run(test)


def test_a_deleted_namespace_takes_its_objects_and_takes_no_new_ones(server: Server) -> None:
    async def test(bench: Bench) -> None:
        name = f"{bench.prefix}-goes"
        await bench.client.create(NAMESPACES, NAMESPACES.body(name), manager="c")
        body = WIDGETS.body("held", name, metadata={"finalizers": [HOLD]})
        await bench.client.create(WIDGETS, body, manager="c")
        await bench.client.delete(NAMESPACES, name)
        assert (await bench.client.get(NAMESPACES, name)).status.phase == "Terminating"
        with pytest.raises(Forbidden):
            await bench.client.create(WIDGETS, WIDGETS.body("late", name), manager="c")

        async def is_emptied() -> bool:
            return (await bench.client.get(WIDGETS, "held", name)).metadata.deletion_timestamp is not None

        await bench.eventually(is_emptied)
        await bench.client.merge_patch(WIDGETS, "held", {"metadata": {"finalizers": None}}, manager="c", namespace=name)

        async def is_gone() -> bool:
            try:
                await bench.client.get(NAMESPACES, name)
            except NotFound:
                return True
            return False

        await bench.eventually(is_gone)

    server.run(test)


def test_a_lease_is_checked_and_guarded(server: Server) -> None:
    async def test(bench: Bench) -> None:
        spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-11-29T12:00:00.000001Z"}
        bad = LEASES.body("l", bench.namespace, spec=spec | {"leaseDurationSeconds": 0})
        with pytest.raises(Invalid):
            await bench.client.create(LEASES, bad, manager="a")
        lease = await bench.client.create(LEASES, LEASES.body("l", bench.namespace, spec=spec), manager="a")
        assert lease.spec.renew_time == "2026-11-29T12:00:00.000001Z"
        patch = {"spec": {"holderIdentity": None}}
        freed = await bench.client.merge_patch(
            LEASES,
            "l",
            patch,
            manager="a",
            namespace=bench.namespace,
            resource_version=lease.metadata.resource_version,
        )
        assert freed.spec.holder_identity == ""
        with pytest.raises(Conflict):
            await bench.client.merge_patch(
                LEASES,
                "l",
                {"spec": {"holderIdentity": "b"}},
                manager="b",
                namespace=bench.namespace,
                resource_version=lease.metadata.resource_version,
            )

    server.run(test)


def test_an_event_needs_its_reporter_and_only_its_series_may_change(server: Server) -> None:
    async def test(bench: Bench) -> None:
        body = EVENTS.body(
            "e",
            bench.namespace,
            eventTime="2026-11-29T12:00:00.000001Z",
            reportingController="engine.test/contract",
            reportingInstance="here",
            action="Testing",
            reason="Tested",
            note="a note",
            type="Normal",
            regarding={"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "namespace": bench.namespace},
        )
        with pytest.raises(Invalid, match="reportingController"):
            await bench.client.create(EVENTS, {**body, "reportingController": ""}, manager="c")
        with pytest.raises(Invalid, match="namespace"):
            await bench.client.create(EVENTS, {**body, "regarding": {"kind": "Node", "name": "n"}}, manager="c")
        await bench.client.create(EVENTS, body, manager="c")
        patch = {"series": {"count": 2, "lastObservedTime": "2026-11-29T12:00:01.000000Z"}}
        after = await bench.client.merge_patch(EVENTS, "e", patch, manager="c", namespace=bench.namespace)
        assert after.series is not None
        assert after.series.count == 2
        with pytest.raises(Invalid):
            await bench.client.merge_patch(EVENTS, "e", {"note": "other"}, manager="c", namespace=bench.namespace)

    server.run(test)


def test_a_config_map_is_applied_and_compared_as_it_is_read(server: Server) -> None:
    async def test(bench: Bench) -> None:
        body = CONFIG_MAPS.body("m", bench.namespace, data={"a": "1", "b": "2"})
        await bench.client.apply(CONFIG_MAPS, body, manager="engine-test")
        after = await bench.client.apply(CONFIG_MAPS, {**body, "data": {"a": "1"}}, manager="engine-test")
        assert after.data == {"a": "1"}

    server.run(test)
