"""What planning one node asks of the rules, each question once for all nodes that ask it.

One method a section: facts in, the section's fields out, and what could not be told into the findings. In which order they
are asked, and what their answers make of the node, is `node`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain.conditions import Findings
from engine.chain.known_devices import has_known_device, pci_matches
from engine.chain.node_capacity import MakerCount
from engine.chain.node_memo import Answers
from engine.chain.readback import LabelledGroup
from engine.domain.facts import CpuFacts, NodeFacts
from engine.domain.feasibility import Ledger, max_free_slice_units, shared_free_cards
from engine.domain.inventory import Group
from engine.sections.answer import Evaluator
from engine.sections.capacity import node_capacity
from engine.sections.contributes import FlavorShare, flavor_shares
from engine.sections.cpu import CpuIdentity, identify_cpu
from engine.sections.device_labels import GroupFacts, device_labels
from engine.sections.devices_labels import devices_labels
from engine.sections.fit_labels import fit_labels
from engine.sections.host_labels import HostLabels, host_labels
from engine.sections.labels import maker_labels
from engine.sections.managed import decide_managed
from engine.sections.resources import ResourceNames, resource_names
from engine.sections.topology import Profile, topology_profile
from engine.sections.worker_labels import worker_labels


class NodeQuestions:
    """The questions, with one program and one set of settings."""

    def __init__(
        self, program: Evaluator, makers: tuple[str, ...], settings: Mapping[str, Any], answers: Answers
    ) -> None:
        self._program = program
        self._settings = dict(settings)
        self._pci = pci_matches(program.block("identity", maker) or {} for maker in makers)
        self._answers = answers

    def host(self, facts: NodeFacts, found: Findings) -> HostLabels:
        # A host that states its CPU has looked at its bus too: no PCI function at all is then an answer.
        stated = facts.pci is not None or facts.cpu is not None
        known = has_known_device(facts.pci or (), self._pci) if stated else None
        answer = self._answers.get(
            ("host-labels", facts.cpu, known), lambda: host_labels(self._program, facts.cpu, known_device=known)
        )
        return found.value(answer, "the host's labels and annotations") or HostLabels()

    def device(self, groups: tuple[Group, ...], found: Findings) -> dict[str, str]:
        maps: list[dict[str, str]] = []
        for group in groups:
            facts = GroupFacts(
                manufacturer=group.manufacturer,
                key=group.key,
                product=group.product,
                count=group.count,
                memory_mib=group.memory_mib,
                cores=group.cores,
                family=group.family,
                compute_capability=group.compute_capability,
                driver_version=group.driver_version,
                runtime_version=group.runtime_version,
            )
            for answer in self._answers.get(
                facts,
                lambda facts=facts: (device_labels(self._program, facts), maker_labels(self._program, facts)),  # type: ignore[misc]
            ):
                maps.append(found.value(answer, f"labels of {group.key}") or {})  # noqa: PERF401 - the inner loop is two long
        return found.unify("device-labels", maps)

    def cpu(self, facts: CpuFacts | None, found: Findings) -> CpuIdentity | None:
        cpu = found.value(
            self._answers.get(("cpu", facts), lambda: identify_cpu(self._program, facts)), "the CPU's key"
        )
        if cpu and cpu.key == cpu.manufacturer and self._settings.get("instanceTypeAwareCpuManufacturer"):
            message = f"the CPU is known as {cpu.key} only, and types tell CPUs apart: nodes of unlike CPUs share one"
            found.add("cpu", "CpuUnidentified", message)
        return cpu

    def managed(self, label: str | None, found: Findings) -> str | None:
        answer = self._answers.get(("managed", label), lambda: decide_managed(self._program, self._settings, label))
        return found.value(answer, "whether the node is managed")

    def profile(self, facts: NodeFacts, found: Findings) -> Profile | None:
        levels = tuple(key for key, _ in facts.topology_levels)
        answer = self._answers.get(("topology", levels), lambda: topology_profile(self._program, levels))
        return found.value(answer, "the topology profile")

    def worker(
        self, cpu: CpuIdentity | None, managed: str | None, found: Findings, *, cores: int, accelerated: bool
    ) -> dict[str, str]:
        if cpu is None:
            return {}
        answer = self._answers.get(
            ("worker-labels", cpu.manufacturer, cpu.key, cores, accelerated, managed),
            lambda: worker_labels(
                self._program, self._settings, cpu, cores=cores, accelerated=accelerated, managed=managed
            ),
        )
        return found.value(answer, "the worker's labels") or {}

    def fit(self, groups: tuple[Group, ...], rows: Ledger, found: Findings) -> dict[str, str]:
        maps: list[dict[str, str]] = []
        for group in groups:
            units, cards = max_free_slice_units(group.cards, rows), shared_free_cards(group.cards, rows)
            answer = self._answers.get(
                ("fit-labels", group.key, units, cards),
                lambda key=group.key, units=units, cards=cards: fit_labels(  # type: ignore[misc]
                    self._program, key, sliced_max_free_units=units, shared_free_cards=cards
                ),
            )
            maps.append(found.value(answer, f"fit labels of {group.key}") or {})
        return found.unify("fit-labels", maps)

    def shares(
        self,
        labelled: tuple[LabelledGroup, ...],
        found: Findings,
        *,
        managed: str | None,
        profile: Profile | None,
        accelerated: bool,
        cores: int,
    ) -> tuple[FlavorShare, ...]:
        counts = tuple((group.key, group.count) for group in labelled)
        name = profile.profile if profile else None
        answer = self._answers.get(
            ("contributes", counts, managed, name, accelerated, cores),
            lambda: flavor_shares(
                self._program,
                self._settings,
                counts,
                managed=managed,
                profile=name,
                accelerated=accelerated,
                cores=cores,
            ),
        )
        return found.value(answer, "which flavors the node feeds") or ()

    def names(self, maker: str, found: Findings) -> ResourceNames | None:
        answer = self._answers.get(("resources", maker), lambda: resource_names(self._program, maker))
        return found.value(answer, f"resource names of {maker}")

    def counted(self, maker: str, names: ResourceNames, count: MakerCount, found: Findings) -> dict[str, int]:
        answer = self._answers.get(
            ("capacity", maker, count),
            lambda: node_capacity(
                self._program,
                names,
                count.models,
                dict(count.profiles),
                advertised_sliced=count.sliced_tokens,
                advertised_partitioned=count.partitioned_tokens if names.partitioned else 0,
            ),
        )
        return found.value(answer, f"capacity of the cards of {maker}") or {}

    def devices(
        self,
        facts: NodeFacts,
        groups: tuple[Group, ...],
        cpu: CpuIdentity | None,
        managed: str | None,
        profile: Profile | None,
        found: Findings,
    ) -> dict[str, str]:
        if not groups:
            return {}
        keys = tuple(group.key for group in groups)
        name, cpu_key = profile.profile if profile else None, cpu.key if cpu else None
        return self.devices_of(
            keys, os=facts.os, arch=facts.arch, managed=managed, profile=name, cpu_key=cpu_key, found=found
        )

    def devices_of(
        self,
        keys: tuple[str, ...],
        *,
        os: str,
        arch: str,
        managed: str | None,
        profile: str | None,
        cpu_key: str | None,
        found: Findings,
    ) -> dict[str, str]:
        answer = self._answers.get(
            ("devices-labels", os, arch, keys, managed, profile, cpu_key),
            lambda: devices_labels(
                self._program, keys, os=os, arch=arch, managed=managed, profile=profile, cpu_key=cpu_key
            ),
        )
        return found.value(answer, "labels of the Devices object") or {}
