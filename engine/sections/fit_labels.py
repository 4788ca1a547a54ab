"""The `fit-labels` section: how much one card of a node could still grant, as labels that filter and never charge.

The two figures are the domain's; None means that no card of the population is there.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, texts

SECTION: Final = Section(
    name="fit-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    owns=True,
    runs="W",
    once_per="node × group",
    input="fit: {key: str, slicedMaxFreeUnits?: int, sharedFreeCards?: int}",
    emit="map<str>",
    help="Labels with the largest free slice and the number of cards with a free share.",
)


def fit_labels(
    program: Evaluator, key: str, *, sliced_max_free_units: int | None, shared_free_cards: int | None
) -> Answer[dict[str, str]]:
    """The fit labels of one accelerator key."""
    fit = given(key=key, slicedMaxFreeUnits=sliced_max_free_units, sharedFreeCards=shared_free_cards)
    return ask(program, SECTION.name, {"fit": fit}, texts)
