"""The `features` section: what a card can be cut into.

The counting of populations and pools is the domain's; a card without a memory figure gets no slices whatever a rule says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.domain.facts import CardFacts, LibraryFacts
from engine.domain.inventory import NO_MEMORY
from engine.domain.units import Mib
from engine.errors import EvaluationError
from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.model import Model
from engine.values.versions import version_part

SECTION: Final = Section(
    name="features",
    owner=Owner.MANUFACTURER,
    combine=Combine.FIRST,
    optional=True,
    runs="N",
    once_per="card",
    input=(
        "card: {partitioning: 'unsupported'|'disabled'|'enabled'|'unreadable', memoryMib?: int},"
        " model: {product: str, family?: str}, runtime: {version?: str, major?: int},"
        " node: {partitioning?: 'unsupported'|'disabled'|'enabled'|'unreadable', arch: str}, driver: {capabilities: str[]}"
    ),
    emit=(
        "{logicalSlices: int = 0, coresOvercommit: bool = false, partitions: bool = false,"
        " isolation: 'none'|'advisory'|'preload'|'driver'|'hardware' = 'none', sliceReleasedOnTermination: bool = true,"
        " reserveMib: int = 0, grantUnit: int = 1}"
    ),
    help="How many logical slices a card has, whether it is in partitions, and how well a slice is kept apart.",
)


@dataclass(frozen=True, slots=True)
class CardFeatures:
    """What a card offers; the defaults are those of a card that can only be had whole or shared."""

    logical_slices: int = 0
    cores_overcommit: bool = False
    partitions: bool = False
    isolation: str = "none"
    slice_released_on_termination: bool = True
    reserve_mib: Mib = NO_MEMORY
    grant_unit: int = 1


def card_features(
    program: Evaluator, library: LibraryFacts, card: CardFacts, model: Model, *, arch: str
) -> Answer[CardFeatures]:
    """The card's features; where no rule fires, those of a card that cannot be cut."""
    runtime = library.runtime_version
    inputs = {
        "card": given(partitioning=card.partitioning, memoryMib=card.memory_mib),
        "model": given(product=model.product, family=model.family),
        "runtime": given(version=runtime, major=runtime_major(runtime)),
        "node": given(partitioning=library.node_partitioning, arch=arch),
        "driver": {"capabilities": list(library.capabilities)},
    }
    answer = ask(program, SECTION.name, inputs, _decode, library.manufacturer)
    return Answer(SECTION.name, CardFeatures()) if answer.is_nothing else answer


def runtime_major(version: str | None) -> int | None:
    """The first number of a runtime's version; None when there is none."""
    try:
        return None if version is None else version_part(version, 0)
    except EvaluationError:
        return None


def _decode(value: dict[str, Any]) -> CardFeatures:
    return CardFeatures(
        logical_slices=value["logicalSlices"],
        cores_overcommit=value["coresOvercommit"],
        partitions=value["partitions"],
        isolation=value["isolation"],
        slice_released_on_termination=value["sliceReleasedOnTermination"],
        reserve_mib=Mib(value["reserveMib"]),
        grant_unit=value["grantUnit"],
    )
