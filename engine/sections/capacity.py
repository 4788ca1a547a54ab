"""The `capacity` section: how much of a maker's counted resources a node has.

The counting of cards, slices and profiles is the domain's; the device plugin's own tokens are not written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.resources import NAMES, ResourceNames

SECTION: Final = Section(
    name="capacity",
    owner=Owner.DERIVATION,
    combine=Combine.SUM,
    owns=True,
    runs="W",
    once_per="node × maker",
    input=(
        f"resources: {NAMES}, advertised: {{sliced: int, partitioned: int}},"
        " models: {logicalCards: int, logicalSlices: int, coresOvercommit: bool, labelMib?: int, partitionedCards: int}[],"
        " profiles: {published: str, total: int}[]"
    ),
    emit="map<int>",
    help="Amounts of a maker's counted resources in the node's capacity, by resource name.",
)


@dataclass(frozen=True, slots=True)
class ModelCount:
    """What one model adds; `label_mib` is what its memory label says, not the detector's exact figure."""

    logical_cards: int
    logical_slices: int
    cores_overcommit: bool
    label_mib: int | None
    partitioned_cards: int


def node_capacity(
    program: Evaluator,
    names: ResourceNames,
    models: Iterable[ModelCount],
    profiles: Mapping[str, int],
    *,
    advertised_sliced: int,
    advertised_partitioned: int,
) -> Answer[dict[str, int]]:
    """The amounts by resource name; `profiles` gives instances by published name, offered ones at 0 included."""
    inputs = {
        "resources": names.inputs(),
        "advertised": {"sliced": advertised_sliced, "partitioned": advertised_partitioned},
        "models": [
            given(
                logicalCards=each.logical_cards,
                logicalSlices=each.logical_slices,
                coresOvercommit=each.cores_overcommit,
                labelMib=each.label_mib,
                partitionedCards=each.partitioned_cards,
            )
            for each in models
        ],
        "profiles": [{"published": name, "total": total} for name, total in profiles.items()],
    }
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> dict[str, int]:
    return dict(value)
