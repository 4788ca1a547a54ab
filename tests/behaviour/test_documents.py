"""The YAML that commands print: any reader gets back what was meant, and it looks as kubectl's does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from engine.cli.documents import yaml_text

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=20))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
TRICKY = ["", "yes", "No", "on", "null", "~", "1e3", "19e5", "0x1f", "0o17", "012", "1_000", "1:30", "2026-01-01", ".5", "...", "-", "- a",
          "a: b", "a #b", "a:", "*a", "&a", "!a", "@a", "`a", "%a", "{a", "[a", "? a", "x\ny", "\ttab", "é", "\x7f", "\x85", "\u2028", "😀",
          ".inf", ".NaN", "-.inf", "=", "<<", "0b1", "1Gi", "01Gi", "y", "nan", "a b", " a", "a ", "a  b", "inf"]  # fmt: skip


@pytest.mark.parametrize("text", TRICKY)
def test_a_text_stays_that_text(text: str) -> None:
    assert _both(yaml_text({"key": text, text: ["x"]})) == [{"key": text, text: ["x"]}] * 2


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_any_value_comes_back(value: Any) -> None:
    assert _both(yaml_text(value)) == [value, value]


def test_it_looks_as_kubectl_prints_it() -> None:
    value = {
        "a": {"size": "100Gi", "cpu": "8", "on": "true", "list": [{"b": 1, "c": []}, {"d": {}}]},
        "count": 1,
        "t": True,
        "z": None,
    }
    assert yaml_text(value) == (
        'a:\n  size: 100Gi\n  cpu: "8"\n  "on": "true"\n  list:\n  - b: 1\n    c: []\n  - d: {}\ncount: 1\nt: true\nz: null\n'
    )


def _both(text: str) -> list[Any]:
    """What readers of YAML 1.2 and 1.1 make of a text."""
    read = []
    for version in ("1.2", "1.1"):
        yaml = YAML(typ="safe", pure=True)
        yaml.version = version
        read.append(json.loads(json.dumps(yaml.load(text))))
    return read
