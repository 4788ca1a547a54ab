"""Every behaviour test starts at the top of the checkout, as examples do, and without colours or debugging.

Commands that only use the shipped packs share one program: linking them anew for each test would take most of the time.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import pytest

from engine.cli.packs import shipped_program
from tests.behaviour.running import TOP


@pytest.fixture(autouse=True)
def _at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    monkeypatch.delenv("ENGINE_DEBUG", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    for user in ("plan", "explain", "eval", "demo"):
        monkeypatch.setattr(import_module(f"engine.cli.{user}"), "shipped_program", _linked_once)


_linked_once = cache(shipped_program)
