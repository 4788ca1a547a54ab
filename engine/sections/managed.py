"""The `managed` section: whether a node takes part, as the label says or as the setting decides.

Does not write the label: the worker's features carry it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="managed",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    settings=True,
    runs="W",
    once_per="node",
    input="node: {managedLabel?: str}",
    emit="{value: str}",
    help="The value of the managed label; nothing means no label.",
)


def decide_managed(program: Evaluator, settings: Mapping[str, Any], label: str | None) -> Answer[str]:
    """The managed label's value; `label` is what the node already has."""
    inputs = {"node": given(managedLabel=label), "settings": settings}
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> str:
    return str(value["value"])
