"""Requests of pod sets become demands: which resource is whose, how amounts add up, what merges, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from engine.domain.demand import Ask, ClaimNames, ClaimTable, Demand, Family, PodSet, read_demands
from engine.domain.units import Credits
from engine.errors import EvaluationError

ACME = ClaimNames(
    maker="acme",
    credits="credits/acme",
    exclusive="acme.io/card",
    shared="acme.io/card.shared",
    sliced="acme.io/card.sliced",
    sliced_units="acme.io/card.sliced.units",
    partitioned="acme.io/card.partitioned",
    partitioned_units="acme.io/card.partitioned.units",
    profile_prefix="acme.io/card.partitioned.mig-",
)
PLAIN = ClaimNames("plain", "credits/plain", "plain.io/card", "plain.io/card.shared", "plain.io/s", "plain.io/s.units")
TABLE = ClaimTable([ACME, PLAIN])
FLAVOR = {"credits/acme": "f"}


def pod_set(*containers: Mapping[str, str | int], name: str = "main", **changes: Any) -> PodSet:
    values: dict[str, Any] = {"flavors": FLAVOR, "places": ((None, 1),)} | changes
    return PodSet(name, containers, **values)


def demands(*pod_sets: PodSet) -> tuple[Demand, ...]:
    return read_demands(pod_sets, TABLE)


@pytest.mark.parametrize(
    ("resource", "read"),
    [
        ("acme.io/card", (Family.EXCLUSIVE, "card", "")),
        ("acme.io/card.shared", (Family.SHARED, "card", "")),
        ("acme.io/card.sliced", (Family.SLICED, "card", "")),
        ("acme.io/card.sliced.units", (Family.SLICED, "units", "")),
        ("acme.io/card.partitioned", (Family.PARTITIONED, "card", "")),
        ("acme.io/card.partitioned.units", (Family.PARTITIONED, "units", "")),
        ("acme.io/card.partitioned.mig-4g.48gb", (Family.PARTITIONED, "profile", "4g.48gb")),
        ("acme.io/card.partitioned.mig-", None),
        ("acme.io/card.sliced.memory-mib", None),
        ("plain.io/card.partitioned", None),
        ("device.io/acme.visibility", None),
        ("cpu", None),
    ],
)
def test_a_resource_belongs_to_a_family_by_its_name_alone(resource: str, read: object) -> None:
    assert TABLE.read(resource) == read


def test_cards_add_up_over_containers_and_are_counted_for_each_pod() -> None:
    (one,) = demands(pod_set({"acme.io/card": "2"}, {"acme.io/card": 1, "cpu": "4"}, {"cpu": "1"}, places=((None, 3),)))
    assert one == Demand(Family.EXCLUSIVE, Credits(0), "", "f", ("main",), (Ask(None, 3, (2, 1)),))
    assert one.asks[0].cards == 3


def test_units_are_the_most_that_a_container_asks_for_and_a_profile_is_the_first_by_name() -> None:
    (one,) = demands(
        pod_set(
            {"acme.io/card.partitioned": "1", "acme.io/card.partitioned.mig-3g.40gb": "1"},
            {
                "acme.io/card.partitioned": "1",
                "acme.io/card.partitioned.mig-1g.10gb": "1",
                "acme.io/card.partitioned.units": "800000",
            },
        )
    )
    assert (one.family, one.profile, one.units, one.asks[0].cards) == (Family.PARTITIONED, "1g.10gb", 800_000, 2)


@pytest.mark.parametrize("quantity", ["0", 0, "-1"])
def test_a_family_without_a_card_is_no_demand(quantity: str | int) -> None:
    assert demands(pod_set({"acme.io/card": quantity, "acme.io/card.sliced.units": "320k"})) == ()
    assert demands(pod_set({"acme.io/card": "1"}, places=((None, 0),))) == ()


def test_a_fraction_of_a_card_counts_as_one_as_in_kubernetes() -> None:
    (one,) = demands(pod_set({"acme.io/card": "1m"}))
    assert one.asks[0].cards == 1


def test_equal_demands_of_two_pod_sets_are_one_with_both_roles() -> None:
    leader, worker = (
        pod_set({"acme.io/card": "1"}, name=name, places=((node, 2),)) for name, node in (("w", "b"), ("l", "a"))
    )
    (one,) = demands(leader, worker)
    assert one.roles == ("l", "w")
    assert {ask.node: ask.pods for ask in one.asks} == {"a": 2, "b": 2}


def test_partitions_come_first_then_larger_units_then_families_by_name() -> None:
    found = demands(
        pod_set({"acme.io/card.shared": "1"}, name="shared"),
        pod_set({"acme.io/card": "1"}, name="exclusive"),
        pod_set({"acme.io/card.sliced": "1", "acme.io/card.sliced.units": "320k"}, name="small"),
        pod_set({"acme.io/card.sliced": "1", "acme.io/card.sliced.units": "800k"}, name="large"),
        pod_set({"acme.io/card.partitioned": "1", "acme.io/card.partitioned.mig-1g.10gb": "1"}, name="partition"),
    )
    assert [each.roles[0] for each in found] == ["partition", "large", "small", "exclusive", "shared"]


@pytest.mark.parametrize(
    ("flavors", "flavor"),
    [
        ({"credits/acme": "f", "cpu": "g"}, "f"),
        ({"cpu": "g"}, ""),
        ({}, ""),
        ({"credits/acme": "f", "credits/plain": "g"}, ""),
    ],
)
def test_the_flavor_is_that_of_the_only_credits_in_the_assignment(flavors: dict[str, str], flavor: str) -> None:
    (one,) = demands(pod_set({"acme.io/card": "1"}, flavors=flavors))
    assert one.flavor == flavor


def test_absurd_amounts_are_clamped_and_what_is_no_quantity_is_told() -> None:
    (one,) = demands(pod_set({"acme.io/card": "9E"}, places=((None, 2**40),)))
    assert one.asks == (Ask(None, 2**31 - 1, (2**31 - 1,)),)
    with pytest.raises(EvaluationError, match=r"acme\.io/card of pod set main: 'many' is not a quantity"):
        demands(pod_set({"acme.io/card": "many"}))
