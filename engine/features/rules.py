"""What our rules make of a host: the `host-labels` section, asked once for all hosts that are alike.

Rule objects of others are not evaluated; neither are templates, taints or extended resources.
"""

from __future__ import annotations

from engine.chain.known_devices import has_known_device, pci_matches
from engine.chain.node import NodeProgram
from engine.chain.node_memo import Answers
from engine.domain.facts import PciFunction
from engine.features.hostfacts import HostFacts, in_published_class
from engine.features.keys import RuleKeys
from engine.sections.answer import Answer
from engine.sections.host_labels import HostLabels, host_labels
from engine.sections.managed import decide_managed


class HostRules:
    """The rules, with one program. `keys` are those that code must know."""

    def __init__(self, program: NodeProgram) -> None:
        self.keys = RuleKeys.of(program.block("constants"))
        self._program = program
        self._pci = pci_matches(program.block("identity", maker) or {} for maker in program.makers)
        self._answers = Answers()

    def publishes(self, function: PciFunction) -> bool:
        """Whether a host tells of a PCI function: one of the usual classes, or a known accelerator in an unusual one."""
        return in_published_class(function) or has_known_device((function,), self._pci)

    def labels(self, host: HostFacts) -> Answer[HostLabels]:
        """The host's labels and annotations; whether it has a known accelerator is not decided without host facts."""
        known = has_known_device(host.pci or (), self._pci) if host.is_stated else None
        return self._answers.get(
            ("host-labels", host.cpu, known), lambda: host_labels(self._program, host.cpu, known_device=known)
        )

    def unlabelled_managed(self, *, is_manual: bool) -> str | None:
        """What `managed` is on a Node that has no such label; None: it stays without."""
        answer = self._answers.get(
            ("managed", is_manual),
            lambda: decide_managed(self._program, {"nodeManagementManual": is_manual}, None),
        )
        return answer.value
