"""Stored settings that contradict each other: the one that is new is refused, and the last good values stay."""

from __future__ import annotations

from base64 import b64encode

import pytest

from engine.errors import UsageError
from engine.worker.settings import SettingsReader

BLOCK = [
    {"name": "high", "type": "integer", "default": 80, "check": {"above": "low", "max": 95}},
    {"name": "low", "type": "integer", "default": 70, "check": {"min": 1, "below": "high"}},
    {"name": "lowest", "type": "integer", "default": 10, "check": {"below": "low"}},
    {"name": "proxy", "type": "string", "default": "", "check": {"format": "proxy", "blank": True}},
]


def stored(**texts: str) -> dict[str, str]:
    return {key: b64encode(text.encode()).decode() for key, text in texts.items()}


def test_the_newly_changed_one_of_a_pair_is_refused_and_keeps_its_last_good_value() -> None:
    reader = SettingsReader(BLOCK, {})
    before = reader.read(stored(high="90", low="85"), reader.first())
    after = reader.read(stored(high="85", low="85"), before)
    assert (after.values["high"], after.values["low"]) == (90, 85)
    assert list(after.refused) == ["high"]
    assert "setting high cannot be 85" in after.refused["high"]
    assert "it takes more than low, which is 85" in after.refused["high"]


def test_a_pair_that_is_good_together_is_taken_whatever_was_before() -> None:
    reader = SettingsReader(BLOCK, {})
    down = reader.read(stored(high="60", low="50"), reader.first())
    up = reader.read(stored(high="95", low="90"), down)
    assert [(each.values["high"], each.values["low"]) for each in (down, up)] == [(60, 50), (95, 90)]
    assert not down.refused
    assert not up.refused


def test_both_are_refused_when_both_are_new() -> None:
    reader = SettingsReader(BLOCK, {})
    after = reader.read(stored(high="50", low="60"), reader.first())
    assert (after.values["high"], after.values["low"]) == (80, 70)
    assert sorted(after.refused) == ["high", "low"]


def test_a_value_that_leans_on_a_refused_one_is_refused_too() -> None:
    reader = SettingsReader(BLOCK, {})
    before = reader.read(stored(high="80", low="20", lowest="10"), reader.first())
    after = reader.read(stored(high="80", low="90", lowest="30"), before)
    assert (after.values["high"], after.values["low"], after.values["lowest"]) == (80, 20, 10)
    assert sorted(after.refused) == ["low", "lowest"]


def test_a_stored_credential_keeps_the_last_good_proxy() -> None:
    reader = SettingsReader(BLOCK, {})
    before = reader.read(stored(proxy="http://proxy:3128"), reader.first())
    after = reader.read(stored(proxy="http://me:secret@proxy:3128"), before)
    assert after.values["proxy"] == "http://proxy:3128"
    assert list(after.refused) == ["proxy"]


def test_an_environment_that_contradicts_itself_is_refused_at_the_start() -> None:
    with pytest.raises(UsageError, match="setting high cannot be 60"):
        SettingsReader(BLOCK, {"GPUSTACK_HIGH": "60"})
