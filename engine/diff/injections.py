"""What containers get on either side: every mode that a kind of card serves, asked of both programs.

Allocations are made up: an empty node, one card (two for a second look at whole cards), a quarter for a slice, the first
profile for a partition, and drivers that answer what the pack declares. Kinds of cards are told apart by what rules can see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.chain.node import NodePlan
from engine.diff.difference import Injected, leaf_changes
from engine.diff.pairing import Pairing
from engine.domain.facts import CardFacts, LibraryFacts
from engine.domain.inventory import Card, Group
from engine.lang.notation import parse_type
from engine.lang.program import Program
from engine.lang.types import Kind
from engine.sections.allocation import Circumstances, allocate
from engine.sections.answer import given
from engine.sections.features import runtime_major
from engine.sections.packtests import STAGES, completed

_QUARTER: Final = 4
_PLACEHOLDERS: Final = {Kind.INT: 0, Kind.BOOL: True, Kind.LIST: [], Kind.OBJECT: {}, Kind.MAP: {}, Kind.NULL: None}
_NOT_SERVED: Final = "not served"


@dataclass(frozen=True, slots=True)
class _Subject:
    """A kind of card on one side: its group, its cards there and what their driver said."""

    node: NodePlan
    group: Group
    library: LibraryFacts
    facts: Mapping[str, CardFacts]


def injected(pairing: Pairing, old: Program, new: Program) -> Iterator[Injected]:
    """Every value that a container would get otherwise, or a refusal that is one on one side only.

    Shape: where rules look at no product, the first card of its kind speaks for all products.
    Cost: a handful of allocations for each kind of card, however many nodes have it; none where the maker's packs are
    equal.
    """
    found: dict[tuple[str, str, str, str], tuple[Any, Any, dict[str, None]]] = {}
    for before, after in _subjects(pairing, old, new):
        maker, product = before.group.manufacturer, before.group.product
        was, now = dict(_answers(old, before)), dict(_answers(new, after))
        for mode in [*was, *(mode for mode in now if mode not in was)]:
            if mode in was and mode in now:
                changes = leaf_changes(was[mode], now[mode])
            else:
                told = {True: "served", False: _NOT_SERVED}
                changes = iter([("", told[mode in was], told[mode in now])])
            for path, value, other in changes:
                # Values may hold lists; as texts they are told apart just as well.
                key = (maker, mode, path, f"{value!r} {other!r}")
                found.setdefault(key, (value, other, {}))[2][product] = None
    for (maker, mode, path, _), (value, other, products) in found.items():
        yield Injected(maker, tuple(products), mode, path, value, other)


def _subjects(pairing: Pairing, old: Program, new: Program) -> Iterator[tuple[_Subject, _Subject]]:
    same = {maker for maker in old.makers if _digest(old, maker) == _digest(new, maker)}
    named = {maker for maker in old.makers if any(_looks_at_products(each, maker) for each in (old, new))}
    seen: set[tuple[Any, ...]] = set()
    for before, after in pairing.pairs():
        if not before.groups:
            continue
        changed = [group for group in before.groups if group.manufacturer not in same]
        for group in changed:
            kind = _kind_of(group, by_product=group.manufacturer in named)
            if kind in seen:
                continue
            seen.add(kind)
            there = {card.uuid: other for other in after.groups for card in other.cards}
            other = there.get(group.cards[0].uuid)
            if other is not None:
                yield _subject(before, group), _subject(after, other)


def _kind_of(group: Group, *, by_product: bool) -> tuple[Any, ...]:
    first = group.cards[0]
    return (
        group.manufacturer,
        group.key if by_product else "",
        group.runtime_version,
        group.count > 1,
        first.partitioned,
        first.logical_slices,
        first.memory_mib,
        first.family,
    )


def _looks_at_products(program: Program, maker: str) -> bool:
    """Whether what a container gets can depend on what a card is called; a whole card as text counts."""
    pack = program.pack("inject", maker)
    if pack is None:
        return True
    written = pack.to_json(positions=False)
    text = json.dumps([written["derived"], *(body for name, body in written["sections"].items() if name in STAGES)])
    return '"product"' in text or '"json"' in text


def _digest(program: Program, maker: str) -> str | None:
    pack = program.pack("inject", maker)
    return None if pack is None else pack.digest


def _subject(node: NodePlan, group: Group) -> _Subject:
    library = next(each for each in node.facts.libraries if each.manufacturer == group.manufacturer)
    return _Subject(node, group, library, {card.uuid: card for card in library.cards})


def _answers(program: Program, subject: _Subject) -> Iterator[tuple[str, dict[str, Any]]]:
    maker = subject.group.manufacturer
    circumstances = Circumstances(answers=_driver(program, maker))
    identity = program.block("identity", maker) or {}
    for mode, alloc in _allocations(subject):
        wanted = given(arch=subject.node.facts.arch, runtimeClass=identity.get("runtimeClass"), **alloc)
        if "partition" in wanted:
            wanted["partition"]["ids"] = dict.fromkeys((program.block("facts", maker) or {}).get("partitionIds", ()), 0)
        outcome = allocate(program, maker, completed(wanted), circumstances)
        shown = outcome.shown()
        if outcome.refusal is not None:
            shown["message"] = outcome.refusal.text
        yield mode, shown


def _allocations(subject: _Subject) -> Iterator[tuple[str, dict[str, Any]]]:
    cards = subject.group.cards
    first = cards[0]
    if first.is_whole_capable:
        yield "exclusive", {"mode": "exclusive", "cards": [_card(subject, first, 0)]}
        if len(cards) > 1:
            both = [_card(subject, card, at) for at, card in enumerate(cards[:2])]
            yield "exclusive, two cards", {"mode": "exclusive", "cards": both}
        yield "shared", {"mode": "shared", "cards": [_card(subject, first, 0)]}
        yield "visibility", {"mode": "visibility", "cards": [_card(subject, first, 0)]}
    if first.is_sliceable and first.memory_mib:
        card = {**_card(subject, first, 0), "sliceMib": first.memory_mib // _QUARTER}
        yield "sliced", {"mode": "sliced", "slice": {"coresPercent": 100 // _QUARTER}, "cards": [card]}
    if first.is_partitioned and first.profiles:
        profile = first.profiles[0]
        partition = given(
            profile=profile.driver_name,
            published=profile.published,
            start=profile.starts[0],
            length=profile.span,
            uuid="PARTITION",
        )
        yield "partitioned", {"mode": "partitioned", "partition": partition, "cards": [_card(subject, first, 0)]}


def _card(subject: _Subject, card: Card, position: int) -> dict[str, Any]:
    facts = subject.facts[card.uuid]
    return given(
        position=position,
        index=card.index,
        driverIndex=card.driver_index,
        uuid=card.uuid,
        pci=facts.pci or "",
        product=card.product,
        memoryMib=card.memory_mib,
        cores=card.cores,
        family=card.family,
        computeCapability=card.compute_capability,
        runtimeMajor=runtime_major(subject.library.runtime_version),
        slots=dict(facts.slots),
        extras=dict(facts.extras),
    )


def _driver(program: Program, maker: str) -> dict[str, Any]:
    """Answers of the kind that the pack's intents declare: what is in them is made up, and the same on both sides."""
    intents = (program.block("facts", maker) or {}).get("intents") or {}
    return {
        name: {"answer": {field: _placeholder(field, text) for field, text in (intent.get("answer") or {}).items()}}
        for name, intent in intents.items()
    }


def _placeholder(field: str, notation: str) -> Any:
    kind = parse_type(notation, {})
    return kind.choices[0] if kind.choices else _PLACEHOLDERS.get(kind.kind, f"<{field}>")
