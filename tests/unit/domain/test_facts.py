"""Facts: equal machines are equal values."""

from __future__ import annotations

from engine.domain.facts import CardFacts, LibraryFacts, NodeFacts, Placement
from engine.domain.units import DriverIndex


def test_a_node_read_twice_is_equal_and_one_changed_fact_makes_it_differ() -> None:
    def node(index: int) -> NodeFacts:
        card = CardFacts("u0", DriverIndex(index), slots={"minor": 0})
        return NodeFacts("n", "linux", "amd64", libraries=(LibraryFacts("acme", cards=(card,)),))

    assert node(0) == node(0)
    assert node(0) != node(1)


def test_host_facts_that_have_not_arrived_are_not_an_empty_bus() -> None:
    assert NodeFacts("n", "linux", "amd64").pci is None


def test_runs_that_only_touch_do_not_overlap() -> None:
    assert not Placement(0, 4).overlaps(Placement(4, 4))
    assert Placement(0, 4).overlaps(Placement(3, 1))
    assert Placement(2, 2).end == 4
