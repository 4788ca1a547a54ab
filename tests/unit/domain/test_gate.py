"""The verdict: what fits on which cards beside what others were promised, and the exact texts that tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from engine.domain.credits import UNITS_PER_CARD
from engine.domain.demand import Ask, Demand, Family
from engine.domain.feasibility import Ledger, max_free_slice_units, shared_free_cards
from engine.domain.gate import Question, Verdict, judge
from engine.domain.inventory import Card, Group, build_group
from engine.domain.ledger import CardState, Mode, free_state
from engine.domain.room import Load, Scope
from engine.domain.units import Credits
from tests.unit.domain.sample_cards import card, partitioned_card

SCALAR_YES = "the assigned flavor pool has enough free cards to place the request"
SCALAR_NO = "no node in the assigned flavor pool currently has enough free cards; will retry as capacity frees"


@dataclass
class Shelf:
    """A node's cards. Rows are given by card; a card without one is free, with None it has no row."""

    groups: tuple[Group, ...]
    ledger: Ledger = field(default_factory=dict)


def shelf(*cards: Card, rows: dict[int, CardState | None] | None = None) -> Shelf:
    known = {index: replace(row, uuid=f"u{index}") if row else None for index, row in (rows or {}).items()}
    ledger = {each.uuid: row for each in cards if (row := known.get(each.index, free_state(each))) is not None}
    return Shelf((build_group("acme", "x1", cards),), ledger)


def row(mode: Mode, percent_left: int, slices: int = 0, **changes: Any) -> CardState:
    state = CardState("u", 0, mode, Credits(percent_left * 16_000), allocated_slices=slices)  # type: ignore[arg-type]
    return replace(state, **changes)


def demand(family: Family, *asks: Ask, **changes: Any) -> Demand:
    values: dict[str, Any] = {"units": Credits(0), "profile": "", "flavor": "f", "roles": ("main",)} | changes
    return Demand(family, asks=asks or (Ask(None, 1, (1,)),), **values)


def slices(percent: int, pods: int = 1, **changes: Any) -> Demand:
    return demand(Family.SLICED, Ask(None, pods, (1,)), units=Credits(percent * 16_000), **changes)


def partition(profile: str, pods: int = 1, **changes: Any) -> Demand:
    return demand(Family.PARTITIONED, Ask(None, pods, (1,)), profile=profile, **changes)


def ask(nodes: dict[str, Shelf], *demands: Demand, **changes: Any) -> Verdict:
    values: dict[str, Any] = {"scopes": {"f": Scope("acme-x1")}, "reach": {"f": sorted(nodes)}} | changes
    return judge(Question(demands, stocks=nodes.get, **values))


WHOLE = demand(Family.EXCLUSIVE)


@pytest.mark.parametrize(
    ("cards", "fits"),
    [
        (shelf(card()), True),
        (shelf(card(), rows={0: row(Mode.SLICED, 80, 1)}), False),
        (shelf(card(), rows={0: row(Mode.EXCLUSIVE, 0)}), False),
        (shelf(card(), card(1), rows={0: row(Mode.SHARED, 90)}), True),
        (shelf(card(), rows={0: None}), False),
        (shelf(partitioned_card()), False),
        (shelf(card(readable=False)), False),
    ],
)
def test_a_whole_card_is_granted_only_by_a_free_unpartitioned_card_with_a_row(cards: Shelf, fits: bool) -> None:
    verdict = ask({"a": cards}, WHOLE)
    assert verdict.is_ready is fits
    assert verdict.message == (SCALAR_YES if fits else SCALAR_NO)


def test_cards_of_one_pod_lie_on_one_node_and_those_of_two_pods_need_not() -> None:
    nodes = {"a": shelf(card()), "b": shelf(card())}
    assert not ask(nodes, demand(Family.EXCLUSIVE, Ask(None, 1, (1, 1)))).is_ready
    assert ask(nodes, demand(Family.EXCLUSIVE, Ask(None, 2, (1,)))).nodes == ("a", "b")
    assert ask({"a": shelf(card(), card(1))}, demand(Family.EXCLUSIVE, Ask(None, 1, (1, 1)))).is_ready


