"""The `queue` section: what a ClusterQueue is created with.

Resource groups and checks are filled in by the chain; what happens to a queue later is the domain's state machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask

SECTION: Final = Section(
    name="queue",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    owns=True,
    runs="W",
    once_per="InstanceType",
    input="type: {name: str}",
    emit=(
        "{labels: map<str>, annotations: map<str>,"
        " namespaceSelector: {matchLabels?: map<str>, matchExpressions?: {key: str, operator: str, values?: str[]}[]},"
        " flavorFungibility: {whenCanBorrow: str, whenCanPreempt: str},"
        " preemption: {reclaimWithinCohort: str, borrowWithinCohort: {policy: str}, withinClusterQueue: str},"
        " stopPolicy: 'None'|'Hold'|'HoldAndDrain'}"
    ),
    help="Labels, annotations, policies and first stop policy of a ClusterQueue.",
)


@dataclass(frozen=True, slots=True)
class QueueFields:
    """A queue's fields at its creation; the three policy objects are plain JSON without nulls."""

    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    namespace_selector: dict[str, Any]
    flavor_fungibility: dict[str, Any]
    preemption: dict[str, Any]
    stop_policy: str


def queue_fields(program: Evaluator, name: str) -> Answer[QueueFields]:
    """The fields of the queue of the type of that name."""
    return ask(program, SECTION.name, {"type": {"name": name}}, _decode)


def _decode(value: dict[str, Any]) -> QueueFields:
    return QueueFields(
        labels=tuple(value["labels"].items()),
        annotations=tuple(value["annotations"].items()),
        namespace_selector={key: part for key, part in value["namespaceSelector"].items() if part is not None},
        flavor_fungibility=dict(value["flavorFungibility"]),
        preemption=dict(value["preemption"]),
        stop_policy=value["stopPolicy"],
    )
