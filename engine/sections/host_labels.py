"""The `host-labels` section: CPU annotations, and that a node has no known accelerator.

Which PCI functions are accelerators is decided from the makers' identities by the caller; `known_device` is None while
the host has stated nothing, and then no rule may deny an accelerator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.domain.facts import CpuFacts
from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="host-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    owns=True,
    runs="NW",
    once_per="node",
    input=(
        "cpu: {name?: str, family?: str, physicalCores?: str, threadsPerCore?: str, logicalCores?: str, stepping?: str,"
        " cacheLine?: str, hz?: str, boostFreq?: str, cacheL1i?: str, cacheL1d?: str, cacheL2?: str, cacheL3?: str},"
        " node: {knownDevice?: bool}"
    ),
    emit="{labels: map<str> = {}, annotations: map<str> = {}}",
    help="Annotations with the CPU facts, and the label of a node without any known accelerator.",
)


@dataclass(frozen=True, slots=True)
class HostLabels:
    """What the host adds to its Node."""

    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


def fact_text(value: int | str | None) -> str | None:
    """A fact as the text it is published as; an empty text or an unresolved template (`@…`) is no fact."""
    if value is None:
        return None
    text = str(value)
    return None if not text or text.startswith("@") else text


def host_labels(program: Evaluator, cpu: CpuFacts | None, *, known_device: bool | None) -> Answer[HostLabels]:
    """Labels and annotations of the host; both empty when no rule fires."""
    facts = cpu or CpuFacts()
    inputs = {
        "cpu": given(
            name=fact_text(facts.name),
            family=fact_text(facts.family),
            physicalCores=fact_text(facts.physical_cores),
            threadsPerCore=fact_text(facts.threads_per_core),
            logicalCores=fact_text(facts.logical_cores),
            stepping=fact_text(facts.stepping),
            cacheLine=fact_text(facts.cache_line),
            hz=fact_text(facts.hz),
            boostFreq=fact_text(facts.boost_freq),
            cacheL1i=fact_text(facts.cache_l1i),
            cacheL1d=fact_text(facts.cache_l1d),
            cacheL2=fact_text(facts.cache_l2),
            cacheL3=fact_text(facts.cache_l3),
        ),
        "node": given(knownDevice=known_device),
    }
    answer = ask(program, SECTION.name, inputs, _decode)
    return Answer(SECTION.name, HostLabels()) if answer.is_nothing else answer


def _decode(value: dict[str, Any]) -> HostLabels:
    return HostLabels(tuple(value["labels"].items()), tuple(value["annotations"].items()))
