"""Server-side apply: who owns which field, what is removed, what conflicts, and when nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from engine.cluster.compare import needs_apply
from engine.cluster.decode import as_map
from engine.cluster.errors import ApplyConflict, Conflict
from engine.cluster.objects import Owned
from engine.cluster.resources import NODES
from tests.contract.servers import WIDGETS, Bench, Server


async def _applied(bench: Bench, manager: str, *, force: bool = False, **parts: Any) -> Owned:
    return await bench.client.apply(WIDGETS, bench.widget("a", **parts), manager=manager, force=force)


def _managers(thing: Owned) -> list[tuple[str, str]]:
    return sorted((each.manager, each.operation) for each in thing.metadata.managed_fields)


def test_an_apply_creates_and_then_changes(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _applied(bench, "one", spec={"text": "t"})
        assert (made.spec, _managers(made)) == ({"text": "t"}, [("one", "Apply")])
        assert made.metadata.managed_fields[0].fields == {"f:spec": {"f:text": {}}}
        after = await _applied(bench, "one", spec={"text": "u"})
        assert (after.spec, after.metadata.generation) == ({"text": "u"}, 2)

    server.run(test)


def test_an_apply_that_changes_nothing_gives_no_new_version(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _applied(bench, "one", metadata={"labels": {"a": "b"}}, spec={"text": "t", "whole": ["x"]})
        after = await _applied(bench, "one", metadata={"labels": {"a": "b"}}, spec={"text": "t", "whole": ["x"]})
        assert after.metadata.resource_version == made.metadata.resource_version

    server.run(test)


def test_what_is_not_applied_again_is_removed_unless_somebody_else_has_it(server: Server) -> None:
    async def test(bench: Bench) -> None:
        labels = {"mine": "1", "shared": "2"}
        await _applied(bench, "one", metadata={"labels": labels}, spec={"text": "t", "other": "o"})
        await _applied(bench, "two", metadata={"labels": {"shared": "2"}})
        after = await _applied(bench, "one", spec={"text": "t"})
        assert after.metadata.labels == {"shared": "2"}
        assert after.spec == {"text": "t"}

    server.run(test)


def test_an_apply_leaves_fields_of_others_alone(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", spec={"text": "t"})
        patch = {"metadata": {"annotations": {"user": "x"}}, "spec": {"other": "o"}}
        await bench.client.merge_patch(WIDGETS, "a", patch, manager="user", namespace=bench.namespace)
        after = await _applied(bench, "one", spec={"text": "u"})
        assert after.spec == {"text": "u", "other": "o"}
        assert after.metadata.annotations == {"user": "x"}
        assert _managers(after) == [("one", "Apply"), ("user", "Update")]

    server.run(test)


def test_changing_a_field_of_another_manager_conflicts_unless_forced(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", spec={"text": "t"})
        with pytest.raises(ApplyConflict, match=r"\.spec\.text"):
            await _applied(bench, "two", spec={"text": "u"})
        after = await _applied(bench, "two", force=True, spec={"text": "u"})
        assert after.spec == {"text": "u"}
        assert _managers(after) == [("two", "Apply")], "the first manager has nothing left"
        await _applied(bench, "one", spec={"text": "u"})

    server.run(test)


def test_an_update_takes_a_field_from_its_applier(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", spec={"text": "t"})
        await bench.client.merge_patch(WIDGETS, "a", {"spec": {"text": "u"}}, manager="user", namespace=bench.namespace)
        with pytest.raises(ApplyConflict):
            await _applied(bench, "one", spec={"text": "t"})
        assert (await _applied(bench, "one", force=True, spec={"text": "t"})).spec == {"text": "t"}

    server.run(test)


def test_keyed_lists_merge_by_item_and_sets_by_value(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", spec={"keyed": [{"name": "a", "value": "1"}], "tags": ["x"]})
        await _applied(bench, "two", spec={"keyed": [{"name": "b", "value": "2"}], "tags": ["y"]})
        both = await _applied(bench, "two", spec={"keyed": [{"name": "b", "value": "3"}], "tags": ["y"]})
        assert both.spec == {
            "keyed": [{"name": "a", "value": "1"}, {"name": "b", "value": "3"}],
            "tags": ["x", "y"],
        }
        after = await _applied(bench, "one", metadata={"labels": {"l": "1"}})
        assert after.spec == {"keyed": [{"name": "b", "value": "3"}], "tags": ["y"]}

    server.run(test)


def test_an_atomic_list_belongs_to_one_manager(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", spec={"whole": ["x"]})
        with pytest.raises(ApplyConflict):
            await _applied(bench, "two", spec={"whole": ["y"]})
        assert (await _applied(bench, "two", force=True, spec={"whole": ["y"]})).spec == {"whole": ["y"]}

    server.run(test)


def test_status_is_applied_through_its_own_door(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _applied(bench, "one", spec={"text": "t"})
        assert made.status == {}
        body = bench.widget("a", status={"phase": "p", "conditions": [{"type": "Ready", "status": "True"}]})
        after = await bench.client.apply(WIDGETS, body, manager="one", subresource="status")
        assert (after.spec, after.status["phase"]) == ({"text": "t"}, "p")
        entries = {each.subresource: each.fields for each in after.metadata.managed_fields}
        assert set(entries) == {"", "status"}
        condition = entries["status"]["f:status"]["f:conditions"]['k:{"type":"Ready"}']
        assert condition == {".": {}, "f:status": {}, "f:type": {}}
        again = await _applied(bench, "one", spec={"text": "t"})
        assert again.status["phase"] == "p", "an apply of the object does not give its status up"

    server.run(test)


def test_an_apply_with_a_version_is_guarded(server: Server) -> None:
    async def test(bench: Bench) -> None:
        made = await _applied(bench, "one", spec={"text": "t"})
        await _applied(bench, "one", spec={"text": "u"})
        with pytest.raises(Conflict):
            await _applied(
                bench, "one", metadata={"resourceVersion": made.metadata.resource_version}, spec={"text": "v"}
            )

    server.run(test)


def test_labels_of_a_node_are_applied_beside_those_of_others(server: Server) -> None:
    async def test(bench: Bench) -> None:
        bench.later(lambda: bench.client.delete(NODES, bench.prefix))
        await bench.client.create(NODES, NODES.body(bench.prefix, metadata={"labels": {"a": "1"}}), manager="kubelet")
        body = NODES.body(bench.prefix, metadata={"labels": {"b": "2"}})
        node = await bench.client.apply(NODES, body, manager="one")
        assert {"a", "b"} <= set(node.metadata.labels)
        node = await bench.client.apply(NODES, NODES.body(bench.prefix), manager="one")
        assert "b" not in node.metadata.labels

    server.run(test)


@pytest.mark.parametrize(
    "parts",
    [
        {"metadata": {"labels": {"x": "1"}, "annotations": {"n": "note"}}, "spec": {"text": "t", "map": {"k": "v"}}},
        {"spec": {"keyed": [{"name": "a", "value": "1"}], "tags": ["x", "y"], "whole": ["p", "q"]}},
        {"spec": {"whole": [], "map": {}}},
    ],
    ids=["maps", "lists", "empty"],
)
def test_what_was_applied_needs_no_second_apply(server: Server, parts: dict[str, Any]) -> None:
    async def test(bench: Bench) -> None:
        live = as_map(await _applied(bench, "one", **parts))
        assert not needs_apply(live, bench.widget("a", **parts), "one")
        assert needs_apply(live, bench.widget("a", metadata={"labels": {"y": "2"}}), "one")

    server.run(test)


def test_a_field_that_is_no_longer_applied_needs_an_apply(server: Server) -> None:
    async def test(bench: Bench) -> None:
        await _applied(bench, "one", metadata={"labels": {"x": "1", "y": "2"}}, spec={"map": {"k": "v", "l": "w"}})
        live = as_map(await bench.client.get(WIDGETS, "a", bench.namespace))
        assert needs_apply(
            live, bench.widget("a", metadata={"labels": {"x": "1", "y": "2"}}, spec={"map": {"k": "v"}}), "one"
        )
        assert needs_apply(
            live, bench.widget("a", metadata={"labels": {"x": "1"}}, spec={"map": {"k": "v", "l": "w"}}), "one"
        )
        foreign = bench.widget("a", metadata={"labels": {"x": "1"}})
        assert not needs_apply(live, foreign, "two"), "what another manager owns is not ours to give up"

    server.run(test)
