"""The device half of a node: what its libraries answer becomes cards, and cards become groups.

Rules say what a card is, what it offers and how its group is called; indexes, populations and the least values of a group
are counted here and in the domain. No label is made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.chain.conditions import Condition, Findings
from engine.chain.node_memo import Answers
from engine.domain.facts import CardFacts, DriverProfile, LibraryFacts, NodeFacts
from engine.domain.inventory import Card, Group, OfferedProfile, build_group
from engine.domain.units import CardIndex
from engine.sections.answer import Answer, Evaluator
from engine.sections.features import CardFeatures, card_features
from engine.sections.group import group_key
from engine.sections.host_labels import fact_text
from engine.sections.model import Model, identify_model
from engine.sections.profile import driver_profile_name, publish_profile
from engine.values.names import is_label_value

_LEAST: Final = {
    "memoryMib": "the label says the least, and slices are counted by the label",
    "cores": "the label says the least",
    "family": "the label says the first by name",
    "computeCapability": "the label says the first by name",
    "product": "the label says the first by name, and the group is one because their ids are equal",
}
"""What is done with cards of one group that differ: nothing about them is wrong, and none of them is left out."""


@dataclass(frozen=True, slots=True)
class CardReader:
    """Reads the cards of nodes with one program; `with_memory` adds the memory to group ids (a switch of the agent)."""

    program: Evaluator
    answers: Answers
    with_memory: bool = False

    def groups(self, facts: NodeFacts, makers: frozenset[str], findings: Findings) -> tuple[Group, ...]:
        """The node's groups, sorted by key; what was left out, could not be read or disagrees goes to `findings`."""
        groups: list[Group] = []
        devices = {each.address: each.device for each in facts.pci or ()}
        for library in facts.libraries:
            if library.manufacturer in makers:
                groups += self._library(facts, library, devices, findings)
            elif library.cards:
                message = (
                    f"{len(library.cards)} cards of {library.manufacturer} are left out: no pack of that name is linked"
                )
                findings.add("model", "NoPack", message)
        return tuple(sorted(groups, key=lambda group: group.key))

    def _library(
        self, facts: NodeFacts, library: LibraryFacts, devices: Mapping[str, str], findings: Findings
    ) -> list[Group]:
        by_group: dict[tuple[str, str], list[Card]] = {}
        index = 0
        for card in library.cards:
            model = self._model(facts, library, card, devices.get(card.pci or ""), findings)
            if model is None:
                continue
            answer = self.answers.get(
                ("group", library.manufacturer, model.product, card.memory_mib if self.with_memory else None),
                lambda card=card, model=model: group_key(  # type: ignore[misc]
                    self.program, library.manufacturer, model.product, card.memory_mib, with_memory=self.with_memory
                ),
            )
            key = findings.value(answer, f"card {card.uuid}")
            if key is not None:
                cards = by_group.setdefault((key.id, key.key), [])
                cards.append(self._card(facts, library, card, model, CardIndex(index), findings))
                index += 1
        groups = [
            build_group(
                library.manufacturer,
                group_id,
                cards,
                key=key,
                driver_version=library.driver_version,
                runtime_version=library.runtime_version,
            )
            for (group_id, key), cards in by_group.items()
        ]
        for group in groups:
            for fact in group.disagreements:
                findings.add("group", "CardsDiffer", f"the cards of {group.key} differ in {fact}; {_LEAST[fact]}")
        return groups

    def _model(
        self, facts: NodeFacts, library: LibraryFacts, card: CardFacts, pci_device: str | None, findings: Findings
    ) -> Model | None:
        cpu_name = fact_text(facts.cpu.name) if facts.cpu else None
        question = ("model", library.manufacturer, facts.arch, cpu_name, pci_device, *_card_question(card))
        answer: Answer[Model] = self.answers.get(
            question,
            lambda: identify_model(
                self.program,
                library.manufacturer,
                card,
                arch=facts.arch,
                cpu_name=cpu_name,
                pci_device=pci_device,
            ),
        )
        model = findings.value(answer, f"card {card.uuid} is left out")
        if answer.is_nothing:
            findings.add("model", "CardDropped", f"card {card.uuid} is left out: its driver gives it no name")
        if model is not None and model.exclude:
            findings.add("model", "CardExcluded", f"card {card.uuid} is left out: {model.exclude}")
            return None
        return model

    def _card(
        self,
        facts: NodeFacts,
        library: LibraryFacts,
        card: CardFacts,
        model: Model,
        index: CardIndex,
        findings: Findings,
    ) -> Card:
        question = (
            "features",
            library.manufacturer,
            library.runtime_version,
            library.node_partitioning,
            library.capabilities,
            facts.arch,
            model,
            card.partitioning,
            card.memory_mib,
        )
        answer = self.answers.get(question, lambda: card_features(self.program, library, card, model, arch=facts.arch))
        told = findings.value(answer, f"card {card.uuid} counts, but serves nothing")
        features = told or CardFeatures()
        return Card(
            index=index,
            driver_index=card.driver_index,
            uuid=card.uuid,
            product=model.product,
            family=model.family,
            memory_mib=card.memory_mib,
            cores=card.cores,
            compute_capability=card.compute_capability,
            partitioned=features.partitions,
            readable=told is not None,
            # Without a memory figure no budget of a slice can be worked out, whatever the rules say.
            logical_slices=features.logical_slices if card.memory_mib and not features.partitions else 0,
            cores_overcommit=features.cores_overcommit,
            isolation=features.isolation,
            reserve_mib=features.reserve_mib,
            grant_unit=features.grant_unit,
            slice_released_on_termination=features.slice_released_on_termination,
            slots=card.slots,
            pci_address=card.pci,
            profiles=self._profiles(library.manufacturer, card.profiles, findings) if features.partitions else (),
            unhealthy=card.unhealthy,
        )

    def _profiles(
        self, maker: str, profiles: tuple[DriverProfile, ...], findings: Findings
    ) -> tuple[OfferedProfile, ...]:
        offered, conditions = self.answers.get(
            ("profiles", maker, profiles), lambda: _offer(self.program, maker, profiles)
        )
        findings.extend(conditions)
        return offered


