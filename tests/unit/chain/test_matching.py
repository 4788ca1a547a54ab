"""Matching: a queue is fed by the flavors that carry its whole selector, and by no other."""

from __future__ import annotations

from engine.chain.matching import Matching

OS = {"kubernetes.io/os": "linux"}
CARD = OS | {"acceleratable.feature.gpustack.ai/acme-x": "true"}


def test_a_selector_that_is_a_subset_of_the_labels_matches_both_ways() -> None:
    matching = Matching()
    matching.put_queue("all", OS)
    matching.put_queue("cards", CARD)
    matching.put_flavor("card", CARD | {"more": "x"})
    matching.put_flavor("cpu", OS | {"more": "x"})
    assert matching.queues("card") == ["all", "cards"]
    assert matching.queues("cpu") == ["all"]
    assert matching.flavors("all") == ["card", "cpu"]
    assert matching.flavors("cards") == ["card"]


def test_a_queue_without_selector_is_fed_by_nothing() -> None:
    matching = Matching()
    matching.put_queue("open", {})
    matching.put_flavor("cpu", OS)
    assert (matching.flavors("open"), matching.queues("cpu")) == ([], [])
    matching.drop_queue("open")
    assert matching.flavors("open") == []


def test_what_was_dropped_or_relabelled_matches_no_more() -> None:
    matching = Matching()
    matching.put_queue("cards", CARD)
    matching.put_flavor("card", CARD)
    matching.put_flavor("card", OS)
    assert matching.flavors("cards") == []
    matching.put_flavor("card", CARD)
    matching.put_queue("cards", CARD | {"zone": "a"})
    assert matching.queues("card") == []
    matching.put_queue("cards", CARD)
    assert matching.queues("card") == ["cards"]
    matching.drop_queue("cards")
    matching.drop_flavor("card")
    matching.drop_flavor("card")
    assert (matching.queues("card"), matching.flavors("cards")) == ([], [])


def test_a_label_with_another_value_does_not_match() -> None:
    matching = Matching()
    matching.put_queue("linux", OS)
    matching.put_flavor("windows", {"kubernetes.io/os": "windows"})
    assert (matching.flavors("linux"), matching.queues("windows")) == ([], [])
