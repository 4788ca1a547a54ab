"""Lint and mutation of makers' packs: what hangs on what the sections mean."""

from __future__ import annotations

import textwrap

import pytest

from engine.lang.linking import Linked, link
from engine.lang.mutate import mutate
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE
from engine.sections.packlint import lint_packs
from engine.sections.packtests import JOINT

HEAD = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: acme, version: "1.0.0"}
spec:
  identity:
    manufacturer: acme
    pci: [{vendor: "10ab", classPrefixes: ["03"]}]
    resource: acme.example/gpu
    slots: [minor]
"""


def linked(body: str, *others: str) -> Linked:
    texts = [HEAD + textwrap.indent(textwrap.dedent(body), "  "), *others]
    files = [PackFiles(f"{n}.yaml", (Source(f"{n}.yaml", text.encode()),)) for n, text in enumerate(texts)]
    made = link(files, CATALOGUE)
    assert made.program is not None, [f"{one.place}: {one.message}" for one in made.diagnostics]
    return made


def said(body: str, *others: str) -> list[str]:
    return [f"{one.code} {one.message}" for one in lint_packs(linked(body, *others)).sorted()]


PREPARE = """\
facts:
  extras: {used: int}
  intents:
    create: {args: {size: int, at: int}, answer: {index: int}, outcomes: [ok, full, busy]}
    drop: {args: {}, outcomes: [ok]}
sections:
  prepare:
    - id: prepare-slice
      when: alloc.grant == 'slice'
      emit:
        call: create
        args: {size: 1, at: 2}
        phase: beforeRecord
        undo: drop
        refuse: ACME_FULL
      message: {full: no slice is left, busy: the card is busy}
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("", "", []),
        ("call: create", "call: creat", ["RP540 `facts.intents` declares no call `creat`", "RP541 the intent `create` is called by no rule"]),
        ("undo: drop", "undo: dropp", ["RP540 `facts.intents` declares no call `dropp` to undo this", "RP541 the intent `drop` is called by no rule"]),
        ("undo: drop", "undo: none", ["RP541 the intent `drop` is called by no rule"]),
        ("at: 2}", "too: 2}", ["RP540 `create` is not given at", "RP540 `create` takes no argument `too`"]),
        ("refuse: ACME_FULL", "accept: [ok, done]\n        refuse: ACME_FULL", ["RP540 `create` never ends in `done`"]),
        ("busy: the card", "bsy: the card", ["RP541 `create` may end in busy, which is refused with a fixed text", "RP540 `create` never ends in `bsy`"]),
        ("busy: the card is busy}", "busy: b, ok: fine}", ["RP541 `ok` is accepted, so its message is never shown"]),
        ("message: {full: no slice is left, busy: the card is busy}", "message: no", []),
        ("call: create", "call: $(if(alloc.arch == 'arm64', 'create', 'drop'))", []),
    ],
)  # fmt: skip
def test_a_call_is_held_against_what_the_driver_is_said_to_do(old: str, new: str, wanted: list[str]) -> None:
    body = PREPARE.replace(old, new).replace("message: no\n", "message: nothing\n")
    assert sorted(said(body)) == sorted(wanted)


def test_a_claim_that_looks_at_a_fact_nobody_gives_is_found() -> None:
    body = """\
        facts: {extras: {used: "int[]"}}
        sections:
          claims:
            - id: claim-ids
              emit: {name: ids, pool: node, size: 4, count: 1, live: usde, refuse: ACME_IDS}
              message: none is left
    """
    assert said(body) == ["RP540 there is no fact `usde`"]
    assert said(body.replace("usde", "used")) == []


FEATURES = "  features:\n    - {id: feature-slices, emit: {logicalSlices: 4, sliceReleasedOnTermination: false}}\n"


def test_what_is_held_and_what_is_said_of_its_release_have_to_agree() -> None:
    holds = PREPARE.replace("undo: drop", "undo: drop\n        hold: pod")
    assert [one[:5] for one in said(holds)] == ["RP542"]
    assert [one[:5] for one in said(PREPARE + FEATURES)] == ["RP542"]
    assert said(holds + FEATURES) == []
    # A partition may be held without a word about slices.
    assert said(holds.replace("alloc.grant == 'slice'", "alloc.grant == 'partition'")) == []


INJECT = "sections:\n  inject:\n    rules:\n"


@pytest.mark.parametrize(
    ("mount", "wanted"),
    [
        ("{lib: a.so, at: /a}", []),
        ("{lib: a.so, host: /a, at: /a}", ["RP423 a mount has one of lib, work, host; this one has lib and host"]),
        ("{at: /a}", ["RP423 a mount has one of lib, work, host; this one has none"]),
    ],
)
def test_a_mount_comes_from_one_place(mount: str, wanted: list[str]) -> None:
    assert said(INJECT + f"      - {{id: inject-one, emit: {{env: {{A: b}}, mounts: [{mount}]}}}}\n") == wanted


