"""What a pack's blocks decide about the types its allocation rules are checked against."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lang.notation import parse_shape, parse_type
from engine.lang.types import Kind
from engine.sections import claims, guards, health, inject, prepare, prerequisites
from engine.sections.alloc_input import Stage, alloc_notation, card_notation
from engine.sections.named_types import fact_type, named_types

BLOCKS: dict[str, Any] = {
    "identity": {"slots": ["card", "render"]},
    "facts": {
        "extras": {"gfx": "string", "lanes": "int[]"},
        "partitionIds": ["gi", "ci"],
        "flags": {"mode": ["on", "off"]},
        "events": {"health": ["ok", "bad"]},
        "intents": {"create": {"answer": {"index": "int", "node": "string?"}}, "destroy": {}},
    },
    "probes": {"dev": {"path": "/dev/a"}, "version": {"file": "/proc/a", "line": "v"}},
    "sections": {
        "claims": {
            "select": "list",
            "rules": [{"rules": [{"emit": {"name": "cu", "card": "$(card.uuid)"}}]}, {"emit": {"name": "vdev"}}],
        },
        "prepare": [{"id": "p", "emit": {"call": "create"}}],
    },
}


@pytest.mark.parametrize(
    ("name", "notation"),
    [
        ("slots", "{card?: int, render?: int}"),
        ("extras", "{gfx?: str, lanes?: int[]}"),
        ("partitionIds", "{gi: int, ci: int}"),
        ("flags", "{mode?: 'on'|'off'}"),
        ("eventSource", "'ecc'|'health'"),
        ("eventCode", "'single-bit'|'double-bit'|'ok'|'bad'"),
        ("claims", "{cu: int[]}"),
        ("allocClaims", "{vdev: int[]}"),
        ("driver", "{create: {index: int, node?: str}}"),
        ("probes", "{dev: bool, version?: str}"),
    ],
)
def test_the_types_of_a_pack_follow_from_its_blocks(name: str, notation: str) -> None:
    assert str(named_types(BLOCKS)[name]) == notation


def test_types_that_the_linker_infers_are_left_out() -> None:
    assert not {"derivedCard", "derivedAlloc"} & set(named_types(BLOCKS))


@pytest.mark.parametrize(
    "blocks", [{}, {"facts": [], "identity": {"slots": 1}, "sections": {"claims": ["x", {"emit": 1}]}}]
)
def test_blocks_that_are_not_there_or_broken_give_empty_objects(blocks: dict[str, Any]) -> None:
    made = {name: str(kind) for name, kind in named_types(blocks).items()}
    assert made.pop("eventSource") == "'ecc'"
    assert made.pop("eventCode") == "'single-bit'|'double-bit'"
    assert set(made.values()) == {"{}"}


def test_codes_that_are_too_many_to_list_leave_the_code_open() -> None:
    made = named_types({"facts": {"events": {"xid": "string"}}})
    assert (str(made["eventSource"]), str(made["eventCode"])) == ("'ecc'|'xid'", "str")


def test_a_computed_name_leaves_the_names_open() -> None:
    claimed = named_types({"sections": {"claims": [{"emit": {"name": 3}}, {"emit": {"name": "cu-$(x)"}}]}})
    assert str(claimed["claims"]) == str(claimed["allocClaims"]) == "map<int[]>"
    intents = {"facts": BLOCKS["facts"], "sections": {"prepare": [{"emit": {"call": "$(x)"}}]}}
    assert named_types(intents)["driver"].names == ("create", "destroy")
    unread = {
        "facts": {"intents": {"a": {"answer": {"x": "tuple"}}}},
        "sections": {"prepare": [{"emit": {"call": "a"}}]},
    }
    assert str(named_types(unread)["driver"]) == "{a: {x?: any}}"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("string", "str"),
        ("integer", "int"),
        ("boolean", "bool"),
        ("str?", "str?"),
        ("int[]", "int[]"),
        ("tuple", "any"),
        (3, "any"),
    ],
)
def test_a_facts_type_is_read_in_either_spelling(written: Any, read: str) -> None:
    assert str(fact_type(written)) == read


def test_each_stage_sees_what_exists_by_then() -> None:
    named = named_types(BLOCKS)
    cards = {stage: parse_type(card_notation(stage), named).names for stage in Stage}
    assert cards[Stage.GUARDS] == cards[Stage.CLAIMS]
    assert set(cards[Stage.PREPARE]) - set(cards[Stage.CLAIMS]) == {"claims"}
    assert set(cards[Stage.INJECT]) - set(cards[Stage.PREPARE]) == {"driver"}
    partition = {stage: "ids: " in alloc_notation(stage) for stage in Stage}
    assert [stage for stage, there in partition.items() if there] == [Stage.INJECT]


@pytest.mark.parametrize("module", [claims, guards, health, inject, prepare, prerequisites])
def test_every_declaration_reads_in_the_notation(module: Any) -> None:
    section = module.SECTION
    assert section.input_type(named_types(BLOCKS)).kind is Kind.OBJECT
    (shape,) = section.emit_types(named_types(BLOCKS))
    assert shape.kind is Kind.OBJECT
    if section.message:
        assert parse_shape(section.message)[0].kind is Kind.OBJECT