def test_two_roles_cannot_spend_one_card_twice() -> None:
    both = (demand(Family.EXCLUSIVE, roles=("l",)), slices(10, roles=("w",)))
    assert not ask({"a": shelf(card())}, *both).is_ready
    assert ask({"a": shelf(card(), card(1))}, *both).is_ready


@pytest.mark.parametrize(("percent", "pods", "fits"), [(30, 2, True), (60, 2, False), (50, 2, True), (100, 1, True)])
def test_slices_share_a_card_as_long_as_their_units_fit(percent: int, pods: int, fits: bool) -> None:
    assert ask({"a": shelf(card())}, slices(percent, pods)).is_ready is fits


def test_a_slice_goes_to_the_fullest_card_that_fits_so_that_a_whole_one_stays() -> None:
    half = shelf(card(), card(1), rows={1: row(Mode.SLICED, 50, 1)})
    assert ask({"a": half}, slices(40), WHOLE).is_ready
    assert not ask({"a": half}, slices(60), WHOLE).is_ready


def test_slots_bound_slices_whatever_memory_is_left_and_an_unknown_size_needs_only_a_slot() -> None:
    two_slots = shelf(card(logical_slices=2), rows={0: row(Mode.SLICED, 90, 1)})
    assert ask({"a": two_slots}, slices(10)).is_ready
    assert not ask({"a": two_slots}, slices(10, 2)).is_ready
    assert ask({"a": two_slots}, slices(0)).is_ready
    assert not ask({"a": two_slots}, slices(0, 2)).is_ready
    assert not ask({"a": shelf(card())}, slices(0), WHOLE).is_ready, "a card with a slice of any size is not whole"


def test_shares_of_one_container_lie_on_distinct_cards_of_a_node_and_two_containers_may_use_one() -> None:
    nodes = {"a": shelf(card(), card(1)), "b": shelf(card())}
    assert ask(nodes, demand(Family.SHARED, Ask(None, 1, (2,)))).nodes == ("a",)
    assert not ask(nodes, demand(Family.SHARED, Ask(None, 1, (3,)))).is_ready
    assert ask({"b": shelf(card())}, demand(Family.SHARED, Ask(None, 1, (1, 1)))).is_ready


def test_a_card_has_ten_shares_and_one_of_another_mode_has_none() -> None:
    one = {"a": shelf(card(), card(1), rows={1: row(Mode.SLICED, 90, 1)})}
    assert ask(one, demand(Family.SHARED, Ask(None, 10, (1,)))).is_ready
    assert not ask(one, demand(Family.SHARED, Ask(None, 11, (1,)))).is_ready


def test_a_single_share_leaves_the_free_card_whole() -> None:
    nodes = {"a": shelf(card(), card(1), rows={0: row(Mode.SHARED, 90)})}
    assert ask(nodes, WHOLE, demand(Family.SHARED)).is_ready
    assert ask(nodes, demand(Family.SHARED, units=Credits(1)), WHOLE).is_ready


def test_pods_that_are_placed_by_topology_are_judged_by_their_own_node() -> None:
    nodes = {"a": shelf(card(), rows={0: row(Mode.SLICED, 80, 1)}), "b": shelf(card(), card(1))}
    assert not ask(nodes, demand(Family.EXCLUSIVE, Ask("a", 1, (1,)))).is_ready
    assert ask(nodes, demand(Family.EXCLUSIVE, Ask("b", 2, (1,)))).nodes == ("b",)
    assert not ask(nodes, demand(Family.EXCLUSIVE, Ask("gone", 1, (1,)))).is_ready


def test_pods_that_may_go_anywhere_leave_room_for_those_that_may_not() -> None:
    nodes = {"a": shelf(card(), card(1)), "b": shelf(card())}
    assert ask(nodes, demand(Family.EXCLUSIVE, Ask(None, 1, (1,)), Ask("a", 2, (1,)))).is_ready
    assert ask(nodes, demand(Family.EXCLUSIVE, Ask(None, 1, (1,)), Ask(None, 1, (2,)))).is_ready


