"""Pages are run as a reader would run them, in a folder of their own where they write files."""

from __future__ import annotations

import pytest

from engine.cli import packs
from tests.behaviour.linking import linked_once, read_once


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGINE_DEBUG", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(packs, "link", linked_once)
    monkeypatch.setattr("engine.lang.packs.read", read_once)
