"""Cards and groups: which population a card is in, and what a group says of unequal cards."""

from __future__ import annotations

from typing import Any

import pytest

from engine.domain.inventory import build_group
from engine.domain.units import Mib
from engine.errors import ContractError
from tests.unit.domain.sample_cards import card, partitioned_card


@pytest.mark.parametrize(
    ("facts", "populations"),
    [
        ({}, (True, True, False)),
        ({"logical_slices": 0}, (True, False, False)),
        ({"partitioned": True}, (False, False, True)),
        ({"readable": False}, (False, False, False)),
        ({"readable": False, "partitioned": True}, (False, False, False)),
        ({"memory_mib": None}, (True, False, False)),
    ],
)
def test_a_card_is_whole_capable_sliceable_or_partitioned_by_what_it_reports(
    facts: dict[str, Any], populations: tuple[bool, bool, bool]
) -> None:
    one = card(**facts)
    assert (one.is_whole_capable, one.is_sliceable, one.is_partitioned) == populations


def test_the_partition_ceiling_is_that_of_the_most_numerous_profile() -> None:
    assert partitioned_card().partition_ceiling == 7
    assert card().partition_ceiling == 0
    assert card(partitioned=True).partition_ceiling == 0


def test_a_group_of_unequal_cards_takes_the_least_and_names_what_differs() -> None:
    group = build_group(
        "acme",
        "x1",
        [card(1, memory_mib=Mib(43_693), cores=8, family="B"), card(0, memory_mib=Mib(44_280), cores=16, family="C")],
        driver_version="1.2",
    )
    assert (group.key, group.count, group.memory_mib, group.cores, group.family) == ("acme-x1", 2, 43_693, 8, "B")
    assert [one.index for one in group.cards] == [0, 1]
    assert group.disagreements == ("cores", "family", "memoryMib")
    assert build_group("acme", "x1", [card()]).disagreements == ()


def test_a_memory_that_is_not_known_does_not_make_the_group_unknown() -> None:
    assert build_group("acme", "x1", [card(memory_mib=None), card(1)]).memory_mib == 24_563
    assert build_group("acme", "x1", [card(memory_mib=None)]).memory_mib is None


def test_an_unreadable_card_stays_in_the_count_and_in_no_population() -> None:
    group = build_group("acme", "x1", [card(), card(1, readable=False), partitioned_card(2)], key="acme-x1")
    assert (group.count, len(group.sliceable_cards), group.logical_slices, len(group.partitioned_cards)) == (
        3,
        1,
        128,
        1,
    )


def test_compute_is_promised_more_than_once_only_where_every_sliceable_card_allows_it() -> None:
    allowing = card(cores_overcommit=True)
    assert build_group("acme", "x1", [allowing, partitioned_card(1)]).cores_overcommit
    assert not build_group("acme", "x1", [allowing, card(1)]).cores_overcommit
    assert not build_group("acme", "x1", [partitioned_card()]).cores_overcommit


def test_a_group_without_cards_breaks_the_contract() -> None:
    with pytest.raises(ContractError, match="acme-x1"):
        build_group("acme", "x1", [])
