"""The `devices-labels` section: the labels of a node's Devices object.

The agent knows neither the CPU's key nor the management; the worker adds those, with the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, texts

SECTION: Final = Section(
    name="devices-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    owns=True,
    runs="NW",
    once_per="node",
    input=("node: {os: str, arch: str, managed?: str, profile?: str}, cpu?: {key: str}, groups: {key: str}[]"),
    emit="map<str>",
    help="Labels of a Devices object: system, accelerator keys, and from the worker management, profile and CPU key.",
)


def devices_labels(
    program: Evaluator,
    keys: Iterable[str],
    *,
    os: str,
    arch: str,
    managed: str | None = None,
    profile: str | None = None,
    cpu_key: str | None = None,
) -> Answer[dict[str, str]]:
    """The labels of a Devices object that holds groups of these keys."""
    inputs = given(
        node=given(os=os, arch=arch, managed=managed, profile=profile),
        cpu=None if cpu_key is None else {"key": cpu_key},
        groups=[{"key": key} for key in keys],
    )
    return ask(program, SECTION.name, inputs, texts)
