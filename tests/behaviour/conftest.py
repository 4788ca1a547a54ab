"""Every behaviour test starts at the top of the checkout, as examples do, and without colours or debugging."""

from __future__ import annotations

import pytest

from engine.cli import packs
from tests.behaviour.linking import linked_once, read_once
from tests.behaviour.running import TOP


@pytest.fixture(autouse=True)
def _at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    monkeypatch.delenv("ENGINE_DEBUG", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(packs, "link", linked_once)
    monkeypatch.setattr("engine.lang.packs.read", read_once)
