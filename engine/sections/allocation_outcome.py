"""What came of one allocation: edits or a refusal, with the claims taken, the calls made and what was undone.

Decides nothing; `allocation` fills it in, tests of packs and `plan` show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import InputError


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an allocation was refused. `stage` is a section's name, or `code`; `rule` is empty unless a rule said it."""

    stage: str
    rule: str
    code: str
    status: str
    text: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """Ids taken from a pool, by which rule. `card` is empty for a claim that belongs to no card."""

    pool: str
    name: str
    card: str
    ids: tuple[int, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Called:
    """One intent handed to the driver. `done`: its outcome was accepted, so there is something to undo."""

    call: str
    card: str
    phase: str
    args: Mapping[str, Any]
    outcome: str
    undo: str
    hold: str
    done: bool

    @property
    def at(self) -> str:
        """`@uuid`, empty for a call that names no card."""
        return f"@{self.card}" if self.card else ""

    @property
    def label(self) -> str:
        """How tests and messages name it: `create@GPU-1`."""
        return f"{self.call}{self.at}"


@dataclass(frozen=True, slots=True)
class AllocationOutcome:
    """Either `edits` or a `refusal`, never both.

    Shape: `claims` are those held when it ended; `undone` are the undo calls in the order made; `fired` are rule ids of
    all stages, in order; `is_rendered_before_record` says that nothing had to wait for the record.
    """

    edits: dict[str, Any] | None = None
    refusal: Refusal | None = None
    claims: tuple[Claimed, ...] = ()
    calls: tuple[Called, ...] = ()
    undone: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()
    is_rendered_before_record: bool = False

    def shown(self) -> dict[str, Any]:
        """The outcome as one plain object: what a test of a pack compares.

        Shape: the edits' own keys, or `refuse` and `status`; beside them, only where not empty, `claims` (pool → ids as
        ranges, `"0-7,9"`), `calls` and `undone`. A claim nobody uses is thereby seen.
        """
        made: dict[str, Any] = dict(self.edits or {})
        if self.refusal is not None:
            made |= {"refuse": self.refusal.code, "status": self.refusal.status}
        if self.claims:
            ids: dict[str, list[int]] = {}
            for claim in self.claims:
                ids.setdefault(claim.pool, []).extend(claim.ids)
            made["claims"] = {pool: write_ranges(sorted(taken)) for pool, taken in ids.items()}
        if self.calls:
            made["calls"] = [call.label for call in self.calls]
        if self.undone:
            made["undone"] = list(self.undone)
        return made


def pool_key(claim: Mapping[str, Any]) -> str:
    """The pool a claim draws from: `name@uuid` for a card's, `name` for the node's."""
    return f"{claim['name']}@{claim['card']}" if claim["pool"] == "card" else str(claim["name"])


def claim_key(claim: Mapping[str, Any]) -> str:
    """What tells an owner's claims apart: `name@uuid`, or `name` where the claim belongs to no card."""
    return f"{claim['name']}@{claim['card']}" if claim.get("card") else str(claim["name"])


def write_ranges(ids: Sequence[int]) -> str:
    """Ascending ids as text: `0-7,9`; empty for none."""
    parts: list[str] = []
    start = 0
    for end in range(1, len(ids) + 1):
        if end == len(ids) or ids[end] != ids[end - 1] + 1:
            parts.append(str(ids[start]) if end - start == 1 else f"{ids[start]}-{ids[end - 1]}")
            start = end
    return ",".join(parts)


def read_ranges(value: str | Iterable[int]) -> list[int]:
    """Ids from such a text, or from a list of them. Raises InputError."""
    if not isinstance(value, str):
        return list(value)
    ids: list[int] = []
    for part in value.split(",") if value else ():
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
            raise InputError(f"`{part.strip()}` is no range of ids", where=value, remedy='write "0-7,9"')
        ids.extend(range(int(first), int(last if dash else first) + 1))
    return ids