@pytest.mark.parametrize(
    ("rules", "features", "wanted"),
    [
        (["{id: a, emit: {env: {A: b}}}"], "", []),
        (["{id: a, when: alloc.channel == 'cdi', emit: {cdi: [{kind: a/b, name: c}]}}"], "", ["exclusive (whole, by envvar)"]),
        (["{id: a, when: alloc.grant == 'whole', emit: {deviceNodes: [{path: /dev/a}]}}"], "logicalSlices: 2", ["sliced (slice, by envvar)"]),
        (["{id: a, when: alloc.grant != 'partition', emit: {env: {A: b}}}"], "partitions: true", ["visibility (partition, by envvar)"]),
        (["{id: a, emit: {env: {A: b}}}"], "partitions: true", []),
    ],
)  # fmt: skip
def test_every_served_mode_shows_the_container_its_card(rules: list[str], features: str, wanted: list[str]) -> None:
    body = INJECT + "".join(f"      - {rule}\n" for rule in rules)
    if features:
        body += f"  features:\n    - {{id: f, emit: {{{features}}}}}\n"
    found = [
        one.removeprefix("RP530 mode ").removesuffix(" injects nothing that makes the card visible")
        for one in said(body)
    ]
    assert found == wanted


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acme.example/gpu", True),
        ("a acme.example/gpu.shared", True),
        ("acme.example/gpus", False),
        ("my-acme.example/gpu-x", False),
        ("x-acme.example/gpu, acme.example/gpu", True),
        ("$(identity.resource)", False),
    ],
)
def test_a_resource_name_stands_in_the_identity_only(text: str, found: bool) -> None:
    body = INJECT + f'      - {{id: a, emit: {{env: {{A: "{text}"}}}}}}\n'
    assert said(body) == (["RP531 `acme.example/gpu` is spelled out"] if found else [])


LIBRARY = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Library
metadata: {name: core, version: "1.0.0"}
spec:
  params: {word: {type: string, default: a}}
  rules:
    inject:
      - {id: core-env, when: alloc.grant == 'slice', emit: {env: {CORE: $(with.word)}}}
      - {id: core-on, emit: {env: {LIT: "1"}}}
"""
BODY = """\
use: [{library: core}]
derived:
  card:
    half: floor_div(default(card.memoryMib, `0`), `2`)
    unused: default(card.cores, `1`)
  alloc:
    many: length(alloc.cards) > `1`
sections:
  inject:
    rules:
      - {id: inject-cards, when: alloc.derived.many, emit: {env: {MANY: "yes"}}}
      - id: inject-half
        forEach: {in: alloc.cards, as: card}
        emit:
          env:
            HALF_$(card.position): $(card.derived.half)
"""
TESTS = """\
tests:
  - name: two cards
    section: inject
    given: {alloc: {mode: exclusive, cards: [{memoryMib: 10}, {memoryMib: 20}]}}
    expect: {env: {MANY: "yes", HALF_0: "5", HALF_1: "10", LIT: "1"}}
  - name: a slice, whole answer
    section: allocation
    given: {alloc: {mode: sliced, cards: [{memoryMib: 10}]}}
    expect: {env: {CORE: a, HALF_0: "5", LIT: "1"}}
"""


def test_derived_values_and_rules_of_libraries_are_linted() -> None:
    assert said(BODY, LIBRARY) == ["RP502 the let `unused` is named by nothing"]


def test_derived_values_and_rules_of_libraries_are_mutated() -> None:
    body = BODY.replace("    unused: default(card.cores, `1`)\n", "") + TESTS
    report = mutate(linked(body, LIBRARY), CATALOGUE, JOINT)
    assert [one.what for pack in report.packs for one in pack.survived] == [
        "``0`` becomes ``1``",
        "``0`` becomes ``-1``",
    ]
    loose = mutate(
        linked(
            body.replace("CORE: a, ", "").replace("expect: {env: {HALF", "partial: true\n    expect: {env: {HALF"),
            LIBRARY,
        ),
        CATALOGUE,
        JOINT,
    )
    assert "rule `core-env` left out" in [one.what for pack in loose.packs for one in pack.survived]
    places = {one.place.source.path for pack in loose.packs for one in pack.survived}
    assert places == {"0.yaml", "1.yaml"}


def test_a_rule_of_a_library_with_lets_is_mutated_too() -> None:
    library = LIBRARY.replace("  rules:\n", "  let: {word: \"concat(with.word, '!')\"}\n  rules:\n").replace(
        "$(with.word)", "$(word)"
    )
    body = BODY.replace("    unused: default(card.cores, `1`)\n", "") + TESTS.replace("CORE: a", "CORE: a!")
    report = mutate(linked(body, library), CATALOGUE, JOINT)
    assert report.killed > 20
    assert {one.what for pack in report.packs for one in pack.survived} == {
        "``0`` becomes ``1``",
        "``0`` becomes ``-1``",
    }


def test_a_mutant_of_a_library_that_one_pack_notices_is_killed() -> None:
    body = BODY.replace("    unused: default(card.cores, `1`)\n", "")
    other = (HEAD + textwrap.indent(body, "  ")).replace("acme", "bolt").replace("10ab", "10bb")
    report = mutate(linked(body + TESTS, LIBRARY, other), CATALOGUE, JOINT)
    assert not any(one.place.source.path == "1.yaml" for pack in report.packs for one in pack.survived)
    diagnostics = report.diagnostics()
    assert len({one.place for one in diagnostics if one.code == "RP710"}) > 5


def test_the_shipped_packs_are_lint_clean() -> None:
    made = link(shipped_packs(), CATALOGUE)
    assert [f"{one.place}: {one.code} {one.message}" for one in lint_packs(made).sorted()] == []
