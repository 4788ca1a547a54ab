"""The `flavor` section: name, labels, selector and notes of the flavor of one kind of node.

Which nodes form a flavor is the chain's key, never the name; the object's skeleton is the renderer's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given
from engine.sections.cpu import CpuIdentity, detail_object
from engine.sections.topology import Profile

ACCELERATOR_INPUT: Final = (
    "accelerator?: {key: str, manufacturer: str, product: str, family?: str, memory?: str, cores: str, sliceable: bool}"
)
DETAIL_INPUT: Final = (
    "{physicalCores?: str, threadsPerPhysicalCore?: str, logicalCores?: str, stepping?: str, clockSpeed?: str,"
    " maxClockSpeed?: str, cacheLine?: str, cache?: {l1i?: str, l1d?: str, l2?: str, l3?: str}}"
)

SECTION: Final = Section(
    name="flavor",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    must=True,
    settings=True,
    owns=True,
    unowned=("notes",),
    runs="W",
    once_per="flavor group",
    input=(
        "flavor: {os: str, arch: str, count: int, nodes: int},"
        f" cpu: {{key: str, manufacturer: str, name?: str, family?: str, detail: {DETAIL_INPUT}}}, {ACCELERATOR_INPUT},"
        " topology: {profile: str, name: str, suffix: str}"
    ),
    emit=(
        "{name: str, base: str, topologyName: str,"
        " tolerations: {operator: str, key?: str, value?: str, effect?: str}[],"
        " labels: map<str>, nodeLabels: map<str>, notes: map<str>}"
    ),
    help="Name, labels, node labels, tolerations and notes of a ResourceFlavor.",
)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator key as node labels describe it; `memory` and `cores` are label texts (`24Gi`, `10240`)."""

    key: str
    manufacturer: str
    product: str
    family: str | None
    memory: str | None
    cores: str
    sliceable: bool

    def inputs(self) -> dict[str, Any]:
        """The `accelerator` input of `flavor` and `catalogue`."""
        return given(
            key=self.key,
            manufacturer=self.manufacturer,
            product=self.product,
            family=self.family,
            memory=self.memory,
            cores=self.cores,
            sliceable=self.sliceable,
        )


@dataclass(frozen=True, slots=True)
class FlavorFields:
    """A flavor's fields as the rules give them; pairs keep the rules' order."""

    name: str
    base: str
    topology_name: str
    tolerations: tuple[tuple[tuple[str, str], ...], ...]
    labels: tuple[tuple[str, str], ...]
    node_labels: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]


def flavor_fields(
    program: Evaluator,
    settings: Mapping[str, Any],
    *,
    os: str,
    arch: str,
    count: int,
    nodes: int,
    cpu: CpuIdentity,
    accelerator: Accelerator | None,
    topology: Profile,
) -> Answer[FlavorFields]:
    """The fields of the flavor that `nodes` nodes of one kind form, each with `count` cores or cards."""
    detail = detail_object(cpu.detail)
    inputs = given(
        flavor={"os": os, "arch": arch, "count": count, "nodes": nodes},
        cpu=given(key=cpu.key, manufacturer=cpu.manufacturer, name=cpu.name, family=cpu.family, detail=detail),
        accelerator=None if accelerator is None else accelerator.inputs(),
        topology={"profile": topology.profile, "name": topology.name, "suffix": topology.suffix},
        settings=settings,
    )
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> FlavorFields:
    return FlavorFields(
        name=value["name"],
        base=value["base"],
        topology_name=value["topologyName"],
        tolerations=tuple(_toleration(each) for each in value["tolerations"]),
        labels=tuple(value["labels"].items()),
        node_labels=tuple(value["nodeLabels"].items()),
        notes=tuple(value["notes"].items()),
    )


def _toleration(value: dict[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple((key, text) for key, text in value.items() if text is not None)
