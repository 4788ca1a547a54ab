"""The `type` section: the InstanceType that fronts a pool, or that none is authored.

The preset's tier is found before, from the makers' `presets`; sizes are the derivation's `tiers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.pool import POOL, Pool

SECTION: Final = Section(
    name="type",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    settings=True,
    owns=True,
    runs="W",
    once_per="pool",
    input=f"pool: {POOL}, product?: str, preset?: {{tier: str}}",
    emit="{displayName: str, unitResources: {cpu: str, ram: str}, localStorage: str, labels: map<str>}",
    help="Title, unit size and labels of the InstanceType of a pool; nothing means that none is authored.",
)


@dataclass(frozen=True, slots=True)
class TypeFields:
    """An InstanceType's fields as the rules give them; sizes are quantities."""

    display_name: str
    cpu: str
    ram: str
    local_storage: str
    labels: tuple[tuple[str, str], ...]


def type_fields(
    program: Evaluator, settings: Mapping[str, Any], pool: Pool, *, product: str | None, tier: str | None
) -> Answer[TypeFields]:
    """The type of a pool; `product` is its cards' or CPU's, `tier` the preset's, both None when there is none."""
    preset = None if tier is None else {"tier": tier}
    inputs = given(pool=pool.inputs(), product=product, preset=preset, settings=settings)
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> TypeFields:
    unit = value["unitResources"]
    return TypeFields(
        display_name=value["displayName"],
        cpu=unit["cpu"],
        ram=unit["ram"],
        local_storage=value["localStorage"],
        labels=tuple(value["labels"].items()),
    )
