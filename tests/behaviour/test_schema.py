"""`engine schema`: what is committed is what is generated, and it describes the documents people write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from engine.cli.schema_documents import schema_files, schema_text
from engine.cli.schema_words import WORDS
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain
from tests.behaviour.packs import GOOD
from tests.behaviour.running import TOP, run

FILES = {file: cache(make) for file, make in schema_files().items()}


@pytest.mark.parametrize("file", FILES)
def test_the_committed_schema_is_the_generated_one(file: str) -> None:
    committed = (TOP / "schemas" / file).read_text(encoding="utf-8")
    assert committed == schema_text(FILES[file]()), "run make schemas"


def test_no_other_schema_is_committed() -> None:
    committed = {str(path.relative_to(TOP / "schemas")) for path in (TOP / "schemas").rglob("*.json")}
    assert committed == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_a_schema_is_a_schema_and_closes_every_object(file: str) -> None:
    schema = FILES[file]()
    jsonschema.Draft202012Validator.check_schema(schema)
    for each in _parts(schema):
        if "properties" in each or "patternProperties" in each:
            assert each.get("additionalProperties") is False, each


@pytest.mark.parametrize("path", sorted((TOP / "rules").rglob("*.yaml")), ids=lambda path: str(path.relative_to(TOP)))
def test_the_shipped_packs_fit_their_schema(path: Path) -> None:
    for document in _documents(path.read_bytes()):
        _validator(document).validate(document)


def test_a_misspelt_key_does_not_fit() -> None:
    for wrong in (
        GOOD.replace("when:", "wehn:"),
        GOOD.replace("resource:", "resuorce:"),
        GOOD.replace("spec:", "sepc:"),
    ):
        (document,) = _documents(wrong.encode())
        assert list(_validator(document).iter_errors(document))


def test_machines_fit_theirs() -> None:
    validator = jsonschema.Draft202012Validator(FILES["machine.v1alpha1.schema.json"]())
    for path in (TOP / "tests" / "machines" / "walkthrough").glob("*.yaml"):
        for document in _documents(path.read_bytes()):
            validator.validate(document)


def test_what_sections_are_asked_and_answer_fits() -> None:
    from engine.cli.planning import Options, planned
    from engine.cli.snapshot import read_snapshot
    from engine.explain.recording import Recording
    from tests.unit.chain.shipped import program

    recording = Recording(program())
    planned(
        read_snapshot(["tests/machines/walkthrough", "tests/machines/mig/node-h100-mixed.yaml"]), recording, Options()
    )
    asked = {name: list(recording.asked(name)) for name in _sections()}
    assert sum(map(bool, asked.values())) >= 15
    for name, questions in asked.items():
        validator = jsonschema.Draft202012Validator(FILES[f"sections/{name}.v1.schema.json"]())
        for each in questions:
            validator.validate({"input": dict(each.inputs), "output": each.outcome.value})


def test_one_schema_is_printed_by_its_short_name() -> None:
    assert json.loads(run("schema", "inject").stdout)["title"] == "Section inject of Manufacturer packs"
    assert run("schema", "sections/inject.v1").stdout == run("schema", "inject").stdout


def test_writing_writes_all_and_names_what_is_left_over(tmp_path: Path) -> None:
    (tmp_path / "old.v0.schema.json").write_text("{}", encoding="utf-8")
    result = run("schema", "--write", str(tmp_path))
    assert result.exit_code == 0
    assert result.stdout == f"{len(FILES)} schemas and 7 resource definitions written to {tmp_path}\n"
    assert "old.v0.schema.json is no schema of this version" in result.stderr
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json")} == {*FILES, "old.v0.schema.json"}


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run("schema", "--write", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def _sections() -> list[str]:
    return [name.split("/")[1].split(".")[0] for name in FILES if name.startswith("sections/")]


def _documents(data: bytes) -> list[Any]:
    documents, _ = read(Source("test.yaml", data))
    return [plain(document.root) for document in documents]


def _validator(document: dict[str, Any]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(FILES[f"{document['kind'].lower()}.v1alpha1.schema.json"]())


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("type") == "object":
            yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)


@pytest.mark.parametrize("kind", ["manufacturer", "derivation", "library", "overlay"])
def test_every_key_of_a_pack_has_words_for_an_editor(kind: str) -> None:
    schema = FILES[f"{kind}.v1alpha1.schema.json"]()
    silent = [
        f"{name}.{key}"
        for name, model in [(kind, schema), *schema["$defs"].items()]
        for key, value in model.get("properties", {}).items()
        if not value.get("description")
    ]
    assert not silent, "write them in engine/cli/schema_words.py"


def test_no_words_are_about_a_key_that_is_gone() -> None:
    known = set()
    for kind in ("Manufacturer", "Derivation", "Library", "Overlay"):
        schema = FILES[f"{kind.lower()}.v1alpha1.schema.json"]()
        for name, model in [(kind, schema), *schema["$defs"].items()]:
            known |= {f"{owner}.{key}" for key in model.get("properties", {}) for owner in (name, "*")}
    # A test has all that a case has, and is described there.
    assert not [key for key in WORDS if key not in known]


def test_an_emit_is_checked_by_the_section_it_stands_in() -> None:
    (document,) = _documents(GOOD.replace("emit: {product:", "emit: {prodct:").encode())
    assert list(_validator(document).iter_errors(document))
    (document,) = _documents(GOOD.encode())
    assert not list(_validator(document).iter_errors(document))
    section = FILES["manufacturer.v1alpha1.schema.json"]()["$defs"]["ManufacturerSpec"]["properties"]["sections"]
    assert section["properties"]["inject"]["description"].startswith("The edits of one container")
