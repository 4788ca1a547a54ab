"""Files of an earlier version read back: what a container held, in the words of the pack's `recover` block.

Finds no files and keeps nothing: which files there are is the agent's to know, and what it does with claims and intents
is the journal's. Read only where the journal has no record.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from engine.errors import InputError

WORD_BITS: Final = 64
"""Bits of one word of a mask. Source: the width of `cu_mask` in specification 10 §6.7."""

OWNER: Final = ("podUid", "container")
"""What `match` may say of whose file it is."""

CARD_FIELDS: Final = ("uuid", "pci")
"""What a card is known by, beside its slots (`slots.<slot>`)."""

CARD_PREFIX: Final = "card."
ARGS_PREFIX: Final = "args."

HEX_WORDS: Final = "hexWords"
INT: Final = "int"
ALL: Final = "all"
"""How the ids of a claim are read: a mask in words, or one number, of which one value may stand for all."""

Ids = tuple[int, ...] | None
"""The ids of a claim; None means every id of its pool."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What one file says that its container holds on one card.

    Shape: `intent` is the call that was made, with its `args` and `answer`, and empty where none is to be undone.
    """

    card: str
    claims: Mapping[str, Ids] = field(default_factory=dict)
    intent: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The file is sound, and about a card that this node does not have: it holds nothing here."""

    why: str


@dataclass(frozen=True, slots=True)
class Corrupt:
    """The file cannot be believed. `refuses` says that nothing may be handed out until somebody looked at it."""

    why: str
    refuses: bool


class _CorruptError(Exception):
    pass


def block_for(blocks: Iterable[Mapping[str, Any]], path: str) -> Mapping[str, Any] | None:
    """The `recover` block that reads a file, by its path below the container's directory; None when none does."""
    return next((block for block in blocks if fnmatchcase(path, block["files"])), None)


def recover(
    block: Mapping[str, Any], text: str, cards: Sequence[Mapping[str, Any]], owner: Mapping[str, str]
) -> Recovered | Elsewhere | Corrupt:
    """What a file holds.

    Shape: `cards` are the node's, with `uuid`, `pci` and `slots`; `owner` is whose directory the file lies in
    (`podUid`, `container`), as far as it is known. A claim of all ids is a whole card: nothing was made for it, so it
    has no intent. Raises: InputError: the block names a field that no card has.
    """
    try:
        return _recover(block, _fields(block, text), cards, owner)
    except _CorruptError as error:
        return Corrupt(str(error), refuses=block["onCorrupt"] == "refuse")


def _recover(
    block: Mapping[str, Any],
    fields: Mapping[str, list[Any]],
    cards: Sequence[Mapping[str, Any]],
    owner: Mapping[str, str],
) -> Recovered | Elsewhere:
    for name, least in Counter(block.get("requires") or ()).items():
        if len(fields.get(name, ())) < least:
            raise _CorruptError(f"{name} is there {len(fields.get(name, ()))} times, wanted {least}")
    match = dict(block.get("match") or {})
    for name in OWNER:
        if name in match and name in owner:
            seen = _one(fields, match[name])
            if seen != owner[name]:
                raise _CorruptError(f"{match[name]} is {seen}, but the file is of {owner[name]}")
    wanted = {path: _one(fields, key) for path, key in (block.get("card") or {}).items()}
    wanted |= {
        path.removeprefix(CARD_PREFIX): _one(fields, key) for path, key in match.items() if path.startswith(CARD_PREFIX)
    }
    claims = {name: _ids(fields, spec) for name, spec in (block.get("claims") or {}).items()}
    args = {
        path.removeprefix(ARGS_PREFIX): _one(fields, key) for path, key in match.items() if path.startswith(ARGS_PREFIX)
    }
    answer = {name: _one(fields, key) for name, key in (block.get("answer") or {}).items()}
    fitting = [card for card in cards if all(_says(card, path, value) for path, value in wanted.items())]
    said = ", ".join(f"{path} {value}" for path, value in wanted.items())
    if not fitting:
        return Elsewhere(f"no card has {said}")
    if len(fitting) > 1:
        raise _CorruptError(f"{len(fitting)} cards have {said}")
    uuid = str(fitting[0]["uuid"])
    if not block.get("intent") or None in claims.values():
        return Recovered(uuid, claims)
    return Recovered(uuid, claims, str(block["intent"]), args, answer)


def _fields(block: Mapping[str, Any], text: str) -> dict[str, list[Any]]:
    """Every value of every key, in the order written."""
    made: dict[str, list[Any]] = {}
    if block["format"] == "json":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _CorruptError("it is no JSON") from error
        if not isinstance(value, dict):
            raise _CorruptError("it is no JSON object")
        return {key: [item] for key, item in value.items()}
    separator = block.get("separator") or ":"
    for number, line in enumerate(text.splitlines(), start=1):
        key, found, value = line.partition(separator)
        if not line.strip():
            continue
        if not found:
            raise _CorruptError(f"line {number} has no {separator}")
        made.setdefault(key.strip(), []).append(value.strip())
    return made


def _one(fields: Mapping[str, list[Any]], key: str) -> Any:
    values = fields.get(key, [])
    if len(values) != 1:
        raise _CorruptError(f"{key} is there {len(values)} times, wanted 1")
    return values[0]


def _ids(fields: Mapping[str, list[Any]], spec: Mapping[str, Any]) -> Ids:
    if HEX_WORDS in spec:
        key = spec[HEX_WORDS]
        words = [_number(key, word, base=16) for word in fields.get(key, ())]
        if any(word >> WORD_BITS for word in words):
            raise _CorruptError(f"{key} has more than {WORD_BITS} bits")
        bits = sum(word << (WORD_BITS * at) for at, word in enumerate(words))
        return tuple(at for at in range(bits.bit_length()) if bits >> at & 1)
    number = _number(spec[INT], _one(fields, spec[INT]), base=10)
    if ALL in spec and number == spec[ALL]:
        return None
    if number < 0:
        raise _CorruptError(f"{spec[INT]} is {number}, wanted 0 or more")
    return (number,)


def _number(key: str, value: Any, *, base: int) -> int:
    if type(value) is int:
        return value
    try:
        return int(str(value), base)
    except ValueError:
        raise _CorruptError(f"{key} is {value}, wanted a number") from None


def _says(card: Mapping[str, Any], path: str, value: Any) -> bool:
    """Whether a card's field (`pci`, `slots.physical`) has that value; a number in a text file is a text."""
    seen: Any = card
    for step in path.split("."):
        if not isinstance(seen, Mapping):
            raise InputError(f"no card has a field {path}", where="recover", remedy="name uuid, pci or slots.<slot>")
        seen = seen.get(step)
    return seen is not None and str(seen) == str(value)
