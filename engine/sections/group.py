"""The `group` section: the id and key under which cards of one product are counted together.

Cards of one maker with one id form one group, whatever else differs; their memory is the least card's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="group",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    runs="N",
    once_per="card",
    input="card: {manufacturer: str, product: str, memoryMib?: int, withMemory: bool}",
    emit="{id: str, key: str}",
    help="Group id of a card and its key, `<maker>-<id>`.",
)


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Group id and accelerator key."""

    id: str
    key: str


def group_key(
    program: Evaluator, manufacturer: str, product: str, memory_mib: int | None, *, with_memory: bool = False
) -> Answer[GroupKey]:
    """Id and key of a card of that product."""
    card = given(manufacturer=manufacturer, product=product, memoryMib=memory_mib, withMemory=with_memory)
    return ask(program, SECTION.name, {"card": card}, _decode)


def _decode(value: dict[str, Any]) -> GroupKey:
    return GroupKey(value["id"], value["key"])