def test_a_flavor_is_for_its_own_key_and_number_of_cards() -> None:
    nodes = {"a": shelf(card(), card(1))}
    for scope, fits in (
        (Scope("acme-x1"), True),
        (Scope("acme-x1", 2), True),
        (Scope("acme-x1", 1), False),
        (Scope("acme-x1", 0), False),
        (Scope("acme-y2"), False),
    ):
        assert ask(nodes, WHOLE, scopes={"f": scope}).is_ready is fits


def test_a_card_that_two_flavors_reach_is_spent_once() -> None:
    both = (demand(Family.EXCLUSIVE, flavor="f"), demand(Family.EXCLUSIVE, flavor="g"))
    scopes = {"f": Scope("acme-x1"), "g": Scope("acme-x1", 1)}
    assert not ask({"a": shelf(card())}, *both, scopes=scopes, reach={"f": ["a"], "g": ["a"]}).is_ready


def promise(family: Family, grants: int, node: str | None = "a", **changes: Any) -> Load:
    values: dict[str, Any] = {"flavor": "f", "scope": Scope("acme-x1"), "units": Credits(0), "profile": ""} | changes
    return Load(family=family, grants=grants, node=node, **values)


@pytest.mark.parametrize(
    ("promised", "fits"),
    [
        (promise(Family.EXCLUSIVE, 1), True),
        (promise(Family.EXCLUSIVE, 2), False),
        (promise(Family.EXCLUSIVE, 3), False),
        (promise(Family.EXCLUSIVE, 2, "b"), True),
        (promise(Family.EXCLUSIVE, 2, None), False),
        (promise(Family.SLICED, 2, units=Credits(30 * 16_000)), True),
        (promise(Family.SLICED, 2, units=Credits(60 * 16_000)), False),
        (promise(Family.SHARED, 10), True),
        (promise(Family.SHARED, 11), False),
        (promise(Family.EXCLUSIVE, 2, flavor="of another queue"), False),
        (promise(Family.EXCLUSIVE, 2, scope=Scope("acme-y2")), True),
    ],
)
def test_what_others_were_promised_is_no_room_any_more(promised: Load, fits: bool) -> None:
    assert ask({"a": shelf(card(), card(1))}, WHOLE, promised=[promised]).is_ready is fits


def empty_row(**remaining: int) -> CardState:
    names = {"one": "1g.10gb", "three": "3g.40gb", "four": "4g.40gb", "seven": "7g.80gb"}
    counts = tuple((names[name], count) for name, count in remaining.items())
    return row(Mode.FREE, 100, remaining_profiles=counts)


def test_partitions_are_counted_by_what_the_ledger_says_remains() -> None:
    node = {"a": shelf(partitioned_card(), rows={0: empty_row(one=2)})}
    assert ask(node, partition("1g.10gb", 2)).is_ready
    assert not ask(node, partition("1g.10gb", 3)).is_ready


def test_an_instance_costs_the_places_of_other_profiles_that_it_may_cover() -> None:
    node = {"a": shelf(partitioned_card(), rows={0: empty_row(one=7, three=2, four=1, seven=1)})}
    assert ask(node, partition("3g.40gb"), partition("4g.40gb")).is_ready is False, (
        "the driver may put 3g where 4g must be"
    )
    assert ask(node, partition("4g.40gb"), partition("3g.40gb")).is_ready
    assert ask(node, partition("3g.40gb"), partition("1g.10gb", 3)).is_ready
    assert not ask(node, partition("1g.10gb"), partition("7g.80gb")).is_ready
    assert not ask(node, partition("7g.80gb"), partition("1g.10gb")).is_ready


def test_a_card_held_in_another_mode_hosts_no_partition() -> None:
    held = replace(empty_row(one=7), mode=Mode.EXCLUSIVE)
    assert not ask({"a": shelf(partitioned_card(), rows={0: held})}, partition("1g.10gb")).is_ready


ROLES = {"is_single": False}


