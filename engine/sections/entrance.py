"""The `entrance` section: the name of a queue's LocalQueues, and how a type points to it.

In which namespaces they stand is the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask

SECTION: Final = Section(
    name="entrance",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    owns=True,
    runs="W",
    once_per="queue",
    input="queue: {name: str}",
    emit="{name: str, annotations: map<str>, typeLabels: map<str>}",
    help="Name and annotations of a queue's LocalQueues, and the type's labels that name them.",
)


@dataclass(frozen=True, slots=True)
class Entrance:
    """A LocalQueue's name and annotations; `type_labels` go on the InstanceType."""

    name: str
    annotations: tuple[tuple[str, str], ...]
    type_labels: tuple[tuple[str, str], ...]


def queue_entrance(program: Evaluator, queue_name: str) -> Answer[Entrance]:
    """The entrance of a queue."""
    return ask(program, SECTION.name, {"queue": {"name": queue_name}}, _decode)


def _decode(value: dict[str, Any]) -> Entrance:
    return Entrance(value["name"], tuple(value["annotations"].items()), tuple(value["typeLabels"].items()))
