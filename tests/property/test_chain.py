"""The chain is the fold of its changes: order, grouping and history leave no trace, but for types, which are create-only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chain.chain import Chain
from engine.chain.changes import Change, NodeRemoved, NodeSet, SettingsChanged
from engine.chain.journal import KINDS
from engine.chain.plan import plan
from tests.unit.chain.shipped import node, program

ZONE = (("topology.kubernetes.io/zone", "a"),)
CREATE_ONLY = ("InstanceType", "ClusterQueue", "LocalQueue")
SETTINGS = (
    "instance-type-mixed-on-node",
    "instance-type-derived-from-node",
    "instance-type-aware-cpu-manufacturer",
    "node-management-manual",
)

# Products are one a key: two spellings of one key would put the first one seen into a type's frozen title.
shapes = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["AMD EPYC 7R13 Processor", "Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz"]),
        "cores": st.sampled_from([4, 16]),
        "product": st.sampled_from([None, "NVIDIA A10G", "Tesla T4"]),
        "cards": st.integers(1, 3),
        "memory_mib": st.sampled_from([15360, 16384, None]),
        "levels": st.sampled_from([(), ZONE]),
        "runtime_version": st.sampled_from(["12.4", "13.0"]),
    }
)
managed = st.sampled_from([None, "true", "false"])


@st.composite
def node_sets(draw: st.DrawFn, names: st.SearchStrategy[str]) -> NodeSet:
    return NodeSet(node(draw(names), **draw(shapes)), draw(managed))


additions = st.lists(st.tuples(shapes, managed), max_size=7).map(
    lambda drawn: [NodeSet(node(f"n{at}", **shape), label) for at, (shape, label) in enumerate(drawn)]
)
histories = st.lists(
    st.lists(
        st.one_of(
            node_sets(st.sampled_from(["n0", "n1", "n2", "n3"])),
            st.sampled_from(["n0", "n1", "n2", "n3"]).map(NodeRemoved),
            st.tuples(st.sampled_from(SETTINGS), st.booleans()).map(lambda pair: SettingsChanged({pair[0]: pair[1]})),
        ),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=5,
)


def held(chain: Chain, without: Iterable[str] = ()) -> dict[str, Any]:
    """Everything the chain holds; how often a queue was written is not part of where it is."""
    objects = {kind: dict(chain.objects(kind)) for kind in KINDS if kind not in without}
    for name, queue in objects.get("ClusterQueue", {}).items():
        objects["ClusterQueue"][name] = replace(queue, state=replace(queue.state, generation=1))
    return objects


def final(history: Iterable[Iterable[Change]]) -> tuple[list[NodeSet], dict[str, object]]:
    """The nodes and settings that a history ends with."""
    nodes: dict[str, NodeSet] = {}
    values: dict[str, object] = {}
    for changes in history:
        for change in changes:
            match change:
                case NodeSet():
                    nodes[change.facts.name] = change
                case NodeRemoved():
                    nodes.pop(change.name, None)
                case SettingsChanged():
                    values |= change.values
    return list(nodes.values()), values


@settings(max_examples=40, deadline=None)
@given(additions.flatmap(lambda nodes: st.tuples(st.just(nodes), st.permutations(nodes))), st.integers(1, 4))
def test_nodes_added_in_any_order_and_grouping_end_in_the_plan_of_the_snapshot(
    drawn: tuple[list[NodeSet], list[NodeSet]], group: int
) -> None:
    nodes, shuffled = drawn
    wanted = plan(nodes, program())
    chain = Chain(program())
    for start in range(0, len(shuffled), group):
        chain.apply(shuffled[start : start + group])
    assert held(chain) == held(wanted)
    assert chain.conditions() == wanted.conditions()


@settings(max_examples=40, deadline=None)
@given(histories)
def test_a_history_ends_in_the_plan_of_what_it_ends_with_but_for_create_only_kinds(history: list[list[Change]]) -> None:
    chain = Chain(program())
    authored: set[str] = set()
    for length, changes in enumerate(history, start=1):
        chain.apply(changes)
        nodes, values = final(history[:length])
        authored |= {each.name for each in plan(nodes, program(), values).types()}
    nodes, values = final(history)
    wanted = plan(nodes, program(), values)
    assert held(chain, CREATE_ONLY) == held(wanted, CREATE_ONLY)
    assert {each.name for each in chain.types()} == authored
    mine = {each.name: each for each in chain.types()}
    for each in wanted.types():
        assert mine[each.name].status == each.status, "a type that has flavors reports the same, however it came about"


@settings(max_examples=30, deadline=None)
@given(additions)
def test_an_unchanged_snapshot_changes_nothing(nodes: list[NodeSet]) -> None:
    chain = plan(nodes, program())
    before = held(chain)
    again = [replace(each, facts=replace(each.facts)) for each in nodes]
    assert not chain.apply(again)
    assert held(chain) == before


@settings(max_examples=30, deadline=None)
@given(histories)
def test_what_apply_says_it_changed_is_what_changed(history: list[list[Change]]) -> None:
    chain = Chain(program())
    seen: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for changes in history:
        changed = chain.apply(changes)
        for kind, names in changed.removed.items():
            for name in names:
                del seen[kind][name]
        for kind, objects in changed.objects.items():
            assert all(seen[kind].get(name) != fields for name, fields in objects.items())
            seen[kind] |= objects
        assert seen == {kind: dict(chain.objects(kind)) for kind in KINDS}