def _offer(
    program: Evaluator, maker: str, profiles: tuple[DriverProfile, ...]
) -> tuple[tuple[OfferedProfile, ...], tuple[Condition, ...]]:
    """The profiles that a card offers, and why the others are left out."""
    findings = Findings()
    offered: dict[str, OfferedProfile] = {}
    for profile in profiles:
        name = findings.value(publish_profile(program, maker, profile), f"profile {profile.name} of {maker}")
        if name is None or not profile.starts:  # a profile without a legal placement is never offered
            continue
        reason = name.exclude or _unpublishable(name.published, offered)
        if reason:
            findings.add("profile", "ProfileNotOffered", f"profile {profile.name} of {maker}: {reason}")
            continue
        offered[name.published] = OfferedProfile(
            published=name.published,
            driver_name=driver_profile_name(profile.name),
            memory_mib=profile.memory_mib,
            compute_slices=profile.compute_slices,
            memory_slices=profile.memory_slices,
            starts=tuple(sorted(profile.starts)),
            span=profile.span,
        )
    return tuple(offered.values()), findings.listed()


def _unpublishable(published: str, offered: Mapping[str, object]) -> str:
    # A resource name's last part is of the characters of a label value; a name outside is left out, never rewritten.
    if not published or not is_label_value(published):
        return f"{published!r} would not make a resource name"
    return f"{published} is already another profile's name" if published in offered else ""


def _card_question(card: CardFacts) -> tuple[Any, ...]:
    return (
        card.name,
        card.memory_mib,
        card.cores,
        card.compute_capability,
        tuple(card.slots.items()),
        tuple(card.extras.items()),
    )
