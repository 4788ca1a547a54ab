"""The types a pack decides: what `@slots`, `@extras`, `@claims` and the other `@names` of the catalogue stand for.

Infers nothing from expressions: `@derivedCard` and `@derivedAlloc` are the linker's, and left out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.errors import ContractError
from engine.lang.notation import parse_type
from engine.lang.types import ANY, BOOL, INT, STR, Kind, Member, Type, list_of, map_of, object_of

_WORDS: Final = {"string": "str", "integer": "int", "boolean": "bool"}
_IDS: Final = list_of(INT)
COMMON_EVENTS: Final = {"ecc": ["single-bit", "double-bit"]}
"""What drivers of every maker report, by source; rules that are the same for all makers judge the uncorrectable ones."""


def named_types(blocks: Mapping[str, Any]) -> Mapping[str, Type]:
    """The type behind each `@name`, from a pack's plain blocks (`sections` among them, as plain values).

    Shape: `slots extras flags eventSource eventCode claims allocClaims driver partitionIds probes`. A block that is missing or malformed gives an
    empty object: its own diagnostic is the model's, and every name looked up in it is then unknown.
    """
    facts = _mapping(blocks.get("facts"))
    identity = _mapping(blocks.get("identity"))
    sections = _mapping(blocks.get("sections"))
    events = {**COMMON_EVENTS, **_mapping(facts.get("events"))}
    on_card, on_alloc = _claim_types(sections.get("claims"))
    intents = _called(sections.get("prepare"), _mapping(facts.get("intents")))
    return {
        "slots": object_of({str(name): INT.or_null() for name in _sequence(identity.get("slots"))}),
        "extras": object_of({str(n): fact_type(t).or_null() for n, t in _mapping(facts.get("extras")).items()}),
        "flags": object_of({str(n): _one_of(v).or_null() for n, v in _mapping(facts.get("flags")).items()}),
        "eventSource": _one_of(list(events)),
        "eventCode": _event_code(events),
        "claims": on_card,
        "allocClaims": on_alloc,
        "driver": object_of({str(n): _answer_type(i) for n, i in intents.items()}),
        "partitionIds": object_of({str(name): INT for name in _sequence(facts.get("partitionIds"))}),
        "probes": object_of({str(n): _probe_type(p) for n, p in _mapping(blocks.get("probes")).items()}),
    }


def fact_type(notation: Any) -> Type:
    """The type a pack gives one of its facts; ANY when it cannot be read (`string` and `str` are the same word)."""
    if not isinstance(notation, str):
        return ANY
    try:
        return parse_type(re.sub(r"[A-Za-z]+", lambda word: _WORDS.get(word.group(), word.group()), notation))
    except ContractError:
        return ANY


def _one_of(values: Any) -> Type:
    return Type(Kind.STR, choices=tuple(str(value) for value in _sequence(values)))


def _event_code(events: Mapping[str, Any]) -> Type:
    """One of the codes of all sources; any text where one of them has too many to list."""
    listed = [codes for codes in events.values() if isinstance(codes, list | tuple)]
    return _one_of([code for codes in listed for code in codes]) if len(listed) == len(events) else STR


def _called(section: Any, intents: Mapping[str, Any]) -> Mapping[str, Any]:
    """The intents that some prepare rule calls; all of them where a rule computes what it calls."""
    calls = [str(emit.get("call", "")) for emit in _emits(_rules(section))]
    if any("$(" in call for call in calls):
        return intents
    return {name: intent for name, intent in intents.items() if name in calls}


def _answer_type(intent: Any) -> Type:
    """What `card.driver.<call>` is: declared fields; a field the driver may leave out is declared nullable."""
    answer = _mapping(_mapping(intent).get("answer"))
    # An `any` field counts as optional, so that nothing is promised about it.
    return object_of({str(name): _member(fact_type(kind)) for name, kind in answer.items()})


def _member(made: Type) -> Member:
    return Member(made, optional=made.nullable)


def _probe_type(probe: Any) -> Type:
    """A path is there or not; the line of a file is its text, or null when the file or the line is not there."""
    return STR.or_null() if "file" in _mapping(probe) else BOOL


def _claim_types(section: Any) -> tuple[Type, Type]:
    """Types of `card.claims` and `alloc.claims`: the names that claims rules emit, with and without a `card`."""
    on_card: dict[str, Type] = {}
    on_alloc: dict[str, Type] = {}
    for emit in _emits(_rules(section)):
        name = emit.get("name")
        if not isinstance(name, str):
            continue
        with_card = "card" in emit or "card?" in emit
        if "$(" in name:
            # A computed name: every name may be there.
            return map_of(_IDS), map_of(_IDS)
        (on_card if with_card else on_alloc)[name] = _IDS
    return object_of(on_card), object_of(on_alloc)


def _rules(section: Any) -> Any:
    return section.get("rules") if isinstance(section, Mapping) else section


def _emits(rules: Any) -> Iterator[Mapping[str, Any]]:
    for rule in _sequence(rules):
        entry = _mapping(rule)
        yield from _emits(entry.get("rules"))
        if isinstance(entry.get("emit"), Mapping):
            yield entry["emit"]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
