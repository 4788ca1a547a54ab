"""Old files read back: what they hold, what is about another node's card, and what cannot be believed."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InputError
from engine.sections.recover import Corrupt, Elsewhere, Recovered, block_for, recover

CARDS: list[dict[str, Any]] = [
    {"uuid": "A", "pci": "0000:01:00.0", "slots": {"physical": 4}},
    {"uuid": "B", "pci": "0000:02:00.0", "slots": {"physical": 5}},
]
LINES: dict[str, Any] = {
    "files": "etc/v*.conf",
    "format": "lines",
    "card": {"pci": "Bus"},
    "claims": {"cu": {"hexWords": "mask"}, "id": {"int": "id"}},
    "requires": ["Bus", "mask", "mask"],
    "onCorrupt": "refuse",
}
JSON: dict[str, Any] = {
    "files": "marker.json",
    "format": "json",
    "intent": "create",
    "match": {"podUid": "pod", "container": "name", "card.pci": "bus", "args.memoryMib": "mem"},
    "answer": {"index": "index"},
    "claims": {"sub": {"int": "index", "all": -1}},
    "onCorrupt": "skip",
}
OWNER = {"podUid": "p", "container": "c"}
GOOD = '{"pod": "p", "name": "c", "bus": "0000:02:00.0", "mem": 512, "index": 3}'


def lines(text: str, **block: Any) -> Any:
    return recover({**LINES, **block}, text, CARDS, {})


def json_of(text: str, **block: Any) -> Any:
    return recover({**JSON, **block}, text, CARDS, OWNER)


def test_words_of_a_mask_are_joined_low_word_first_and_name_their_bits() -> None:
    found = lines("Bus: 0000:02:00.0\n\nmask: 0x8000000000000001\nmask: 0x3\nid: 7\n")
    assert found == Recovered("B", {"cu": (0, 63, 64, 65), "id": (7,)})


def test_a_number_in_a_text_file_finds_the_card_by_its_slot() -> None:
    block = {"card": {"slots.physical": "npu"}, "claims": {}, "requires": [], "separator": "="}
    assert lines("npu=4\n", **block) == Recovered("A")


def test_an_intent_is_told_with_its_arguments_and_its_answer() -> None:
    assert json_of(GOOD) == Recovered("B", {"sub": (3,)}, "create", {"memoryMib": 512}, {"index": 3})


def test_a_claim_of_all_ids_is_a_whole_card_and_has_no_intent() -> None:
    assert json_of(GOOD.replace('"index": 3', '"index": -1')) == Recovered("B", {"sub": None})


def test_a_sound_file_about_a_card_that_is_gone_holds_nothing_here() -> None:
    assert json_of(GOOD.replace(":02:", ":09:")) == Elsewhere("no card has pci 0000:09:00.0")


def test_a_file_that_fits_two_cards_is_not_believed() -> None:
    twins = [{**card, "pci": "0000:02:00.0"} for card in CARDS]
    assert recover(JSON, GOOD, twins, OWNER) == Corrupt("2 cards have pci 0000:02:00.0", refuses=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Bus: x\nmask: 0x1\nid: 1", "mask is there 1 times, wanted 2"),
        ("Bus: 0000:02:00.0\nmask: 0x1\nmask: 0x0", "id is there 0 times, wanted 1"),
        ("Bus: 0000:02:00.0\nmask: 0x1\nmask: 0x0\nid: -4", "id is -4, wanted 0 or more"),
        ("Bus: 0000:02:00.0\nmask: 0x1\nmask: 0x0\nid: four", "id is four, wanted a number"),
        ("Bus: 0000:02:00.0\nmask: 0x1\nmask: 0x10000000000000000\nid: 1", "mask has more than 64 bits"),
        ("Bus: 0000:02:00.0\nmask: 0x1\nmask: -0x1\nid: 1", "mask has more than 64 bits"),
        ("nothing", "line 1 has no :"),
    ],
)
def test_what_a_broken_file_of_lines_is_told(text: str, why: str) -> None:
    assert lines(text) == Corrupt(why, refuses=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("3", "it is no JSON object"),
        (GOOD.replace('"p"', '"q"'), "pod is q, but the file is of p"),
        (GOOD.replace('"c"', '"d"'), "name is d, but the file is of c"),
        (GOOD.replace('"mem": 512, ', ""), "mem is there 0 times, wanted 1"),
        (GOOD.replace("3}", "true}"), "index is True, wanted a number"),
    ],
)
def test_what_a_broken_json_file_is_told(text: str, why: str) -> None:
    assert json_of(text) == Corrupt(why, refuses=False)


def test_a_block_is_found_by_the_path_of_the_file() -> None:
    blocks = [LINES, JSON]
    assert block_for(blocks, "etc/v12.conf") is LINES
    assert block_for(blocks, "marker.json") is JSON
    assert block_for(blocks, "other/marker.json") is None


def test_a_block_that_names_a_field_no_card_has_is_told_so() -> None:
    with pytest.raises(InputError, match=r"no card has a field pci\.bus"):
        lines("Bus: x\nmask: 0x1\nmask: 0x0\nid: 1", card={"pci.bus": "Bus"})
