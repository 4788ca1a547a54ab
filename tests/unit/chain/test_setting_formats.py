"""What texts of settings are taken: formats, bounds of durations, and numbers that are compared with each other."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import pytest

from engine.chain.setting_formats import FORMATS, duration_seconds
from engine.chain.settings import Settings, parse_settings
from engine.errors import ContractError, UsageError
from engine.lang.model_blocks import SettingFormat
from tests.unit.chain.shipped import program

TAKEN = {
    "text": ["anything at all", "a,b"],
    "registry": ["docker.io", "registry.example.com:5000", "localhost:5000/mirror", "10.0.0.1", "[fd00::1]:5000"],
    "image": [
        "gpustack/ssh-server:v1.3.0",
        "busybox",
        "registry.example.com:5000/a/b_c/d-e:1.2",
        f"a/b:v1@sha256:{'0' * 64}",
        "gpustack/mirrored-mooncake:0.3.13.post1-cpu",
    ],
    "url": ["https://huggingface.co", "http://10.0.0.1:8080/a?b=c", "https://[fd00::1]/"],
    "proxy": ["http://proxy.example.com:3128", "https://proxy"],
    "duration": ["0", "24h", "1h30m", "1.5h", "90s", "100ms", "1µs"],
    "quantity": ["0", "500M", "1Gi", "1e3", "100m"],
}
REFUSED = {
    "registry": ["https://docker.io", "docker.io/", "a b", "user@host", "docker.io:port"],
    "image": ["https://a/b", "a/B", "a/b:", "a:b:c", "a/b@sha256:12", " a", "a/b:v1\n"],
    "url": [
        "huggingface.co",
        "ftp://a",
        "https://",
        "https:///path",
        "https://user:secret@a",
        "https://token@a",
        "https://a b",
        "https://a\n",
        "https://a:port",
        "https://a:0",
        "https://a:70000",
        "https://[fd00::1",
        "file:///etc/passwd",
    ],
    "proxy": ["http://user:secret@proxy:3128", "socks5://proxy:1080", "proxy:3128"],
    "duration": ["24", "h", "-1h", "1d", "1h 30m", "", "1,5h"],
    "quantity": ["-1", "1 Gi", "1GiB", "many", "1_000"],
}
MARKS = [
    {"name": "high", "type": "integer", "default": 80, "check": {"above": "low", "max": 95}},
    {"name": "low", "type": "integer", "default": 70, "check": {"min": 1, "below": "high"}},
]


def one(check: dict[str, Any], default: str) -> Settings:
    return parse_settings([{"name": "it", "type": "string", "default": default, "check": check}])


def test_the_language_and_the_reader_of_settings_know_the_same_formats() -> None:
    assert set(get_args(SettingFormat)) == set(FORMATS) == set(TAKEN)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in TAKEN.items() for text in texts])
def test_a_text_of_the_format_is_taken_as_it_is(name: str, text: str) -> None:
    assert one({"format": name}, TAKEN[name][0]).changed({"it": text}).values["it"] == text


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in REFUSED.items() for text in texts])
def test_another_text_is_refused_with_what_was_seen_and_what_is_wanted(name: str, text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        one({"format": name}, TAKEN[name][0]).changed({"it": text})
    assert repr(text) in str(refusal.value) or "@" in text
    assert f"it takes {FORMATS[name][1]}" in str(refusal.value)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_blank_is_taken_only_where_it_is_declared(name: str) -> None:
    assert one({"format": name, "blank": True}, "").values["it"] == ""
    with pytest.raises(UsageError, match="setting it cannot be ''"):
        one({"format": name}, TAKEN[name][0]).changed({"it": ""})


@pytest.mark.parametrize("text", ["https://user:secret@a", "https://secret@a", "https://user:sec/secret@a/b"])
def test_a_credential_is_refused_and_never_shown(text: str) -> None:
    with pytest.raises(UsageError, match="without credentials") as refusal:
        one({"format": "url"}, "https://a").changed({"it": text})
    assert "secret" not in str(refusal.value)
    assert "'https://***@a" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("24h", 86400), ("1h30m", 5400), ("1.5h", 5400), ("0.5s", Fraction(1, 2)), ("1.m", 60), ("day", None)],
)
def test_a_duration_is_read_exactly(text: str, seconds: int | Fraction | None) -> None:
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize(("text", "words"), [("59s", "1m or more"), ("59999ms", "1m or more"), ("49h", "48h or less")])
def test_a_duration_outside_its_bounds_is_refused(text: str, words: str) -> None:
    settings = one({"format": "duration", "min": "1m", "max": "48h"}, "24h")
    assert settings.changed({"it": "60s"}).values["it"] == "60s"
    with pytest.raises(UsageError, match=words):
        settings.changed({"it": text})


@pytest.mark.parametrize(
    ("given", "refused", "words"),
    [
        ({"high": 70}, "high", "more than low, which is 70"),
        ({"low": 80}, "low", "less than high, which is 80"),
        ({"high": 50, "low": 60}, "high", "more than low, which is 60"),
    ],
)
def test_two_numbers_that_contradict_each_other_are_refused(given: dict[str, int], refused: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refusal:
        parse_settings(MARKS).changed(given)
    assert f"setting {refused} cannot be {given[refused]}" in str(refusal.value)


def test_two_numbers_that_are_given_together_are_compared_with_each_other_and_not_with_what_was() -> None:
    assert dict(parse_settings(MARKS, {"high": "60", "low": "50"}).values) == {"high": 60, "low": 50}
    assert dict(parse_settings(MARKS, {"high": "95", "low": "90"}).values) == {"high": 95, "low": 90}


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"format": "adress"}, "the format 'adress'"),
        ({"format": "duration", "min": "soon"}, "bounded by 'soon'"),
        ({"below": "it"}, "compared with 'it'"),
        ({"above": "other"}, "there is no such setting"),
    ],
)
def test_a_declaration_that_code_does_not_know_is_our_fault(check: dict[str, str], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        one(check, "1h")


def test_defaults_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="setting low cannot be 70: it takes less than high, which is 60"):
        parse_settings([{**MARKS[0], "default": 60}, MARKS[1]])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model-artifact-https-proxy", "http://user:secret@proxy:3128"),
        ("model-artifact-huggingface-endpoint", "huggingface.co"),
        ("model-artifact-revalidate-interval", "59s"),
        ("model-store-download-bandwidth", "fast"),
        ("model-store-low-watermark", "0"),
        ("model-store-high-watermark", "96"),
        ("model-store-high-watermark", "70"),
        ("model-store-download-concurrency", "65"),
        ("model-artifact-delivery-mode", "Pod"),
        ("instance-ssh-server-image", ""),
        ("container-registry", "https://docker.io"),
    ],
)
def test_the_shipped_settings_refuse_what_their_reference_does(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        parse_settings(program().block("settings"), {name: value})
