"""Machine documents read: bytes in, the facts of nodes and diagnostics out.

What rules make of the facts is not known here. `native`, `sample` and `faults` are kept for the fakes and never reach a
rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec

from engine.domain.facts import CardFacts, CpuFacts, DriverProfile, LibraryFacts, NodeFacts, PciFunction
from engine.domain.units import DriverIndex, Mib
from engine.errors import EvaluationError
from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.reader import read
from engine.lang.source import Place, Source
from engine.lang.tree import Map, Node, Scalar, Seq, lookup, plain
from engine.machines.model import API_VERSION, KIND, Card, Cpu, Library, Machine, Pci, Profile
from engine.machines.shape import ShapeCheck
from engine.values.names import is_dns_subdomain, is_label_key, is_label_value
from engine.values.quantities import parse_quantity

DERIVED_MARKS: Final = (".sliced", ".partitioned", ".shared", ".visibility")
"""What marks a capacity entry as derived from the cards. Source: specification 10 §1.2."""

_MACHINE: Final = msgspec.inspect.type_info(Machine)


@dataclass(frozen=True, slots=True)
class MachineDocument:
    """One document: the machine as written, its facts, and where it is."""

    machine: Machine
    facts: NodeFacts
    place: Place


def read_machines(source: Source) -> tuple[list[MachineDocument], Diagnostics]:
    """The machines of a file that are free of errors, and all diagnostics."""
    documents, diagnostics = read(source)
    if diagnostics.has_errors:
        return [], diagnostics
    found: list[MachineDocument] = []
    for document in documents:
        check = Diagnostics()
        made = _machine(document.root, check)
        diagnostics.extend(check)
        if made is not None:
            found.append(made)
    diagnostics.extend(check_names(found))
    return found, diagnostics


def check_names(documents: Iterable[MachineDocument]) -> Diagnostics:
    """Diagnostics for machines, of one file or of several, that have one name."""
    diagnostics = Diagnostics()
    first: dict[str, Place] = {}
    for document in documents:
        name = document.facts.name
        if name in first:
            _twice(diagnostics, f"machine {name}", document.place, first[name])
        else:
            first[name] = document.place
    return diagnostics


def machine_facts(machine: Machine) -> NodeFacts:
    """The facts of a machine; what only fakes use is left out."""
    spec = machine.spec
    return NodeFacts(
        name=machine.metadata.name,
        os=spec.os,
        arch=spec.arch,
        capacity=spec.capacity,
        labels=spec.labels,
        annotations=spec.annotations,
        cpu=None if spec.cpu is None else _cpu(spec.cpu),
        pci=None if spec.pci is None else tuple(_pci(each) for each in spec.pci),
        libraries=tuple(_library(each) for each in spec.libraries),
    )


def _machine(root: Node, diagnostics: Diagnostics) -> MachineDocument | None:
    if not isinstance(root, Map):
        diagnostics.error("RP203", "the document is no map, wanted a machine", root.place)
        return None
    if not _is_machine(root, diagnostics) or not _has_shape(root, diagnostics):
        return None
    machine = msgspec.convert(plain(root), Machine)
    _check_names_and_amounts(machine, root, diagnostics)
    _check_unique(root, diagnostics)
    _check_references(machine, root, diagnostics)
    place = _at(root, "metadata", "name")
    return None if diagnostics.has_errors else MachineDocument(machine, machine_facts(machine), place)


def _has_shape(root: Map, diagnostics: Diagnostics) -> bool:
    ShapeCheck(diagnostics).check(root, _MACHINE, "")
    return not diagnostics.has_errors


def _is_machine(root: Map, diagnostics: Diagnostics) -> bool:
    for key, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        seen = root.get(key)
        if not isinstance(seen, Scalar) or seen.value != wanted:
            shown = seen.text if isinstance(seen, Scalar) else "missing"
            message = f"{key} is {shown}, wanted {wanted}"
            diagnostics.error("RP210", message, seen.place if seen else root.place)
            return False
    return True


def _check_names_and_amounts(machine: Machine, root: Map, diagnostics: Diagnostics) -> None:
    name = machine.metadata.name
    if not is_dns_subdomain(name):
        message = f"metadata.name is {name}, wanted a DNS name: lower case, digits, - and ."
        diagnostics.error("RP204", message, _at(root, "metadata", "name"))
    for key, value in machine.spec.labels.items():
        place = _at(root, "spec", "labels", key)
        if not is_label_key(key):
            diagnostics.error("RP204", f"spec.labels: {key} is no label key", place)
        elif not is_label_value(value):
            diagnostics.error("RP204", f"spec.labels.{key} is {value}, which is no label value", place)
    for key, value in machine.spec.capacity.items():
        place = _at(root, "spec", "capacity", key)
        if any(mark in key for mark in DERIVED_MARKS):
            message = f"spec.capacity.{key} is derived from the cards"
            diagnostics.error("RP204", message, place, help="leave it out")
            continue
        try:
            parse_quantity(value)
        except EvaluationError as error:
            diagnostics.error("RP204", f"spec.capacity.{key}: {error.what}", place, help=error.remedy)


def _check_unique(root: Map, diagnostics: Diagnostics) -> None:
    """One UUID, one PCI function, one driver index, one maker, one profile name: each stands for one thing.

    Two cards may name one PCI function: a board with two chips behind it has one address, and a card is its UUID.
    """
    libraries = [each for each in _items(root, "spec", "libraries") if isinstance(each, Map)]
    cards = [card for library in libraries for card in _items(library, "cards")]
    _unique(diagnostics, "library", libraries, "manufacturer")
    _unique(diagnostics, "PCI function", _items(root, "spec", "pci"), "address")
    _unique(diagnostics, "card", cards, "uuid")
    for library in libraries:
        _unique(diagnostics, "card with driver index", _items(library, "cards"), "driverIndex")
        lists = library.get("profiles")
        for entry in lists.entries if isinstance(lists, Map) else ():
            _unique(diagnostics, "profile", _items(entry.value), "name")


def _unique(diagnostics: Diagnostics, what: str, nodes: Iterable[Node], key: str) -> None:
    first: dict[str, Place] = {}
    for node in nodes:
        value = lookup(node, (key,))
        if not isinstance(value, Scalar):
            continue
        if value.text in first:
            _twice(diagnostics, f"{what} {value.text}", value.place, first[value.text])
        else:
            first[value.text] = value.place


def _check_references(machine: Machine, root: Map, diagnostics: Diagnostics) -> None:
    addresses = None if machine.spec.pci is None else {each.address for each in machine.spec.pci}
    for at, library in enumerate(machine.spec.libraries):
        for number, card in enumerate(library.cards):
            where = ("spec", "libraries", at, "cards", number)
            if card.profiles is not None and card.profiles not in library.profiles:
                _missing(diagnostics, f"profile list {card.profiles}", _at(root, *where, "profiles"), library.profiles)
            if addresses is not None and card.pci is not None and card.pci not in addresses:
                _missing(diagnostics, f"PCI function {card.pci}", _at(root, *where, "pci"), addresses)
        for name, profiles in library.profiles.items():
            for number, profile in enumerate(profiles):
                if profile.starts and not profile.span:
                    message = f"profile {profile.name} has starts but no span"
                    diagnostics.error("RP202", message, _at(root, "spec", "libraries", at, "profiles", name, number))


def _missing(diagnostics: Diagnostics, what: str, place: Place, known: Iterable[str]) -> None:
    listed = sorted(known)
    guess = nearest(what.rsplit(maxsplit=1)[-1], listed)
    remedy = f"did you mean {guess}?" if guess else f"known: {', '.join(listed) or 'none'}"
    diagnostics.error("RP204", f"there is no {what} in this machine", place, help=remedy)


def _twice(diagnostics: Diagnostics, what: str, place: Place, first: Place) -> None:
    diagnostics.error("RP601", f"{what} is there twice", place, related=(Related("it is here first", first),))


def _at(root: Map, *steps: str | int) -> Place:
    """The place of a node that is known to be there."""
    node = lookup(root, steps)
    return root.place if node is None else node.place


def _items(node: Node, *steps: str) -> Iterator[Node]:
    found = lookup(node, steps)
    return iter(found.items if isinstance(found, Seq) else ())


def _cpu(cpu: Cpu) -> CpuFacts:
    return CpuFacts(
        vendor_id=cpu.vendor_id,
        family=cpu.family,
        model_id=cpu.id,
        name=cpu.name,
        stepping=cpu.stepping,
        physical_cores=cpu.physical_cores,
        threads_per_core=cpu.threads_per_core,
        logical_cores=cpu.logical_cores,
        cache_line=cpu.cache_line,
        hz=cpu.hz,
        boost_freq=cpu.boost_freq,
        cache_l1i=cpu.cache_l1i,
        cache_l1d=cpu.cache_l1d,
        cache_l2=cpu.cache_l2,
        cache_l3=cpu.cache_l3,
    )


def _pci(pci: Pci) -> PciFunction:
    return PciFunction(
        address=pci.address,
        class_code=pci.class_,
        vendor=pci.vendor,
        device=pci.device,
        subsystem_vendor=pci.subsystem_vendor,
        subsystem_device=pci.subsystem_device,
        numa_node=pci.numa_node,
        bridges=pci.bridges,
    )


def _library(library: Library) -> LibraryFacts:
    profiles = {name: tuple(_profile(each) for each in listed) for name, listed in library.profiles.items()}
    return LibraryFacts(
        manufacturer=library.manufacturer,
        driver_version=library.driver_version,
        runtime_version=library.runtime_version,
        node_partitioning=library.node_partitioning,
        capabilities=library.capabilities,
        flags=library.flags,
        cards=tuple(_card(each, profiles.get(each.profiles or "", ())) for each in library.cards),
    )


def _card(card: Card, profiles: tuple[DriverProfile, ...]) -> CardFacts:
    return CardFacts(
        uuid=card.uuid,
        driver_index=DriverIndex(card.driver_index),
        name=card.name,
        pci=card.pci,
        memory_mib=None if card.memory_mib is None else Mib(card.memory_mib),
        cores=card.cores,
        compute_capability=card.compute_capability,
        slots=card.slots,
        extras=card.extras,
        partitioning=card.partitioning,
        profiles=profiles,
        unhealthy=card.unhealthy,
    )


def _profile(profile: Profile) -> DriverProfile:
    return DriverProfile(
        name=profile.name,
        memory_mib=Mib(profile.memory_mib),
        compute_slices=profile.compute_slices,
        memory_slices=profile.memory_slices,
        starts=profile.starts,
        span=profile.span,
        max_count=profile.max_count,
    )
