"""The `device-labels` section: the labels of one group of equal cards, the same for every maker.

What only one maker labels is in `labels`; the two are merged by the caller, unequal pairs being told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, texts

GROUP_INPUT: Final = (
    "group: {manufacturer: str, key: str, product: str, count: int, memoryMib?: int, cores?: int, family?: str,"
    " computeCapability?: str, driverVersion?: str, runtimeVersion?: str}"
)

SECTION: Final = Section(
    name="device-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    must=True,
    owns=True,
    runs="N",
    once_per="group",
    input=GROUP_INPUT,
    emit="map<str>",
    help="Node labels of a group of equal cards: its key, product, memory, cores, count, family and versions.",
)


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What rules may know of a group; `memory_mib` is the least card's."""

    manufacturer: str
    key: str
    product: str
    count: int
    memory_mib: int | None = None
    cores: int | None = None
    family: str | None = None
    compute_capability: str | None = None
    driver_version: str | None = None
    runtime_version: str | None = None

    def inputs(self) -> dict[str, Any]:
        """The section's `group`."""
        return given(
            manufacturer=self.manufacturer,
            key=self.key,
            product=self.product,
            count=self.count,
            memoryMib=self.memory_mib,
            cores=self.cores,
            family=self.family,
            computeCapability=self.compute_capability,
            driverVersion=self.driver_version,
            runtimeVersion=self.runtime_version,
        )


def device_labels(program: Evaluator, group: GroupFacts) -> Answer[dict[str, str]]:
    """The group's common labels."""
    return ask(program, SECTION.name, {"group": group.inputs()}, texts)
