"""The `alloc` object that the four allocation stages look at: one notation, put together stage by stage.

Says nothing about what a stage emits, and nothing about the types a pack decides: those stand here as `@names`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

STATUSES: Final = (
    "'Aborted'|'DeadlineExceeded'|'FailedPrecondition'|'Internal'|'InvalidArgument'|'NotFound'|'ResourceExhausted'"
    "|'Unavailable'|'Unimplemented'"
)
"""gRPC status names a rule may refuse with. Source: the gRPC status codes; the ones no refusal can mean are left out."""

MODES: Final = "'exclusive'|'shared'|'sliced'|'partitioned'|'visibility'"

_CARD: Final = (
    "position: int, index: int, driverIndex: int, uuid: str, pci: str, product: str, memoryMib?: int, cores?: int, "
    "family?: str, computeCapability?: str, runtimeMajor?: int, sliceMib?: int, slots: @slots, extras: @extras, "
    "derived: @derivedCard"
)
_PARTITION: Final = "profile: str, published: str, start: int, length: int"
_ALLOC: Final = (
    f"mode: {MODES}, grant: 'whole'|'slice'|'partition', container: str, podUid: str, arch: 'amd64'|'arm64', "
    "runtimeClass?: str, channel: 'envvar'|'cdi', slice?: {coresPercent: int, wholeCard: bool}, derived: @derivedAlloc"
)


class Stage(StrEnum):
    """The stages of one allocation, in order. Each sees all that the one before it saw."""

    GUARDS = "guards"
    CLAIMS = "claims"
    PREPARE = "prepare"
    INJECT = "inject"


def card_notation(stage: Stage) -> str:
    """One card as a stage sees it: claims are known from prepare on, driver answers in inject."""
    members = _CARD
    if stage in (Stage.PREPARE, Stage.INJECT):
        members += ", claims: @claims"
    if stage is Stage.INJECT:
        members += ", driver: @driver"
    return f"{{{members}}}"


def alloc_notation(stage: Stage) -> str:
    """The input of a stage: its cards, the node's own claims from prepare on, partition ids in inject."""
    partition, alloc = _PARTITION, _ALLOC
    if stage in (Stage.PREPARE, Stage.INJECT):
        alloc += ", claims: @allocClaims"
    if stage is Stage.INJECT:
        # Code has made the partition by then, so both are always there.
        partition += ", uuid: str, ids: @partitionIds"
    return f"alloc: {{{alloc}, partition?: {{{partition}}}, cards: {card_notation(stage)}[]}}"
