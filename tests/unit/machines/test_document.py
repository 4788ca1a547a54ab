"""Machine documents: what a good one becomes, and what every bad one is told, with its place and its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain.facts import CpuFacts, PciFunction
from engine.lang.diagnostics import Diagnostic
from engine.lang.render import render_text
from engine.lang.source import Source
from engine.machines.document import MachineDocument, check_names, read_machines

MACHINES = Path(__file__).parents[2] / "machines"

GOOD = """\
apiVersion: machines.gpustack.ai/v1alpha1
kind: Machine
metadata: {name: node-1}
spec:
  os: linux
  arch: amd64
  capacity: {cpu: "4", memory: 16Gi}
  labels: {kubernetes.io/hostname: node-1}
  cpu: {vendorId: AMD, family: "23", id: "49", name: AMD EPYC 7R32, physicalCores: 2, cacheL1i: 32768, cacheL3: 16777216}
  pci:
    - {address: "0000:00:1e.0", class: "030200", vendor: "1a2b", device: "2237", numaNode: 0, bridges: ["0000:00:01.0"]}
    - {address: "0000:00:1f.0", class: "030200", vendor: "1a2b", device: "2237"}
  libraries:
    - manufacturer: acme
      driverVersion: "580.1"
      runtimeVersion: "13.0"
      nodePartitioning: disabled
      capabilities: [slice]
      flags: {mode: "on", level: 2}
      profiles:
        x1:
          - {name: 1g.10gb, id: 0, memoryMib: 9856, computeSlices: 1, memorySlices: 1, starts: [0, 1], span: 1}
      cards:
        - uuid: A-1
          driverIndex: 0
          name: Acme X1
          pci: "0000:00:1e.0"
          memoryMib: 24563
          cores: 10240
          computeCapability: "8.6"
          slots: {minor: 0}
          extras: {arch: x, wide: true}
          partitioning: enabled
          profiles: x1
          sample: {memoryUsedMib: 0, coresPercent: 0, temperatureCelsius: 31, powerWatts: 58}
          native: {memoryTotalMib: 23028, deep: {list: [1, 2]}}
        - {uuid: A-2, driverIndex: 1, pci: "0000:00:1f.0"}
  faults:
    - {call: acmeGetUuid, card: 0, answer: notSupported, from: 3}