@pytest.mark.parametrize(
    ("demands", "node", "changes", "message"),
    [
        ((WHOLE,), shelf(card()), {}, SCALAR_YES),
        ((WHOLE,), shelf(card()), ROLES, f'{SCALAR_YES} for role "main"'),
        (
            (demand(Family.EXCLUSIVE, roles=("a", "b")),),
            shelf(card()),
            ROLES,
            f'{SCALAR_YES} for roles "a", "b"',
        ),
        ((), shelf(card()), ROLES, SCALAR_YES),
        (
            (WHOLE,),
            shelf(card(), rows={0: row(Mode.SHARED, 10)}),
            ROLES,
            'no node in the assigned flavor pool currently has enough free cards for role "main"; will retry as capacity frees',
        ),
        (
            (partition("1g.10gb"),),
            shelf(partitioned_card(), rows={0: empty_row(one=1)}),
            {},
            'the assigned flavor pool has enough partitioned cards with a free "1g.10gb" placement',
        ),
        (
            (partition("1g.10gb"),),
            shelf(partitioned_card(), rows={0: empty_row(one=0)}),
            ROLES,
            (
                'no partitioned card in the assigned flavor pool currently has a free "1g.10gb" placement for role "main"; '
                "will retry as capacity frees"
            ),
        ),
        (
            (partition("1g.10gb"),),
            shelf(card()),
            {},
            (
                'the assigned flavor pool has no partitioned card for profile "1g.10gb"; partition a card in this pool '
                "(will retry)"
            ),
        ),
        (
            (partition("9g.90gb"),),
            shelf(partitioned_card(), rows={0: empty_row(one=1)}),
            ROLES,
            (
                'the assigned flavor pool has no partitioned card for profile "9g.90gb" for role "main"; partition a card in '
                "this pool (will retry)"
            ),
        ),
        (
            (partition("1g.10gb"),),
            shelf(partitioned_card(), rows={0: row(Mode.FREE, 100)}),
            {},
            (
                "the partition placement ledger is not ready on the assigned flavor pool (device manager rolling out); will "
                "retry"
            ),
        ),
        (
            (partition("1g.10gb"),),
            shelf(partitioned_card(), rows={0: None}),
            ROLES,
            (
                'the partition placement ledger is not ready on the assigned flavor pool for role "main" (device manager '
                "rolling out); will retry"
            ),
        ),
        (
            (demand(Family.EXCLUSIVE, flavor=""),),
            shelf(card()),
            ROLES,
            (
                'the Workload\'s admission does not resolve to a single accelerator flavor for role "main", so no card '
                "population can be resolved; will retry once it does"
            ),
        ),
        (
            (WHOLE,),
            shelf(card()),
            {"scopes": {"f": Scope("")}},
            (
                "the ResourceFlavor assigned pins no single accelerator key, so which cards of its nodes are its own cannot "
                "be resolved; correct the flavor's node labels (will retry)"
            ),
        ),
        (
            (WHOLE,),
            shelf(card()),
            {"scopes": {"f": Scope("")}, "reach": {"f": []}},
            SCALAR_NO,
        ),
    ],
)
def test_the_message_says_what_the_verdict_is_about(
    demands: tuple[Demand, ...], node: Shelf, changes: dict[str, Any], message: str
) -> None:
    verdict = ask({"a": node}, *demands, **changes)
    assert verdict.message == message
    assert verdict.is_ready is ("has enough" in message and "no node" not in message)


@pytest.mark.parametrize("mode", [Mode.FREE, Mode.EXCLUSIVE, Mode.SHARED, Mode.SLICED])
@pytest.mark.parametrize("percent_left", [0, 5, 10, 55, 100])
def test_gate_and_fit_labels_agree_on_one_card(mode: Mode, percent_left: int) -> None:
    node = shelf(card(), rows={0: row(mode, percent_left, slices=int(mode is Mode.SLICED))})
    cards, ledger = node.groups[0].cards, node.ledger
    for percent in (1, 10, 50, 100):
        label = max_free_slice_units(cards, ledger) or 0
        assert ask({"a": node}, slices(percent)).is_ready is (label > percent * 16_000 - 1)
    assert ask({"a": node}, demand(Family.SHARED)).is_ready is ((shared_free_cards(cards, ledger) or 0) > 0)


def test_a_row_that_says_a_mode_and_that_nothing_is_taken_is_no_crash() -> None:
    for mode in Mode:
        node = {"a": shelf(card(), rows={0: replace(row(mode, 0), remaining_units=UNITS_PER_CARD)})}
        for each in (WHOLE, demand(Family.SHARED), slices(10), partition("1g.10gb")):
            ask(node, each)
