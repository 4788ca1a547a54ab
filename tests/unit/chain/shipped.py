"""Shipped packs linked once, the walkthrough's machines, and a program whose answers a test may replace.

No assertions here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from engine.chain.changes import NodeSet
from engine.domain.facts import CardFacts, CpuFacts, LibraryFacts, NodeFacts
from engine.domain.units import DriverIndex, Mib
from engine.lang.linking import link
from engine.lang.outcome import Outcome, OutcomeKind
from engine.lang.program import Program
from engine.lang.source import Source
from engine.machines.document import read_machines
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE

MACHINES = Path(__file__).parents[2] / "machines"

Rule = Callable[[Mapping[str, Any], Outcome], Outcome]
"""Looks at a section's input and the shipped outcome; gives the outcome to answer with."""


@cache
def program() -> Program:
    """The shipped derivations and one maker's pack, linked."""
    others = ("manufacturers", "overlays")
    wanted = [p for p in shipped_packs() if p.name.endswith("nvidia") or not any(each in p.name for each in others)]
    linked = link(wanted, CATALOGUE)
    assert linked.program is not None, [f"{each.place}: {each.message}" for each in linked.diagnostics.sorted()]
    return linked.program


@cache
def walkthrough() -> dict[str, NodeFacts]:
    """The four machines of the walkthrough, by name."""
    return machines("walkthrough")


def machines(folder: str) -> dict[str, NodeFacts]:
    """All machines of a folder, by name."""
    facts: dict[str, NodeFacts] = {}
    for path in sorted((MACHINES / folder).glob("*.yaml")):
        documents, _ = read_machines(Source(path.name, path.read_bytes()))
        facts |= {document.facts.name: document.facts for document in documents}
    return facts


def cluster() -> list[NodeSet]:
    """The walkthrough's nodes as changes."""
    return [NodeSet(facts) for facts in walkthrough().values()]


class Replaced:
    """A program that answers some sections otherwise."""

    def __init__(self, **rules: Rule) -> None:
        self._rules = {name.replace("_", "-"): rule for name, rule in rules.items()}

    @property
    def makers(self) -> tuple[str, ...]:
        return program().makers

    def block(self, name: str, maker: str | None = None) -> Any:
        return program().block(name, maker)

    def evaluate(self, section: str, inputs: dict[str, Any], maker: str | None = None) -> Outcome:
        outcome = program().evaluate(section, inputs, maker)
        rule = self._rules.get(section)
        return rule(inputs, outcome) if rule else outcome


def unknown(*_: object) -> Outcome:
    """A rule that could not tell."""
    return Outcome(OutcomeKind.UNKNOWN, reason="a test said so")


def node(
    name: str,
    *,
    cpu: str = "AMD EPYC 7R13 Processor",
    cores: int = 16,
    product: str | None = None,
    cards: int = 1,
    memory_mib: int | None = 24563,
    levels: tuple[tuple[str, str], ...] = (),
    **card: Any,
) -> NodeFacts:
    """A node with this CPU and, when a product is given, so many equal cards."""
    library = LibraryFacts(
        "nvidia",
        "580.159.03",
        card.pop("runtime_version", "13.0"),
        node_partitioning=card.pop("node_partitioning", None),
        cards=tuple(
            CardFacts(
                uuid=f"GPU-{name}-{index}",
                driver_index=DriverIndex(index),
                name=product,
                memory_mib=None if memory_mib is None else Mib(memory_mib),
                slots={"minor": index},
                **{"cores": 10240, "compute_capability": "8.6"} | card,
            )
            for index in range(cards)
        ),
    )
    return NodeFacts(
        name=name,
        os="linux",
        arch="amd64",
        capacity={"cpu": str(cores), "memory": "64Gi"},
        labels={"kubernetes.io/hostname": name},
        cpu=CpuFacts(vendor_id=cpu.split(maxsplit=1)[0].removesuffix("(R)"), family="25", model_id="1", name=cpu),
        pci=(),
        libraries=(library,) if product else (),
        topology_levels=levels,
    )
