"""Every folder of the link corpus gives exactly the findings written beside it, and no program when one is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.lang.diagnostics import Diagnostic
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.reader import read
from engine.lang.source import Place, Source
from engine.lang.tree import plain
from engine.sections.catalog import CATALOGUE

CORPUS = Path(__file__).parents[2] / "corpus" / "link"
OVERLAY = "overlay-"


def expectations() -> dict[str, Any]:
    path = CORPUS / "expectations.yaml"
    documents, diagnostics = read(Source(str(path), path.read_bytes()))
    assert list(diagnostics) == []
    return dict(plain(documents[0].root))


EXPECTED = expectations()


def linked(case: str) -> Linked:
    """The files of a folder; those named `overlay-…` are put over the others."""
    files = [
        PackFiles(path.name, (Source(path.name, path.read_bytes()),)) for path in sorted((CORPUS / case).glob("*.yaml"))
    ]
    return link(
        [one for one in files if not one.name.startswith(OVERLAY)],
        CATALOGUE,
        overlays=[one for one in files if one.name.startswith(OVERLAY)],
        overrides=EXPECTED.get(case, {}).get("overrides", {}),
    )


def row(found: Diagnostic) -> dict[str, Any]:
    made: dict[str, Any] = {"code": found.code, "at": spot(found.place) or found.path, "says": found.message}
    if found.severity != "error":
        made["level"] = str(found.severity)
    if found.related:
        made["and"] = [spot(related.place) for related in found.related]
    return made


def spot(place: Place | None) -> str:
    return "" if place is None else str(place)


def test_every_folder_has_its_findings_written_down() -> None:
    assert sorted(path.name for path in CORPUS.iterdir() if path.is_dir()) == sorted(EXPECTED)


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_a_corpus_folder_gives_exactly_the_findings_written_beside_it(case: str) -> None:
    result = linked(case)
    assert [row(one) for one in result.diagnostics.sorted()] == EXPECTED[case]["findings"]
    assert (result.program is None) == result.diagnostics.has_errors
