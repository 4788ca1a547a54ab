"""One input, one output: whatever the hash seed, the locale, the order of files and the folder of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.packs import alone, write
from tests.behaviour.running import TOP, WALKTHROUGH, run, start

MACHINES = sorted(str(path.relative_to(TOP)) for path in (TOP / WALKTHROUGH).glob("*.yaml"))
PLAN = ("--show", "nodes,nodefeatures,devices,topologies,flavors,cq,lq,instype,instypeflavor", "-o", "yaml")
FAULTY = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: %s, version: "1.0.0"}
spec:
  identty: {}
  sections:
    model: [{id: a, when: card.nmae, emit: {prodct: x}}]
    inject: [{id: a, emit: {}}]
"""
# Two are enough: the test's own process, with a random seed, is a third.
WORLDS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"},
)


@pytest.mark.parametrize("number", range(len(WORLDS)))
def test_a_plan_is_the_same_in_every_world(number: int) -> None:
    reversed_files = number % 2 == 1
    files = MACHINES[::-1] if reversed_files else MACHINES
    assert start("plan", *files, *PLAN, **WORLDS[number]).stdout == run("plan", WALKTHROUGH, *PLAN).stdout_bytes


def test_findings_are_the_same_in_every_world(tmp_path: Path) -> None:
    paths = [write(tmp_path, FAULTY % name, f"{name}.yaml") for name in ("one", "two", "three")]
    seen = set()
    for number, world in enumerate(WORLDS):
        made = start(
            "validate",
            *(paths[::-1] if number == 1 else paths),
            "--rules",
            alone(tmp_path),
            "--format",
            "json",
            **world,
        )
        assert made.returncode == 1, made.stderr
        seen.add(made.stdout)
    assert len(seen) == 1
