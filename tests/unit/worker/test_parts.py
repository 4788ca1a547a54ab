"""Settings as they are read, log lines, and the command's edges."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest

from engine.errors import UsageError
from engine.worker.log import Log
from engine.worker.settings import SettingsReader, changes, variable
from tests.behaviour.running import run as run_command
from tests.fakes.virtual import VirtualClock, run

BLOCK = [
    {"name": "mixed", "type": "boolean", "default": True},
    {"name": "most-of-it", "type": "integer", "default": 5, "check": {"max": 9}},
]


def stored(**texts: str) -> dict[str, str]:
    return {key.replace("_", "-"): b64encode(text.encode()).decode() for key, text in texts.items()}


def test_the_environment_seeds_what_is_not_stored_yet() -> None:
    reader = SettingsReader(BLOCK, {"GPUSTACK_MOST_OF_IT": "7", "GPUSTACK_OTHER": "x"})
    assert reader.seeds == {"mixed": "true", "most-of-it": "7"}
    assert reader.first().values == {"mixed": True, "mostOfIt": 7}
    assert reader.read({}, reader.first()).values["mostOfIt"] == 7
    assert variable("most-of-it") == "GPUSTACK_MOST_OF_IT"
    with pytest.raises(UsageError, match="most-of-it"):
        SettingsReader(BLOCK, {"GPUSTACK_MOST_OF_IT": "10"})


def test_a_bad_value_keeps_the_last_good_one_and_the_others_act() -> None:
    reader = SettingsReader(BLOCK, {})
    first = reader.read(stored(most_of_it="8", mixed="true"), reader.first())
    after = reader.read({**stored(mixed="false", unheard_of="1"), "most-of-it": "%%%"}, first)
    assert after.values == {"mixed": False, "mostOfIt": 8}
    assert after.settings.unknown == ("unheard-of",)
    assert list(after.refused) == ["most-of-it"]
    assert changes(first, after) == {"mixed": False}
    assert reader.read(stored(most_of_it="12"), first).values["mostOfIt"] == 8
    assert reader.read(None, after) is after


def test_a_log_line_has_time_level_event_and_fields_in_either_form() -> None:
    async def main() -> list[str]:
        lines: list[str] = []
        for form in ("text", "json"):
            Log(lines.append, form, VirtualClock()).bind(controller="flavor").warning(
                "told", note='a "b"', count=3, of=None
            )
        return lines

    text, as_json = run(main())
    assert text == r'2026-11-29T12:00:00.000000Z warning told controller=flavor note="a \"b\"" count=3 of=None'
    assert json.loads(as_json) == {
        "time": "2026-11-29T12:00:00.000000Z",
        "level": "warning",
        "event": "told",
        "controller": "flavor",
        "note": 'a "b"',
        "count": 3,
        "of": None,
    }


def test_a_check_names_rules_and_seeds_and_a_bad_kubeconfig_is_bad_usage() -> None:
    told = run_command("worker", "--check")
    assert told.exit_code == 0
    assert "seeds node-management-manual=false" in told.stdout
    refused = run_command("worker", "--kubeconfig", "no-such-file")
    assert refused.exit_code == 2
    assert "no-such-file" in refused.stderr
