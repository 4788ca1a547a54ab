"""Every file of the rules and cases corpora: what is found, answered, planned, as the file says it.

A file says what it shows (`what`) and how: `findings` (packs and the codes they give), `asks` (a section, an input, the
answer), `expressions`, `plans` (machines and what nodes come to), or `held`, the tests elsewhere that show it.
"""

from __future__ import annotations

import gc
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.chain.changes import NodeSet
from engine.chain.plan import plan
from engine.domain.presets import load_presets, tier_of
from engine.errors import EvaluationError
from engine.lang.compile import compile_node
from engine.lang.diagnostics import Diagnostics
from engine.lang.functions import FUNCTIONS
from engine.lang.limits import MAX_PACK_BYTES
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.packtest import run_tests
from engine.lang.parser import parse
from engine.lang.program import Program
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain
from engine.machines.document import read_machines
from engine.rulefiles import find_packs, shipped_packs
from engine.sections.catalog import CATALOGUE
from engine.sections.packlint import lint_packs
from engine.sections.packtests import JOINT, completed

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus"
MACHINES = ROOT / "tests" / "machines"
FOLDERS = ("rules", "cases")


@cache
def load(folder: str, name: str) -> dict[str, Any]:
    path = CORPUS / folder / name
    documents, diagnostics = read(Source(str(path), path.read_bytes()))
    assert list(diagnostics) == []
    return dict(plain(documents[0].root))


FILES = [(folder, path.name) for folder in FOLDERS for path in sorted((CORPUS / folder).glob("*.yaml"))]


def rows(key: str) -> list[Any]:
    found = []
    for folder, name in FILES:
        content = load(folder, name).get(key, [])
        listed = content if isinstance(content, list) else [content]
        found += [pytest.param(row, id=f"{name}-{number}") for number, row in enumerate(listed)]
    return found


@cache
def shipped() -> Program:
    linked = link(shipped_packs(), CATALOGUE)
    assert linked.program is not None
    return linked.program


def maker_of(row: dict[str, Any]) -> str:
    return str(row.get("shipped", ""))


def linked_of(texts: list[str], *, maker: str = "") -> Linked:
    files = [PackFiles(f"{n}.yaml", (Source(f"{n}.yaml", text.encode()),)) for n, text in enumerate(texts)]
    over = [one for one in files if b"kind: Overlay" in one.sources[0].data]
    mine = [one for one in files if one not in over]
    mine += [one for one in shipped_packs() if maker and (one.name.endswith(maker) or "library" in one.name)]
    return link(mine, CATALOGUE, overlays=over)


def test_every_file_says_what_it_shows_and_shows_it() -> None:
    ways = {
        "findings",
        "asks",
        "expressions",
        "plans",
        "held",
        "files",
        "schemas",
        "garbage",
        "loaded",
        "bytes",
        "functions",
        "tiers",
    }
    for folder, name in FILES:
        content = load(folder, name)
        assert content["what"]
        assert set(content) - {"what"} <= ways
        assert len(content) > 1, name


@pytest.mark.parametrize("row", rows("findings"))
def test_packs_give_exactly_the_findings_written_down(row: dict[str, Any]) -> None:
    linked = linked_of(row["packs"], maker=maker_of(row))
    found = list(lint_packs(linked))
    # Of a shipped pack's libraries those that it does not use are of no interest here.
    found += [one for one in linked.diagnostics if not (maker_of(row) and one.code == "RP503")]
    if "run" in row:
        assert linked.program is not None
        found += run_tests(linked.program, CATALOGUE, JOINT, coverage=row["run"] == "coverage").diagnostics()
    assert sorted({one.code for one in found}) == row["finds"]
    assert [text for text in row.get("says", ()) if not any(text in one.message for one in found)] == []


