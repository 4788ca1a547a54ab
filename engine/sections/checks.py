"""The `checks` section: which admission checks a queue names.

Whether a check is Active is observed by the caller: naming one that is not would close the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask

SECTION: Final = Section(
    name="checks",
    owner=Owner.DERIVATION,
    combine=Combine.LIST,
    settings=True,
    runs="W",
    once_per="queue",
    input="queue: {acceleratable: bool}, active: str[]",
    emit="{name: str}",
    help="Admission checks of a queue.",
)


def queue_checks(
    program: Evaluator, settings: Mapping[str, Any], *, acceleratable: bool, active: Iterable[str]
) -> Answer[tuple[str, ...]]:
    """The names of the checks of a queue, in the rules' order; `active` are the checks that are Active."""
    inputs = {"queue": {"acceleratable": acceleratable}, "active": list(active), "settings": settings}
    answer = ask(program, SECTION.name, inputs, _decode)
    return Answer(SECTION.name, ()) if answer.is_nothing else answer


def _decode(value: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(each["name"] for each in value)
