"""The `labels` section: labels of a group that only one maker has; normally absent.

The common ones are `device-labels`.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, texts
from engine.sections.device_labels import GROUP_INPUT, GroupFacts

SECTION: Final = Section(
    name="labels",
    owner=Owner.MANUFACTURER,
    combine=Combine.MERGE,
    optional=True,
    owns=True,
    runs="N",
    once_per="group",
    input=GROUP_INPUT,
    emit="map<str>",
    help="Node labels of a group of cards that are not common to all makers.",
)


def maker_labels(program: Evaluator, group: GroupFacts) -> Answer[dict[str, str]]:
    """The labels this maker alone adds to the group."""
    return ask(program, SECTION.name, {"group": group.inputs()}, texts, group.manufacturer)
