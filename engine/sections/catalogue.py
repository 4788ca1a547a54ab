"""The `catalogue` section: the InstanceTypeFlavor row of one flavor.

Not the catalogue of sections, which is `catalog`. Equal rows collapse in the chain, which also sorts them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.cpu import CpuIdentity
from engine.sections.flavor import ACCELERATOR_INPUT, Accelerator
from engine.sections.pool import POOL, Pool

SECTION: Final = Section(
    name="catalogue",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    must=True,
    runs="W",
    once_per="flavor",
    input=f"pool: {POOL}, cpu: {{manufacturer: str, name?: str, family?: str}}, {ACCELERATOR_INPUT}",
    emit=(
        "{name: str, spec: {acceleratable: bool, generalGroup?: str, acceleratorGroup?: str, manufacturer: str,"
        " product?: str, family?: str, memory?: str, cores?: str, sliceable?: bool}}"
    ),
    help="Name and spec of the InstanceTypeFlavor row of a flavor.",
)


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A row's name and spec; the pairs of the spec are in the rules' order, without nulls."""

    name: str
    spec: tuple[tuple[str, str | bool], ...]


def catalogue_row(
    program: Evaluator, pool: Pool, cpu: CpuIdentity, accelerator: Accelerator | None
) -> Answer[CatalogueRow]:
    """The row that a flavor of this pool shows."""
    inputs = given(
        pool=pool.inputs(),
        cpu=given(manufacturer=cpu.manufacturer, name=cpu.name, family=cpu.family),
        accelerator=None if accelerator is None else accelerator.inputs(),
    )
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> CatalogueRow:
    return CatalogueRow(value["name"], tuple((key, part) for key, part in value["spec"].items() if part is not None))
