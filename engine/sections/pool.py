"""The `pool` section: which pool, and so which InstanceType and queue, a flavor feeds.

Pools that flavors share are merged by the chain; two different pools of one name are its diagnostic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

POOL: Final = (
    "{name: str, base: str, collapsed: bool, generalGroup: str, acceleratorGroup?: str, acceleratable: bool,"
    " os: str, arch: str}"
)

SECTION: Final = Section(
    name="pool",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    settings=True,
    runs="W",
    once_per="flavor",
    input="flavor: {os: str, arch: str}, cpu: {key: str}, accelerator?: {key: str}",
    emit=POOL,
    help="Name and groups of the pool a flavor belongs to.",
)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool; `base` is its name without os and arch, `collapsed` whether CPUs are not told apart."""

    name: str
    base: str
    collapsed: bool
    general_group: str
    accelerator_group: str | None
    acceleratable: bool
    os: str
    arch: str

    def inputs(self) -> dict[str, Any]:
        """The `pool` input of `type` and `catalogue`."""
        return given(
            name=self.name,
            base=self.base,
            collapsed=self.collapsed,
            generalGroup=self.general_group,
            acceleratorGroup=self.accelerator_group,
            acceleratable=self.acceleratable,
            os=self.os,
            arch=self.arch,
        )


def flavor_pool(
    program: Evaluator, settings: Mapping[str, Any], *, os: str, arch: str, cpu_key: str, accelerator_key: str | None
) -> Answer[Pool]:
    """The pool that a flavor of this CPU and accelerator feeds."""
    inputs = given(
        flavor={"os": os, "arch": arch},
        cpu={"key": cpu_key},
        accelerator=None if accelerator_key is None else {"key": accelerator_key},
        settings=settings,
    )
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> Pool:
    return Pool(
        name=value["name"],
        base=value["base"],
        collapsed=value["collapsed"],
        general_group=value["generalGroup"],
        accelerator_group=value.get("acceleratorGroup"),
        acceleratable=value["acceleratable"],
        os=value["os"],
        arch=value["arch"],
    )