@pytest.mark.parametrize("row", rows("asks"))
def test_a_section_answers_as_written(row: dict[str, Any]) -> None:
    program, maker, given = shipped(), row.get("maker"), row["given"]
    if "packs" in row:
        made = linked_of(row["packs"]).program
        assert made is not None
        program, maker = made, made.makers[0]
    if row.get("allocation"):
        given = {"alloc": program.with_derived(maker, completed(given["alloc"]))}
    outcome = program.evaluate(row["section"], given, maker)
    if "unknown" in row:
        assert outcome.kind == "unknown"
        assert row["unknown"] in outcome.reason
    elif row.get("nothing"):
        assert outcome.kind == "nothing"
    elif "fires" in row:
        assert set(row["fires"]) <= set(outcome.fired)
    elif "holds" in row:
        assert covers(outcome.value, row["holds"])
    elif "transforms" in row:
        assert row["transforms"] in outcome.value["transformations"]
    else:
        assert outcome.value == row["gives"]


def covers(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return all(key in value and covers(value[key], item) for key, item in wanted.items())
    return bool(value == wanted)


@pytest.mark.parametrize("row", rows("expressions"))
def test_an_expression_gives_what_is_written(row: dict[str, Any]) -> None:
    run = compile_node(parse(row["expression"]), FUNCTIONS)
    if row.get("fails"):
        with pytest.raises(EvaluationError):
            run(row.get("input"))
    else:
        assert run(row.get("input")) == row["gives"]


# machines


def machine(row: dict[str, Any]) -> Any:
    data = (MACHINES / row["file"]).read_bytes() if "file" in row else json.dumps(document(row)).encode()
    documents, diagnostics = read_machines(Source("machine.yaml", data))
    assert [one.message for one in diagnostics] == []
    return documents[0].facts


def document(row: dict[str, Any]) -> dict[str, Any]:
    """A whole machine document from the few facts that matter."""
    functions = [
        {"address": f"0000:{n:02x}:00.0", "class": kind, "vendor": vendor, "device": device, "subsystemVendor": vendor,
         "subsystemDevice": device, "bridges": []}
        for n, (kind, vendor, device) in enumerate(row.get("pci", ()))
    ]  # fmt: skip
    libraries = []
    if "library" in row:
        library = row["library"]
        cards = library.get("cards") or [library["card"]] * library["count"]
        made = [
            {"uuid": f"{row['name']}-{n}", "driverIndex": n, "pci": f"0000:{n + 1:02x}:00.0", "partitioning": "unsupported",
             "slots": {}, **card}
            for n, card in enumerate(cards)
        ]  # fmt: skip
        libraries = [{"manufacturer": library["manufacturer"], "cards": made}]
        addresses = dict.fromkeys(card["pci"] for card in made)
        functions += [
            {"address": address, "class": "120000", "vendor": "ffff", "device": "0001", "subsystemVendor": "ffff",
             "subsystemDevice": "0001", "bridges": []}
            for address in addresses
        ]  # fmt: skip
    return {
        "apiVersion": "machines.gpustack.ai/v1alpha1",
        "kind": "Machine",
        "metadata": {"name": row["name"]},
        "spec": {
            "os": "linux",
            "arch": "amd64",
            "capacity": {"cpu": "8", "memory": "64Gi", "pods": "110"},
            "labels": {"kubernetes.io/hostname": row["name"]},
            "cpu": {"vendorId": "AMD", "family": "23", "id": "49", "name": "AMD EPYC 7R32", "logicalCores": 8},
            "pci": functions,
            "libraries": libraries,
            "faults": [],
        },
    }


@pytest.mark.parametrize("row", rows("plans"))
def test_machines_come_to_what_is_written(row: dict[str, Any]) -> None:
    facts = [machine(one) for one in row["machines"]]
    orders = list(itertools.permutations(facts))[:6] if row.get("shuffled") else [tuple(facts)]
    plans = [plan([NodeSet(one) for one in order], shipped()) for order in orders]
    chain = plans[0]
    for other in plans[1:]:
        assert [one.labels for one in other.nodes()] == [one.labels for one in chain.nodes()]
        assert other.flavors() == chain.flavors()
    nodes = {node.facts.name: node for node in chain.nodes()}
    for name, wanted in row.get("nodes", {}).items():
        check_node(nodes[name], wanted)
    reasons = {condition.reason for condition in chain.conditions()}
    assert set(row.get("conditions", ())) <= reasons
    counted: dict[str, int] = {}
    for flavor in chain.flavors():
        if flavor.accelerator is not None:
            key = flavor.accelerator.key
            counted[key] = counted.get(key, 0) + flavor.capacity
    assert row.get("cards", counted) == counted


def check_node(node: Any, wanted: dict[str, Any]) -> None:
    assert covers(node.labels, wanted.get("labels", {}))
    for prefix in wanted.get("lacks", ()):
        assert [key for key in node.labels if key.startswith(prefix)] == []
    assert covers(node.capacity, wanted.get("capacity", {}))
    for prefix in wanted.get("none", ()):
        assert [key for key in node.capacity if key.startswith(prefix)] == []
    assert not {*node.labels.values(), *node.annotations.values()} & set(wanted.get("texts", ()))


# what else a row may be about


@pytest.mark.parametrize("row", rows("tiers"))
def test_products_are_of_the_tier_written(row: dict[str, Any]) -> None:
    presets = load_presets(shipped().block("presets", row["maker"]))
    assert {key: tier_of(presets, key) for key in row["keys"]} == row["keys"]


@pytest.mark.parametrize("row", rows("files"))
def test_files_are_packs_by_their_ending(row: dict[str, Any], tmp_path: Path) -> None:
    for name in row["named"]:
        (tmp_path / name).write_text("a: b\n")
    diagnostics = Diagnostics()
    assert len(find_packs([tmp_path], diagnostics)) == row["packs"]
    assert [one.code for one in diagnostics] == row["finds"]


@pytest.mark.parametrize("row", rows("bytes"))
def test_a_file_of_too_many_bytes_is_refused(row: dict[str, Any]) -> None:
    assert row["size"] == MAX_PACK_BYTES + 1
    _, diagnostics = read(Source("a.yaml", b"#" * row["size"]))
    assert [one.code for one in diagnostics] == [row["finds"]]
    _, diagnostics = read(Source("a.yaml", b"a: b\n" + b"#" * (row["size"] - 6)))
    assert list(diagnostics) == []


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for item in node.values():
            yield from objects(item)
    elif isinstance(node, list):
        for item in node:
            yield from objects(item)


@pytest.mark.parametrize("row", rows("schemas"))
def test_every_published_schema_is_as_written(row: dict[str, Any]) -> None:
    for path in sorted((ROOT / "schemas").glob("*.schema.json")):
        for node in objects(json.loads(path.read_text())):
            if row.get("local") and isinstance(node.get("$ref"), str):
                assert node["$ref"].startswith("#/"), path.name
            if row.get("closed") and node.get("type") == "object" and "properties" in node:
                closed = node.get("additionalProperties", node.get("unevaluatedProperties"))
                assert closed is False, (path.name, node.get("title"))


@pytest.mark.parametrize("row", rows("garbage"))
def test_an_evaluation_leaves_nothing_for_the_collector(row: dict[str, Any]) -> None:
    made = [(compile_node(parse(one["expression"]), FUNCTIONS), one["input"]) for one in row["expressions"]]
    for run, given in made:
        run(given)
        gc.collect()
        gc.disable()
        try:
            for _ in range(50):
                run(given)
            assert gc.collect() == 0
        finally:
            gc.enable()


@pytest.mark.parametrize("row", rows("loaded"))
def test_what_evaluates_loads_without_what_reads(row: dict[str, Any]) -> None:
    code = f"import sys, {row['module']}; print([m for m in {row['without']!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("row", rows("functions"))
def test_every_function_has_what_it_needs(row: dict[str, Any]) -> None:
    for function in FUNCTIONS.values():
        for name in row["have"]:
            assert getattr(function, name), f"{function.name} has no {name}"


@pytest.mark.parametrize("row", rows("held"))
def test_the_tests_that_show_a_row_are_there(row: str) -> None:
    path, _, name = row.partition("::")
    text = (ROOT / path).read_text()
    assert f"def {name}(" in text if name else "def test_" in text
