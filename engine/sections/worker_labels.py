"""The `worker-labels` section: the labels the worker adds to a node from its CPU and its management.

Topology is not among them; it is `topology`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, texts
from engine.sections.cpu import CpuIdentity

SECTION: Final = Section(
    name="worker-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    settings=True,
    owns=True,
    runs="W",
    once_per="node",
    input="node: {cores: int, accelerated: bool, managed?: str}, cpu: {manufacturer: str, key: str}",
    emit="map<str>",
    help="The worker's labels of a node: managed, CPU keys, core count.",
)


def worker_labels(
    program: Evaluator,
    settings: Mapping[str, Any],
    cpu: CpuIdentity,
    *,
    cores: int,
    accelerated: bool,
    managed: str | None,
) -> Answer[dict[str, str]]:
    """The worker's labels; none when no rule fires."""
    inputs = {
        "node": given(cores=cores, accelerated=accelerated, managed=managed),
        "cpu": {"manufacturer": cpu.manufacturer, "key": cpu.key},
        "settings": settings,
    }
    return ask(program, SECTION.name, inputs, texts)
