"""The `topology` section: the profile of a node's hierarchy of places, and the Topology object it needs.

Which source describes a node, and whether its levels hold values, is decided before; the hostname is appended by the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask

SECTION: Final = Section(
    name="topology",
    owner=Owner.DERIVATION,
    combine=Combine.FIRST,
    must=True,
    owns=True,
    runs="W",
    once_per="node",
    input="node: {levels: str[]}",
    emit="{profile: str, name: str, suffix: str, levels: str[], nodeLabels: map<str>, labels: map<str>}",
    help="Profile of a node's topology levels, its Topology's name and levels, and the suffix of its flavors' names.",
)


@dataclass(frozen=True, slots=True)
class Profile:
    """The topology profile of a node.

    Shape: `levels` are label keys, hostname last; `node_labels` go on the Node, `labels` on the Topology object.
    """

    profile: str
    name: str
    suffix: str
    levels: tuple[str, ...]
    node_labels: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def topology_profile(program: Evaluator, levels: Iterable[str]) -> Answer[Profile]:
    """The profile of a node whose levels, widest first and without the hostname, are these label keys."""
    return ask(program, SECTION.name, {"node": {"levels": list(levels)}}, _decode)


def _decode(value: dict[str, Any]) -> Profile:
    return Profile(
        profile=value["profile"],
        name=value["name"],
        suffix=value["suffix"],
        levels=tuple(value["levels"]),
        node_labels=tuple(value["nodeLabels"].items()),
        labels=tuple(value["labels"].items()),
    )
