"""The `quota` section: which resource a queue covers, and how much of it one flavor has.

All flavors of one queue have to name one resource; the chain holds that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="quota",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    runs="W",
    once_per="queue × flavor",
    input="queue: {acceleratable: bool}, flavor: {capacity: int, credits?: str}",
    emit="{resource: str, nominal: int}",
    help="The covered resource of a queue and a flavor's nominal quota.",
)


@dataclass(frozen=True, slots=True)
class Quota:
    """A covered resource and its nominal amount."""

    resource: str
    nominal: int


def flavor_quota(program: Evaluator, *, acceleratable: bool, capacity: int, credits_name: str | None) -> Answer[Quota]:
    """A flavor's quota; `capacity` is nodes times count, `credits_name` the maker's resource (None: a CPU flavor)."""
    inputs = {"queue": {"acceleratable": acceleratable}, "flavor": given(capacity=capacity, credits=credits_name)}
    return ask(program, SECTION.name, inputs, _decode)


def _decode(value: dict[str, Any]) -> Quota:
    return Quota(value["resource"], value["nominal"])
