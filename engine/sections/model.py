"""The `model` section: what product a card is, or that it is no accelerator.

Does not name keys or groups; that is `group`, for every maker the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.domain.facts import CardFacts
from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, unknown

SECTION: Final = Section(
    name="model",
    owner=Owner.MANUFACTURER,
    combine=Combine.FIRST,
    optional=True,
    runs="N",
    once_per="card",
    input=(
        "card: {name?: str, pciDevice?: str, pciName?: str, memoryMib?: int, cores?: int, computeCapability?: str,"
        " slots: @slots, extras: @extras}, host: {cpuName?: str, arch: str}"
    ),
    emit="{product: str, family?: str} or {exclude: str}",
    help="What product and family a card is, or why it is no accelerator; without a rule the product is the card's name.",
)


@dataclass(frozen=True, slots=True)
class Model:
    """A card's product; `exclude` is the reason why the card is left out, and empty for a card that counts."""

    product: str
    family: str | None = None
    exclude: str = ""


def identify_model(
    program: Evaluator,
    maker: str,
    card: CardFacts,
    *,
    arch: str,
    cpu_name: str | None = None,
    pci_device: str | None = None,
    pci_name: str | None = None,
) -> Answer[Model]:
    """The card's model; nothing when neither a rule nor the driver names it (the card is dropped)."""
    inputs = {
        "card": given(
            name=card.name,
            pciDevice=pci_device,
            pciName=pci_name,
            memoryMib=card.memory_mib,
            cores=card.cores,
            computeCapability=card.compute_capability,
        )
        | {"slots": dict(card.slots), "extras": dict(card.extras)},
        "host": given(cpuName=cpu_name, arch=arch),
    }
    answer = ask(program, SECTION.name, inputs, _decode, maker)
    if answer.is_nothing and card.name:
        return Answer(SECTION.name, Model(card.name))
    if answer.value is not None and not answer.value.product and not answer.value.exclude:
        return unknown(SECTION.name, "the product is an empty text")
    return answer


def _decode(value: dict[str, Any]) -> Model:
    return Model(value.get("product") or "", value.get("family"), value.get("exclude") or "")
