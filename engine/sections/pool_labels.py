"""The `pool-labels` section: the labels of an InstanceType's pool, which also select its flavors and nodes.

Works from the type's spec alone, so that types that people wrote are served like derived ones.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given, texts

SECTION: Final = Section(
    name="pool-labels",
    owner=Owner.DERIVATION,
    combine=Combine.MERGE,
    must=True,
    owns=True,
    runs="W",
    once_per="InstanceType",
    input="type: {acceleratable: bool, generalGroup?: str, acceleratorGroup?: str, os?: str, arch?: str}",
    emit="map<str>",
    help="Schedule labels of an InstanceType, its queue and its selector.",
)


def pool_labels(
    program: Evaluator,
    *,
    acceleratable: bool,
    general_group: str | None = None,
    accelerator_group: str | None = None,
    os: str | None = None,
    arch: str | None = None,
) -> Answer[dict[str, str]]:
    """The schedule labels of a type with this spec; an empty text counts as absent."""
    spec = given(
        acceleratable=acceleratable,
        generalGroup=general_group or None,
        acceleratorGroup=accelerator_group or None,
        os=os or None,
        arch=arch or None,
    )
    return ask(program, SECTION.name, {"type": spec}, texts)
