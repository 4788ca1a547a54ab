"""The `contributes` section: which flavors one node feeds, and with what count.

What the node's labels say is read back before; grouping the answers over nodes is the chain's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask, given

SECTION: Final = Section(
    name="contributes",
    owner=Owner.DERIVATION,
    combine=Combine.LIST,
    settings=True,
    runs="W",
    once_per="node",
    input=("node: {managed?: str, profile?: str, accelerated: bool, cores: int}, groups: {key: str, count: int}[]"),
    emit="{accelerator?: str, count: int}",
    help="The flavors a node feeds: its CPU's, and one for each accelerator key.",
)


@dataclass(frozen=True, slots=True)
class FlavorShare:
    """One flavor the node feeds: of an accelerator key, or of its CPU when that is None; `count` is the size."""

    accelerator: str | None
    count: int


def flavor_shares(
    program: Evaluator,
    settings: Mapping[str, Any],
    groups: Iterable[tuple[str, int]],
    *,
    managed: str | None,
    profile: str | None,
    accelerated: bool,
    cores: int,
) -> Answer[tuple[FlavorShare, ...]]:
    """The flavors a node feeds; `groups` are (accelerator key, count) as its labels say."""
    inputs = {
        "node": given(managed=managed, profile=profile, accelerated=accelerated, cores=cores),
        "groups": [{"key": key, "count": count} for key, count in groups],
        "settings": settings,
    }
    answer = ask(program, SECTION.name, inputs, _decode)
    return Answer(SECTION.name, ()) if answer.is_nothing else answer


def _decode(value: list[dict[str, Any]]) -> tuple[FlavorShare, ...]:
    return tuple(FlavorShare(each.get("accelerator"), each["count"]) for each in value)
