"""Packs are judged once in all of these tests."""

from __future__ import annotations

import pytest

from tests.unit.delivery.once import judge_once


@pytest.fixture(autouse=True)
def _judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_once(monkeypatch)
