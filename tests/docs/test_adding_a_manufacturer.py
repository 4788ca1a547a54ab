"""The tutorial, executed from an empty folder to a passing pack."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.behaviour.running import TOP, run
from tests.docs.walked import walk


def test_the_tutorial_leads_from_an_empty_folder_to_a_passing_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (TOP / "docs/adding-a-manufacturer.md").read_text(encoding="utf-8")
    commands = 0
    for ran in walk(page):
        assert _still(ran.printed) == _still(ran.said), ran.line
        commands += 1
    assert commands >= 8
    assert run("validate", "weft", "--fail-on", "warning").exit_code == 0
    tested = run("test", "weft", "--coverage", "--mutate")
    assert tested.exit_code == 0, tested.output
    assert not list(tmp_path.rglob("*.py"))


def _still(text: str) -> str:
    """Lines in the shipped packs move."""
    return re.sub(r"\S*/rules/(\S+\.yaml):\d+", r"rules/\1:LINE", text)
