"""The controllers: for each, its keys, its neighbourhood, its plan, how long it waits, and what must be listed before.

How they run is `engine.worker.loop`; who tells them of changes is `engine.worker.app`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from engine.cluster.clock import Clock
from engine.cluster.writers import Writer
from engine.features.foreign import Provider
from engine.worker.controllers import cpurule, crd, nodefeature, nodeprofile, resourceflavor, settings, topology
from engine.worker.controllers.cpurule import CpuRuleNeighbourhood
from engine.worker.controllers.crd import CrdNeighbourhood
from engine.worker.controllers.nodefeature import NodeNeighbourhood
from engine.worker.controllers.nodeprofile import NodeProfileNeighbourhood
from engine.worker.controllers.resourceflavor import FlavorNeighbourhood
from engine.worker.controllers.settings import SettingsNeighbourhood
from engine.worker.controllers.topology import TopologyNeighbourhood
from engine.worker.fleet import Fleet
from engine.worker.log import Log
from engine.worker.loop import Controller, Work
from engine.worker.observing import Informers, Observer
from engine.worker.options import Options

FLAVOR_WINDOW_SECONDS: Final = 3.0
NODE_WINDOW_SECONDS: Final = 0.2
TOPOLOGY_WINDOW_SECONDS: Final = 1.0
"""A first change goes out at once, later ones of the key at the end of its window. Source: design §4, specification 20 §12."""


@dataclass(frozen=True, slots=True)
class Controllers:
    """One of each kind."""

    settings: Controller[SettingsNeighbourhood]
    crds: Controller[CrdNeighbourhood]
    cpu_rule: Controller[CpuRuleNeighbourhood]
    topologies: Controller[TopologyNeighbourhood]
    nodes: Controller[NodeNeighbourhood]
    profiles: Controller[NodeProfileNeighbourhood]
    flavors: Controller[FlavorNeighbourhood]

    def all(self) -> tuple[Controller[Any], ...]:
        """In the order in which they begin."""
        return (self.settings, self.crds, self.cpu_rule, self.topologies, self.nodes, self.profiles, self.flavors)


def make_controllers(
    seen: Observer,
    at: Informers,
    fleet: Fleet,
    options: Options,
    cpu_rule: Callable[[str], CpuRuleNeighbourhood],
    writer: Writer,
    clock: Clock,
    log: Log,
) -> Controllers:
    """The controllers, not yet running. Shape: `cpu_rule` gives the neighbourhood that only the provider knows."""
    signs = (at.secrets, at.nodes, at.features)
    profiled = fleet.nodes if options.provider is Provider.NFD else list[str]

    def controller(work: Work[Any], *, workers: int = 1) -> Controller[Any]:
        return Controller(work, writer, at.known, clock, log, workers=workers)

    return Controllers(
        settings=controller(Work("settings", lambda: [settings.NAME], seen.secret, settings.plan, after=(at.secrets,))),
        crds=controller(Work("crd", seen.crd_names, seen.crd, crd.plan, after=(at.crds,))),
        cpu_rule=controller(
            Work(
                "cpu-info",
                lambda: [cpurule.NAME],
                cpu_rule,
                cpurule.plan,
                again=cpurule.again_after_seconds,
                after=(at.rules,),
            )
        ),
        topologies=controller(
            Work(
                "topology",
                seen.topology_names,
                seen.topology,
                topology.plan,
                window_seconds=TOPOLOGY_WINDOW_SECONDS,
                after=(*signs, at.flavors, at.topologies),
            )
        ),
        nodes=controller(
            Work(
                "nodefeature",
                fleet.nodes,
                seen.node,
                lambda node: nodefeature.plan(node, fleet.asker),
                again=seen.node_again,
                window_seconds=NODE_WINDOW_SECONDS,
                after=signs,
            ),
            workers=options.workers,
        ),
        profiles=controller(
            Work(
                "node-profile",
                profiled,
                seen.profile,
                nodeprofile.plan,
                window_seconds=NODE_WINDOW_SECONDS,
                after=(*signs, at.topologies),
            ),
            workers=options.workers,
        ),
        flavors=controller(
            Work(
                "flavor",
                seen.flavor_names,
                seen.flavor,
                resourceflavor.plan,
                again=resourceflavor.again_after_seconds,
                window_seconds=FLAVOR_WINDOW_SECONDS,
                after=(*signs, at.flavors),
            ),
            workers=options.workers,
        ),
    )