"""


def _read(text: str) -> tuple[list[MachineDocument], list[Diagnostic]]:
    documents, diagnostics = read_machines(Source("m.yaml", text.encode()))
    return documents, diagnostics.sorted()


def _changed(old: str, new: str) -> list[Diagnostic]:
    assert GOOD.count(old) >= 1, f"{old!r} is not in the good document"
    documents, found = _read(GOOD.replace(old, new, 1))
    assert found, "the change is not noticed"
    assert documents == [], "a machine with an error is used"
    return found


def test_a_good_document_becomes_facts() -> None:
    (document,), found = _read(GOOD)
    assert found == []
    facts = document.facts
    assert (facts.name, facts.os, facts.arch, facts.capacity) == (
        "node-1",
        "linux",
        "amd64",
        {"cpu": "4", "memory": "16Gi"},
    )
    assert facts.cpu == CpuFacts(
        vendor_id="AMD",
        family="23",
        model_id="49",
        name="AMD EPYC 7R32",
        physical_cores=2,
        cache_l1i=32768,
        cache_l3=16777216,
    )
    assert facts.pci is not None
    assert facts.pci[0] == PciFunction("0000:00:1e.0", "030200", "1a2b", "2237", numa_node=0, bridges=("0000:00:01.0",))
    (library,) = facts.libraries
    assert (library.node_partitioning, library.capabilities, library.flags) == (
        "disabled",
        ("slice",),
        {"mode": "on", "level": 2},
    )
    first, second = library.cards
    assert (first.driver_index, first.memory_mib, first.slots, first.partitioning) == (
        0,
        24563,
        {"minor": 0},
        "enabled",
    )
    assert first.extras == {"arch": "x", "wide": True}
    assert [(p.name, p.starts, p.span, p.max_count) for p in first.profiles] == [("1g.10gb", (0, 1), 1, None)]
    assert (second.name, second.memory_mib, second.profiles, second.partitioning) == (None, None, (), "unsupported")


def test_what_only_fakes_read_is_kept_in_the_document() -> None:
    (document,), _ = _read(GOOD)
    card = document.machine.spec.libraries[0].cards[0]
    assert card.native["memoryTotalMib"] == 23028
    assert card.sample is not None
    assert card.sample.power_watts == 58
    assert document.machine.spec.faults[0].from_ == 3
    assert str(document.place) == "m.yaml:3:18"


def test_a_host_that_nobody_looked_at_has_no_pci_and_no_cpu() -> None:
    text = GOOD[: GOOD.index("  cpu: {vendorId")] + GOOD[GOOD.index("  libraries:") :]
    (document,), found = _read(text)
    assert found == []
    assert (document.facts.pci, document.facts.cpu) == (None, None)


def test_several_documents_are_several_machines() -> None:
    documents, found = _read(GOOD + "---\n" + GOOD.replace("node-1", "node-2"))
    assert [each.facts.name for each in documents] == ["node-1", "node-2"]
    assert found == []


def test_one_bad_document_does_not_lose_the_others() -> None:
    documents, found = _read(
        GOOD + "---\n" + GOOD.replace("node-1", "node-2").replace("driverIndex: 0", "driverIndx: 0")
    )
    assert [each.facts.name for each in documents] == ["node-1"]
    assert {each.code for each in found} == {"RP201", "RP202"}


@pytest.mark.parametrize(
    ("old", "new", "code", "message", "remedy"),
    [
        ("driverVersion", "driverVersoin", "RP201", "spec.libraries[0] has no field driverVersoin", "did you mean driverVersion?"),
        ("driverVersion", "zzz", "RP201", "no field zzz", "known fields: manufacturer"),
        ("  os: linux\n", "", "RP202", "spec lacks os", ""),
        ("memoryMib: 24563", "memoryMib: 24Gi", "RP111", '"24Gi", wanted a whole number', "write MiB as a number: 24576"),
        ("memoryMib: 24563", "memoryMib: 512 MiB", "RP111", "wanted a whole number", "write MiB as a number: 512"),
        ("memoryMib: 24563", 'memoryMib: "24563"', "RP111", "wanted a whole number", "write it without quotes"),
        ("memoryMib: 24563", "memoryMib: much", "RP111", "wanted a whole number", ""),
        ("memoryMib: 24563", "memoryMib: 25756172288", "RP204", "wanted 16777216 or less", "25756172288 bytes are 24563 MiB"),
        ("memoryMib: 24563", "memoryMib: 0", "RP204", "is 0, wanted 1 or more", ""),
        ("memoryMib: 24563", "memoryMib: -1", "RP204", "is -1", "leave the key out when it cannot be measured"),
        ("memoryMib: 24563", "memoryMib: true", "RP111", "is true, wanted a whole number", ""),
        ("memoryMib: 24563", "memoryMib: [1]", "RP203", "is a list, wanted a whole number", ""),
        ('family: "23"', "family: 23", "RP111", "spec.cpu.family is 23, wanted a text", 'write it in quotes: "23"'),
        ("name: AMD EPYC 7R32", "name: {a: b}", "RP203", "spec.cpu.name is a map, wanted a text", ""),
        ("partitioning: enabled", "partitioning: enable", "RP204", "wanted one of", "did you mean enabled?"),
        ("partitioning: enabled", "partitioning: mig", "RP204", 'is "mig"', ""),
        ("partitioning: enabled", "partitioning: 4", "RP111", "is 4, wanted a text", 'write it in quotes: "4"'),
        ("wide: true", "wide: [1]", "RP203", "is a list, wanted a text, a number or a boolean", ""),
        ("profiles: x1", "profiles: x2", "RP204", "no profile list x2", "known: x1"),
        ("profiles: x1", "profiles: other", "RP204", "no profile list other", "known: x1"),
        ('pci: "0000:00:1f.0"', 'pci: "0000:00:3f.0"', "RP204", "no PCI function 0000:00:3f.0", "did you mean"),
        ('address: "0000:00:1e.0"', 'address: "1e:00"', "RP204", "spec.pci[0].address", ""),
        ('vendor: "1a2b"', 'vendor: "0x1A2B"', "RP204", "spec.pci[0].vendor", 'write "1a2b"'),
        ("uuid: A-2", "uuid: A-1", "RP601", "card A-1 is there twice", ""),
        ('address: "0000:00:1f.0"', 'address: "0000:00:1e.0"', "RP601", "PCI function 0000:00:1e.0 is there twice", ""),
        ("driverIndex: 1", "driverIndex: 0", "RP601", "card with driver index 0 is there twice", ""),
        ("uuid: A-1", 'uuid: ""', "RP204", "uuid is empty", "leave the key out"),
        ("name: node-1", "name: Node_1", "RP204", "wanted a DNS name", ""),
        ("name: node-1", "name: " + "a" * 254, "RP204", "has 254 characters, at most 253", ""),
        ("kubernetes.io/hostname: node-1", "-x: node-1", "RP204", "-x is no label key", ""),
        ("hostname: node-1", 'hostname: "-"', "RP204", "is no label value", ""),
        ("memory: 16Gi", "memory: lots", "RP204", "spec.capacity.memory", "write digits"),
        ("memory: 16Gi", 'acme.com/gpu.sliced.units: "1"', "RP204", "is derived from the cards", "leave it out"),
        ("starts: [0, 1], span: 1", "starts: [0, 1]", "RP202", "profile 1g.10gb has starts but no span", ""),
        ("starts: [0, 1]", "starts: 1", "RP203", "is 1, wanted a list", ""),
        ("slots: {minor: 0}", "slots: [0]", "RP203", "is a list, wanted a map", ""),
        ("metadata: {name: node-1}", "metadata: node-1", "RP203", 'metadata is "node-1", wanted a map', ""),
        ("kind: Machine", "kind: Machines", "RP210", "kind is Machines, wanted Machine", ""),
        ("machines.gpustack.ai/v1alpha1", "machines.gpustack.ai/v1", "RP210", "apiVersion is machines.gpustack.ai/v1,", ""),
        ("kind: Machine\n", "", "RP210", "kind is missing", ""),
    ],
)  # fmt: skip
def test_a_fault_is_named_where_it_is(old: str, new: str, code: str, message: str, remedy: str) -> None:
    found = _changed(old, new)
    hits = [each for each in found if each.code == code and message in each.message and remedy in each.help]
    assert hits, [(each.code, each.message, each.help) for each in found]
    assert hits[0].place is not None
    assert hits[0].place.source.path == "m.yaml"


def test_the_place_of_a_fault_is_the_value_that_is_wrong() -> None:
    (found,) = _changed("memoryMib: 24563", "memoryMib: 24Gi")
    assert found.place is not None
    line = found.place.source.line_text(found.place.source.position(found.place.span.start).line)
    assert line.strip() == "memoryMib: 24Gi"
    assert found.place.source.data[found.place.span.start : found.place.span.end] == b"24Gi"


def test_all_faults_of_a_document_are_told_at_once() -> None:
    found = _changed("os: linux\n  arch: amd64", "ost: linux\n  arch: 64")
    assert {each.code for each in found} == {"RP201", "RP202", "RP111"}


def test_two_profiles_of_one_name_in_a_list_are_told() -> None:
    profile = "          - {name: 1g.10gb, id: 0, memoryMib: 9856, computeSlices: 1, memorySlices: 1, starts: [0, 1], span: 1}\n"
    (found,) = _changed(profile, profile + profile)
    assert found.message == "profile 1g.10gb is there twice"
    assert found.related


def test_two_libraries_of_one_maker_are_told() -> None:
    (found,) = _changed("  faults:", "    - manufacturer: acme\n  faults:")
    assert found.message == "library acme is there twice"


def test_a_card_without_a_pci_list_needs_no_function() -> None:
    text = GOOD[: GOOD.index("  pci:\n")] + GOOD[GOOD.index("  libraries:") :]
    assert _read(text)[1] == []


def test_a_card_may_be_nowhere_on_the_bus_and_unhealthy() -> None:
    (document,), found = _read(GOOD.replace('driverIndex: 1, pci: "0000:00:1f.0"', "driverIndex: 1, unhealthy: true"))
    assert found == []
    second = document.facts.libraries[0].cards[1]
    assert (second.pci, second.unhealthy) == (None, True)


def test_a_switch_takes_true_or_false_only() -> None:
    (found,) = _changed("driverIndex: 1,", "driverIndex: 1, unhealthy: 1,")
    assert found.message.endswith("unhealthy is 1, wanted true or false")


def test_an_amount_in_a_list_is_no_machine() -> None:
    documents, found = _read("- 1\n")
    assert documents == []
    assert [each.code for each in found] == ["RP203"]


def test_a_file_that_is_no_yaml_gives_nothing_but_its_diagnostics() -> None:
    documents, found = _read("a: [\n")
    assert documents == []
    assert found


def test_two_files_with_one_name_are_told_where_the_first_is() -> None:
    (first,), _ = _read(GOOD)
    (second,), _ = _read(GOOD)
    (found,) = check_names([first, second])
    assert found.message == "machine node-1 is there twice"
    assert str(found.related[0].place) == "m.yaml:3:18"


def test_capacity_names_of_other_makers_are_kept() -> None:
    (document,), found = _read(GOOD.replace("memory: 16Gi", "hugepages-2Mi: 1Gi"))
    assert found == []
    assert document.facts.capacity["hugepages-2Mi"] == "1Gi"


@pytest.mark.parametrize("file", sorted(MACHINES.glob("[!b]*/*.yaml")), ids=lambda file: file.stem)
def test_every_machine_of_the_collection_is_read_without_a_finding(file: Path) -> None:
    documents, diagnostics = read_machines(Source(file.name, file.read_bytes()))
    assert [each.message for each in diagnostics] == []
    assert [each.facts.name for each in documents] == [file.stem]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("duplicate-uuid", "RP601"),
        ("misspelt-key", "RP201"),
        ("negative-memory", "RP204"),
        ("one-name-twice", "RP601"),
        ("unlisted-profiles", "RP204"),
        ("unquoted-pci-vendor", "RP110"),
    ],
)
def test_every_broken_machine_is_told_its_fault(name: str, code: str) -> None:
    file = MACHINES / "broken" / f"{name}.yaml"
    _, diagnostics = read_machines(Source(file.name, file.read_bytes()))
    assert code in {each.code for each in diagnostics}


def test_the_example_of_the_users_page_is_a_good_document_and_its_fault_is_told_as_shown() -> None:
    page = (MACHINES.parents[1] / "docs" / "machines.md").read_text(encoding="utf-8")
    example = page.split("<!-- example: read by a test -->\n```yaml\n")[1].split("```")[0]
    (document,), found = _read(example)
    assert found == []
    assert [len(card.profiles) for card in document.facts.libraries[0].cards] == [0, 1]
    _, diagnostics = read_machines(Source("node-1.yaml", example.replace("40960", "40Gi", 1).encode()))
    assert render_text(diagnostics) in page


def test_two_chips_behind_one_pci_function_are_two_cards() -> None:
    documents, found = _read(GOOD.replace('pci: "0000:00:1f.0"', 'pci: "0000:00:1e.0"'))
    assert found == []
    (library,) = documents[0].facts.libraries
    assert [(card.uuid, card.pci) for card in library.cards] == [("A-1", "0000:00:1e.0"), ("A-2", "0000:00:1e.0")]
