"""Lint of `recover` blocks: what they name has to be there, and every one of them has to be of use."""

from __future__ import annotations

import pytest

from tests.unit.sections.test_packlint import said

PACK = """\
facts:
  intents:
    create: {args: {memoryMib: int, percent: int}, answer: {index: int}, outcomes: [ok]}
recover:
  - files: slice.json
    format: json
    intent: create
    match: {podUid: pod, container: name, card.pci: bus, args.memoryMib: mem}
    answer: {index: index}
    claims: {part: {int: index, all: -1}}
    onCorrupt: skip
  - files: etc/*.conf
    format: lines
    separator: "="
    card: {slots.minor: minor}
    claims: {mask: {hexWords: mask}}
    onCorrupt: refuse
sections:
  claims:
    - id: claim-part
      emit: {name: part, pool: card, card: "$(alloc.cards[0].uuid)", size: 8, count: 1, refuse: ACME_PART}
      message: none is left
    - id: claim-mask
      emit: {name: mask, pool: card, card: "$(alloc.cards[0].uuid)", size: 8, count: 1, refuse: ACME_MASK}
      message: none is left
  prepare:
    - id: prepare-slice
      when: alloc.grant == 'slice'
      emit: {call: create, args: {memoryMib: 1, percent: 2}, phase: beforeRecord, undo: none, refuse: ACME_FULL}
      message: no slice is left
"""


def test_blocks_that_fit_the_pack_are_not_reported() -> None:
    assert said(PACK) == []


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("slots.minor: minor", "slots.mnor: minor", "no card has a field `slots.mnor`"),
        ("card.pci: bus", "card.bus: bus", "no card has a field `bus`"),
        ("podUid: pod", "pod: pod", "nothing is matched with `pod`"),
        ("    card: {slots.minor: minor}\n", "", "the block does not say which card a file is about"),
        ("claims: {part:", "claims: {prt:", "no rule claims `prt`"),
        ("{hexWords: mask}", "{hex: mask}", "`mask` is read in no known way"),
        ("{int: index, all: -1}", "{all: -1}", "`part` is read in no known way"),
        ("intent: create\n", "intent: creat\n", "`facts.intents` declares no call `creat`"),
        ("args.memoryMib: mem", "args.memory: mem", "`create` takes no argument `memory`"),
        ("answer: {index: index}\n", "answer: {indx: index}\n", "`create` answers no `indx`"),
        ("etc/*.conf", "slice.json", "an earlier block reads these files"),
        ("format: lines", "format: json", "a JSON file has no separator"),
    ],
)
def test_a_block_that_does_not_fit_is_reported_once(old: str, new: str, wanted: str) -> None:
    assert old in PACK
    body = PACK.replace(old, new, 1)
    assert said(body) == [f"RP543 {wanted}"]


def test_what_belongs_to_a_call_is_reported_where_no_call_is_named() -> None:
    assert said(PACK.replace("    intent: create\n", "")) == [
        "RP543 `args.memoryMib` belongs to a call, and the block names none",
        "RP543 `index` belongs to a call, and the block names none",
    ]


def test_a_claim_whose_name_is_computed_may_be_any() -> None:
    body = PACK.replace("emit: {name: mask,", 'emit: {name: "$(alloc.cards[0].uuid)",').replace(
        "claims: {part:", "claims: {prt:"
    )
    assert said(body) == []
