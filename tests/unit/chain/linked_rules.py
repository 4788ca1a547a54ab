"""The shipped packs that planning a node asks, linked once for all tests of the node half."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from engine.domain.facts import NodeFacts
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.source import Source
from engine.machines.document import read_machines
from engine.rulefiles import find_packs
from engine.sections.catalog import CATALOGUE

ROOT = Path(__file__).parents[3]
DERIVATIONS = ("constants", "devices", "flavor", "node-keys", "resources", "settings", "topology")
SETTINGS = {
    "nodeManagementManual": False,
    "instanceTypeMixedOnNode": True,
    "instanceTypeDerivedFromNode": True,
    "instanceTypeAwareCpuManufacturer": False,
}


@cache
def program() -> Program:
    folders = [ROOT / "rules" / "derive" / name for name in DERIVATIONS]
    folders.append(ROOT / "rules" / "manufacturers" / "nvidia")
    libraries = find_packs([ROOT / "rules" / "library"], Diagnostics())
    linked = link([*(_pack(folder) for folder in folders), *libraries], CATALOGUE)
    assert linked.program is not None, [found.message for found in linked.diagnostics.sorted()]
    return linked.program


@cache
def machine(path: str) -> NodeFacts:
    file = ROOT / "tests" / "machines" / path
    documents, diagnostics = read_machines(Source(path, file.read_bytes()))
    assert not diagnostics.has_errors, [found.message for found in diagnostics.sorted()]
    (document,) = documents
    return document.facts


def _pack(folder: Path) -> PackFiles:
    files = sorted(
        file for file in folder.rglob("*.yaml") if "tests" not in file.name and "tests" not in file.parts[-2]
    )
    return PackFiles(folder.name, tuple(Source(str(file), file.read_bytes()) for file in files), directory=True)
