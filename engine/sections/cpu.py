"""The `cpu` section: the key by which a node's CPU is known.

The facts that only describe the CPU (caches, clock) are put in order here and pass no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.domain.facts import CpuFacts
from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.host_labels import fact_text

SECTION: Final = Section(
    name="cpu",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    runs="W",
    once_per="node",
    input="cpu: {vendorId?: str, family?: str, id?: str, name?: str}",
    emit="{manufacturer: str, key: str}",
    help="Manufacturer and key of the node's CPU.",
)

Detail = tuple[tuple[str, "str | Detail"], ...]
"""A JSON object of texts as ordered pairs; an inner object is pairs again."""


@dataclass(frozen=True, slots=True)
class CpuIdentity:
    """A CPU as flavors name and describe it.

    Shape: `key` is the manufacturer, or `manufacturer-id`; `name` and `family` are the raw facts; `detail` holds the
    remaining facts in their published order, empty ones left out.
    """

    manufacturer: str
    key: str
    name: str | None = None
    family: str | None = None
    detail: Detail = ()


def identify_cpu(program: Evaluator, facts: CpuFacts | None) -> Answer[CpuIdentity]:
    """The node's CPU; facts of another process that are unresolved templates count as absent."""
    cpu = facts or CpuFacts()
    name, family = fact_text(cpu.name), fact_text(cpu.family)
    inputs = {"cpu": given(vendorId=fact_text(cpu.vendor_id), family=family, id=fact_text(cpu.model_id), name=name)}

    def decode(value: dict[str, Any]) -> CpuIdentity:
        return CpuIdentity(value["manufacturer"], value["key"], name, family, cpu_detail(cpu))

    return ask(program, SECTION.name, inputs, decode)


def cpu_detail(cpu: CpuFacts) -> Detail:
    """The describing facts in published order, absent ones left out."""
    cache = _pairs((("l1i", cpu.cache_l1i), ("l1d", cpu.cache_l1d), ("l2", cpu.cache_l2), ("l3", cpu.cache_l3)))
    facts = _pairs(
        (
            ("physicalCores", cpu.physical_cores),
            ("threadsPerPhysicalCore", cpu.threads_per_core),
            ("logicalCores", cpu.logical_cores),
            ("stepping", cpu.stepping),
            ("clockSpeed", cpu.hz),
            ("maxClockSpeed", cpu.boost_freq),
            ("cacheLine", cpu.cache_line),
        )
    )
    return (*facts, ("cache", cache)) if cache else facts


def detail_object(detail: Detail) -> dict[str, Any]:
    """The pairs as the JSON object a rule sees."""
    return {key: value if isinstance(value, str) else detail_object(value) for key, value in detail}


def _pairs(facts: tuple[tuple[str, int | str | None], ...]) -> Detail:
    return tuple((key, text) for key, value in facts if (text := fact_text(value)) is not None)
