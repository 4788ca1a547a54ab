"""Host facts and what is published of them: there and back, and by which facts a CPU is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.facts import CpuFacts, NodeFacts, PciFunction
from engine.features.hostfacts import (
    NOT_STATED,
    PCI_CLASSES,
    general_key_cpu,
    host_feature,
    host_spec,
    read_host,
    without_pci,
)
from engine.features.objects import Features, read_feature
from engine.lang.source import Source
from engine.machines.document import read_machines
from tests.unit.features.world import rules

MACHINES = Path(__file__).parents[2] / "machines"
FIELDS = tuple(CpuFacts.__dataclass_fields__)
CPU_FACT = "feature.gpustack.ai/cpu-"


def machines() -> list[NodeFacts]:
    found = []
    for path in sorted(MACHINES.rglob("*.yaml")):
        if "broken" not in path.parts:
            documents, _ = read_machines(Source(path.name, path.read_bytes()))
            found += [document.facts for document in documents]
    return found


def as_text(cpu: CpuFacts | None) -> CpuFacts | None:
    """Facts as texts, which is what they are published as."""
    if cpu is None or not cpu.vendor_id:
        return None
    values = {name: getattr(cpu, name) for name in FIELDS}
    return CpuFacts(**{name: None if value is None else str(value) for name, value in values.items()})


def as_published(function: PciFunction) -> PciFunction:
    return replace(function, address="", class_code=function.class_code[:4], numa_node=None, bridges=())


def back(cpu: CpuFacts | None, pci: tuple[PciFunction, ...] | None) -> Features:
    made = host_feature("n1", cpu, pci, namespace="ns", node_uid="u", publishes=rules().publishes)
    return Features() if made is None else read_feature(made).features


def test_every_machine_reads_back_as_it_was_published() -> None:
    facts = machines()
    assert len(facts) > 4
    for each in facts:
        host = read_host(back(each.cpu, each.pci))
        assert host.cpu == as_text(each.cpu)
        published = [as_published(one) for one in each.pci or () if rules().publishes(one)]
        assert host.pci == (None if each.pci is None else tuple(published))


def test_a_published_host_is_judged_like_the_machine_it_is_of() -> None:
    for each in machines():
        labels = rules().labels(read_host(back(each.cpu, each.pci))).value
        straight = rules().labels(replace(read_host(back(each.cpu, each.pci)), pci=each.pci)).value
        assert labels == straight, each.name


def test_an_accelerator_in_an_unusual_class_is_published_when_a_pack_knows_it() -> None:
    bridge, card = PciFunction("0", "060000", "1d94", "1480"), PciFunction("1", "060000", "1d94", "6210")
    assert [rules().publishes(each) for each in (bridge, card)] == [False, True]
    spec = host_spec(None, (bridge, card), rules().publishes)
    assert spec is not None
    assert spec["labels"] == {"feature.node.kubernetes.io/pci-1d94.present": "true"}
    assert host_spec(None, (bridge, card)) == {
        "features": {"instances": {"pci.device": {"elements": []}}},
        "labels": {},
    }


texts = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12).filter(
    lambda text: not text.startswith("@")
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, texts)))
def test_any_cpu_facts_with_a_vendor_survive_publication(known: dict[str, str]) -> None:
    cpu = CpuFacts(**known)
    host = read_host(back(cpu, None))
    assert host.cpu == (cpu if cpu.vendor_id else None)
    assert host.is_stated == bool(cpu.vendor_id)


@given(st.lists(st.tuples(*[st.text("0123456789abcdef", min_size=4, max_size=4)] * 3), max_size=6))
def test_any_devices_survive_publication(rows: list[tuple[str, str, str]]) -> None:
    functions = tuple(PciFunction("0000:00:00.0", *row) for row in rows)
    host = read_host(back(None, functions))
    assert host.is_stated
    assert host.pci == tuple(as_published(each) for each in functions if each.class_code.startswith(PCI_CLASSES))


def test_the_labels_are_those_that_a_real_nfd_computes() -> None:
    cpu = CpuFacts(vendor_id="AMD", family="25", model_id="1", name="AMD EPYC 7763 64-Core Processor")
    pci = (PciFunction("0000:01:00.0", "030200", "10de", "2237"), PciFunction("0000:02:00.0", "010802", "144d", "a80a"))
    spec = host_spec(cpu, pci)
    assert spec is not None
    assert spec["labels"] == {
        "feature.node.kubernetes.io/cpu-model.family": "25",
        "feature.node.kubernetes.io/cpu-model.id": "1",
        "feature.node.kubernetes.io/cpu-model.vendor_id": "AMD",
        "feature.node.kubernetes.io/pci-10de.present": "true",
    }
    assert spec["features"]["instances"]["pci.device"]["elements"] == [
        {"attributes": {"class": "0302", "vendor": "10de", "device": "2237"}}
    ]
    assert "instances" not in without_pci(spec)["features"]
    assert without_pci(spec)["labels"] == spec["labels"]


def test_an_object_is_owned_by_its_node_and_a_long_name_has_no_label() -> None:
    cpu = CpuFacts(vendor_id="AMD")
    made = host_feature("n" * 64, cpu, None, namespace="ns", node_uid="u")
    assert made is not None
    assert "labels" not in made["metadata"]
    read = read_feature(made)
    assert (read.target, read.owner_uid) == ("n" * 64, "u")
    short = host_feature("n1", cpu, None, namespace="ns")
    assert short is not None
    assert (read_feature(short).target, read_feature(short).owner_uid) == ("n1", "")


@pytest.mark.parametrize("cpu", [None, CpuFacts(), CpuFacts(name="A CPU"), CpuFacts(vendor_id="@cpu.model.vendor_id")])
def test_what_was_not_read_properly_is_not_published(cpu: CpuFacts | None) -> None:
    assert host_feature("n1", cpu, None, namespace="ns") is None


def test_nothing_is_stated_by_an_empty_feature() -> None:
    assert read_host(Features({"cpu.model": {}, "system.name": {"nodename": "x"}})) == NOT_STATED
    assert read_host(Features(pci=())).is_stated, "an empty bus was looked at"


def test_a_cpu_is_named_by_the_annotation_then_the_host_then_the_labels() -> None:
    host = CpuFacts(vendor_id="AMD", family="25", model_id="1", name="from the host", hz="5")
    labels = {
        "feature.node.kubernetes.io/cpu-model.vendor_id": "Intel",
        "feature.node.kubernetes.io/cpu-model.id": "7",
    }
    named = general_key_cpu(host, labels, {f"{CPU_FACT}name": "from the node"}, CPU_FACT)
    assert (named.name, named.vendor_id, named.hz) == ("from the node", "AMD", "5")
    unresolved = general_key_cpu(host, labels, {f"{CPU_FACT}name": "@cpu.model.name"}, CPU_FACT)
    assert unresolved.name == "from the host"
    alone = general_key_cpu(None, labels, {}, CPU_FACT)
    assert alone == CpuFacts(vendor_id="Intel", model_id="7")
