"""Every file of the YAML and structure corpora gives exactly the findings written beside it, and its fixes mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.model import PackDocument, load_pack_document
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain

CORPUS = Path(__file__).parents[2] / "corpus"
MANIFEST = "expectations.yaml"


def expectations(folder: str) -> dict[str, Any]:
    path = CORPUS / folder / MANIFEST
    documents, diagnostics = read(Source(str(path), path.read_bytes()))
    assert list(diagnostics) == []
    return dict(plain(documents[0].root))


def findings(folder: str, data: bytes) -> tuple[list[PackDocument | None], Diagnostics]:
    documents, diagnostics = read(Source("file.yaml", data))
    if folder == "yaml":
        return [], diagnostics
    return [load_pack_document(document, diagnostics) for document in documents], diagnostics


FILES = [(folder, name) for folder in ("yaml", "structure") for name in expectations(folder)]


@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{folder}-{name}" for folder, name in FILES])
def test_a_corpus_file_gives_exactly_the_findings_written_beside_it(folder: str, name: str) -> None:
    packs, diagnostics = findings(folder, (CORPUS / folder / name).read_bytes())
    found = []
    for one in diagnostics.sorted():
        assert one.place is not None
        at = one.place.source.position(one.place.span.start)
        row = {"code": one.code, "at": f"{at.line}:{at.column}", "says": one.message}
        found.append(row if one.severity == "error" else {**row, "level": str(one.severity)})
    assert found == expectations(folder)[name]
    if folder == "structure":
        assert all((pack is None) == diagnostics.has_errors for pack in packs)


@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{folder}-{name}" for folder, name in FILES])
def test_every_fix_of_a_corpus_file_removes_its_finding(folder: str, name: str) -> None:
    data = (CORPUS / folder / name).read_bytes()
    _, before = findings(folder, data)
    for one in before:
        if one.fix is None:
            continue
        _, after = findings(folder, one.fix.apply(data))
        assert count(after, one) < count(before, one)


def count(among: Diagnostics, like: Diagnostic) -> int:
    return sum((one.code, one.message) == (like.code, like.message) for one in among)


@pytest.mark.parametrize("folder", ["yaml", "structure"])
def test_no_corpus_file_lies_there_without_an_expectation(folder: str) -> None:
    lying = {path.name for path in (CORPUS / folder).iterdir()} - {MANIFEST}
    assert lying == set(expectations(folder))
