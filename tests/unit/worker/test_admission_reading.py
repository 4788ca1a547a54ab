"""What is read of a Workload and of the rules for a verdict: placements, states, names, and promises that are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from engine.cluster.resources import ObjectKey
from engine.domain.credits import UNITS_PER_CARD
from engine.domain.demand import Family
from engine.domain.holdings import Holding
from engine.domain.inventory import Card, OfferedProfile, build_group
from engine.domain.ledger import CardState, Mode
from engine.domain.room import Load, Scope
from engine.domain.units import CardIndex, Credits, DriverIndex, Mib
from engine.errors import EvaluationError
from engine.lang.outcome import Outcome, OutcomeKind
from engine.worker.admission.promises import Promises
from engine.worker.admission.vocabulary import Vocabulary
from engine.worker.admission.workload import Workload, pod_sets
from engine.worker.cards import NodeCards
from tests.unit.features.world import program

HOSTNAME = "kubernetes.io/hostname"
KEY = "acme-x1"


def workload(status: dict[str, Any] | None = None, **spec: Any) -> Workload:
    body = {"metadata": {"name": "w", "namespace": "n", "resourceVersion": "7"}, "spec": spec, "status": status or {}}
    return msgspec.convert(body, Workload)


def conditions(**states: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": state, "lastTransitionTime": "t"} for kind, state in states.items()]


def one_pod_set(topology: dict[str, Any] | None, count: int = 4, **status: Any) -> Workload:
    assignment = {"name": "main", "flavors": {"c": "f"}, "count": count}
    if topology is not None:
        assignment["topologyAssignment"] = topology
    return workload(
        {"admission": {"clusterQueue": "q", "podSetAssignments": [assignment]}, **status},
        podSets=[{"name": "main", "count": 9, "template": {"spec": {"containers": [{}]}}}],
    )


def places(read: Workload, **nodes: str) -> tuple[tuple[str | None, int], ...]:
    return pod_sets(read, HOSTNAME, nodes)[0].places


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            {"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 4}},
            (("a", 4),),
        ),
        (
            {
                "domainCount": 2,
                "valuesPerLevel": [{"individual": {"prefix": "node-", "suffix": "-x", "roots": ["1", "2"]}}],
                "podCounts": {"individual": [3, 1]},
            },
            (("node-1-x", 3), ("node-2-x", 1)),
        ),
        (
            {
                "domainCount": 2,
                "valuesPerLevel": [{"individual": {"roots": ["a", "b"]}}],
                "podCounts": {"universal": 2},
            },
            (("a", 2), ("b", 2)),
        ),
    ],
)
def test_nodes_and_their_pods_are_read_in_every_form_of_a_topology_assignment(part: Any, expected: Any) -> None:
    assert places(one_pod_set({"levels": [HOSTNAME], "slices": [part]})) == expected


def test_a_host_is_found_by_its_label_and_not_only_by_its_name() -> None:
    part = {"domainCount": 1, "valuesPerLevel": [{"universal": "host"}], "podCounts": {"universal": 1}}
    assert places(one_pod_set({"levels": [HOSTNAME], "slices": [part]}), host="node-a") == (("node-a", 1),)


def test_pods_may_go_anywhere_when_they_are_placed_on_no_single_nodes() -> None:
    part = {"domainCount": 1, "valuesPerLevel": [{"universal": "rack-1"}], "podCounts": {"universal": 4}}
    assert places(one_pod_set({"levels": ["rack"], "slices": [part]})) == ((None, 4),)
    assert places(one_pod_set(None, count=2)) == ((None, 2),)
    assert places(workload(podSets=[{"count": 3}])) == ((None, 3),)


def test_an_assignment_that_contradicts_itself_is_told() -> None:
    part = {"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a"]}}], "podCounts": {"universal": 1}}
    with pytest.raises(EvaluationError, match="has 1 values and 2 counts of Pods for 2 domains"):
        places(one_pod_set({"levels": [HOSTNAME], "slices": [part]}))


def test_pods_that_are_over_are_left_out_on_request() -> None:
    part = {
        "domainCount": 2,
        "valuesPerLevel": [{"individual": {"roots": ["a", "b"]}}],
        "podCounts": {"universal": 2},
    }
    read = one_pod_set({"levels": [HOSTNAME], "slices": [part]}, reclaimablePods=[{"name": "main", "count": 3}])
    assert pod_sets(read, HOSTNAME, {}, without_reclaimed=True)[0].places == (("b", 1),)
    assert places(read) == (("a", 2), ("b", 2))


def test_requests_win_over_limits_and_init_containers_count() -> None:
    def container(**resources: Any) -> dict[str, Any]:
        return {"resources": resources}

    spec = {
        "initContainers": [container(limits={"a": 1})],
        "containers": [container(limits={"a": "2", "b": "5"}, requests={"a": "1"})],
    }
    read = workload(podSets=[{"template": {"spec": spec}}])
    assert pod_sets(read, HOSTNAME, {})[0].containers == ({"a": 1}, {"a": "1", "b": "5"})


@pytest.mark.parametrize(
    ("states", "active", "judged"),
    [
        ({"QuotaReserved": "True"}, True, True),
        ({"QuotaReserved": "True", "Evicted": "False"}, True, True),
        ({"QuotaReserved": "False"}, True, False),
        ({"QuotaReserved": "True", "Evicted": "True"}, True, False),
        ({"QuotaReserved": "True", "Admitted": "True"}, True, False),
        ({"QuotaReserved": "True", "Finished": "True"}, True, False),
        ({"QuotaReserved": "True"}, False, False),
        ({}, True, False),
    ],
)
def test_only_a_workload_that_holds_quota_and_waits_is_judged(
    states: dict[str, str], active: bool, judged: bool
) -> None:
    read = workload({"conditions": conditions(**states), "admission": {"clusterQueue": "q"}}, active=active)
    assert read.is_judged is judged
    assert not workload({"conditions": conditions(**states)}, active=active).is_judged


def test_names_are_those_of_the_shipped_rules() -> None:
    table = Vocabulary(program()).table
    assert table.read("nvidia.com/gpu") == (Family.EXCLUSIVE, "card", "")
    assert table.read("huawei.com/npu.shared") == (Family.SHARED, "card", "")
    assert table.read("alibabacloud.com/ppu.partitioned.mig-4g.48gb") == (Family.PARTITIONED, "profile", "4g.48gb")
    assert table.read("amd.com/gpu.partitioned.mig-1g") is None
    assert table.read("device.gpustack.ai/nvidia.visibility") is None
    assert table.flavor({"credits.gpustack.ai/thead": "f"}) == "f"


def test_what_rules_cannot_tell_is_no_answer_on_whoever_may_mean_it() -> None:
    rules = program()

    class Untold:
        makers = rules.makers
        block = staticmethod(rules.block)

        @staticmethod
        def evaluate(section: str, inputs: dict[str, Any], maker: str | None = None) -> Any:
            outcome = rules.evaluate(section, inputs, maker)
            if inputs.get("maker", {}).get("name") == "amd":
                return Outcome(OutcomeKind.UNKNOWN, reason="the rule is broken")
            return outcome

    words = Vocabulary(Untold())
    words.check("nvidia.com/gpu")
    with pytest.raises(EvaluationError, match=r"what amd\.com/gpu\.sliced asks for cannot be told"):
        words.check("amd.com/gpu.sliced")


def test_profiles_in_the_drivers_spelling_are_read_in_that_of_requests() -> None:
    driver = OfferedProfile("4g48gb", "4g48gb", Mib(49_152), 4, 4, (0, 4), 4)
    card = Card(CardIndex(0), DriverIndex(0), "u", "PPU", memory_mib=Mib(98_304), partitioned=True, profiles=(driver,))
    row = CardState("u", CardIndex(0), Mode.PARTITIONED, UNITS_PER_CARD, 0, (("4g48gb", 1),), (("4g48gb", 1),))
    cards = NodeCards((build_group("thead", "ppu", [card]),), {"u": row})
    words = Vocabulary(program())
    read = words.published(cards)
    assert [each.published for each in read.groups[0].cards[0].profiles] == ["4g.48gb"]
    assert read.ledger["u"].remaining_profiles == (("4g.48gb", 1),)
    assert words.published(read) is read, "published names stay"
    other = replace(cards, groups=(build_group("nvidia", "x", [card]),))
    assert words.published(other) is other, "only that maker spells them in two ways"


A, B, NOBODY = ObjectKey("n", "a"), ObjectKey("n", "b"), ObjectKey("", "")
WHOLE = Holding(KEY, Family.EXCLUSIVE)
REACH = {"f": ["x", "y"]}


def load(grants: int = 1, node: str | None = "x", flavor: str = "f") -> Load:
    return Load(flavor, Scope(KEY), node, Family.EXCLUSIVE, Credits(0), "", grants)


def promises() -> Promises:
    return Promises(lambda flavor: REACH.get(flavor, ()))


def left(of: Promises, but: ObjectKey = NOBODY, **ahead: int) -> list[int]:
    taken = {node: Counter({WHOLE: count}) for node, count in ahead.items()}
    return [each.grants for each in of.outstanding(but, REACH, taken)]


def test_a_promise_stands_until_so_much_was_taken_on_its_node() -> None:
    kept = promises()
    kept.make(A, "1", [load(2)])
    assert left(kept) == [2]
    kept.take("y", {WHOLE: 5})
    kept.take("x", {Holding(KEY, Family.SHARED): 5, Holding("acme-y2", Family.EXCLUSIVE): 5})
    assert left(kept) == [2]
    kept.take("x", {WHOLE: 1})
    assert left(kept) == [1]
    kept.take("x", {WHOLE: 1})
    assert left(kept) == []
    assert kept.is_kept


def test_what_is_taken_is_the_oldest_promises() -> None:
    kept = promises()
    kept.make(B, "2", [load()])
    kept.make(A, "1", [load(2)])
    kept.take("x", {WHOLE: 2})
    assert left(kept, A) == [1]
    assert left(kept, B) == []


def test_a_promise_to_anywhere_is_kept_on_any_node_of_the_flavor() -> None:
    kept = promises()
    kept.make(A, "1", [load(2, None)])
    kept.take("elsewhere", {WHOLE: 1})
    assert left(kept) == [2]
    kept.take("y", {WHOLE: 1})
    assert left(kept) == [1]
    assert kept.outstanding(B, {"g": ["y"]}, {}) == []


def test_what_was_taken_past_the_cache_is_counted_for_one_verdict_only() -> None:
    kept = promises()
    kept.make(A, "1", [load(2)])
    assert left(kept, B, x=1) == [1]
    assert left(kept, B) == [2]
    assert left(kept, A) == []


def test_a_promise_is_dropped_with_its_workload_and_what_it_held_is_nobodys() -> None:
    kept = promises()
    kept.make(A, "1", [load()])
    kept.take("x", {WHOLE: 1})
    kept.drop(A)
    kept.meet(B, "2", [load()], lambda _node: {WHOLE: 1})
    assert left(kept) == []
    assert (kept.since(A), kept.since(B)) == (None, "2")


def test_promises_of_others_are_taken_to_be_held_as_far_as_the_ledger_goes_the_oldest_first() -> None:
    kept = promises()
    for key, since in ((A, "1"), (B, "2")):
        kept.meet(key, since, [load()], lambda _node: {WHOLE: 1})
    assert left(kept, A) == [1]
    assert left(kept, B) == []
