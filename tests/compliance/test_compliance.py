"""The official JMESPath compliance cases, every one, through our parser and our closures."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError
from engine.lang.compile import compile_node
from engine.lang.functions.jmespath_builtins import BUILTINS
from engine.lang.oracle import matches_oracle
from engine.lang.parser import ExpressionSyntaxError, parse

_SPEC = importlib.util.spec_from_file_location("fetch_compliance", Path(__file__).with_name("fetch.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_fetch = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_fetch)

CASES_AT_LEAST = 862
# Official cases our parser refuses on purpose, each with its reason. None so far.
REFUSED_ON_PURPOSE: dict[str, str] = {}


def load_cases() -> list[Any]:
    found = []
    for file in sorted(_fetch.cache_folder().glob("*.json")):
        for group_at, group in enumerate(json.loads(file.read_bytes())):
            for case_at, case in enumerate(group["cases"]):
                found.append(pytest.param(group["given"], case, id=f"{file.stem}-{group_at}-{case_at}"))
    return found


CASES = load_cases()


def outcome(expression: str, given: Any) -> tuple[str, Any]:
    try:
        return "value", compile_node(parse(expression), BUILTINS)(given)
    except ExpressionSyntaxError:
        return "syntax", None
    except EngineError as error:
        return getattr(error, "kind", type(error).__name__), None


def exactly(value: Any) -> str:
    """Tells 1 from true and from 1.0, which `==` does not; key order is nobody's business here."""
    return json.dumps(value, sort_keys=True)


def test_all_official_cases_are_in_the_cache() -> None:
    if CASES:
        assert len(CASES) >= CASES_AT_LEAST
    elif os.environ.get("CI"):
        pytest.fail("the JMESPath compliance cases are not in the cache: run `make compliance` first")
    else:
        pytest.skip("the JMESPath compliance cases are not in the cache: `make compliance` fetches them")


@pytest.mark.parametrize(("given", "case"), CASES)
def test_an_official_case_gives_the_official_result(given: Any, case: dict[str, Any]) -> None:
    expression = case["expression"]
    if expression in REFUSED_ON_PURPOSE:
        assert outcome(expression, given)[0] == "syntax"
        return
    kind, value = outcome(expression, given)
    if "error" in case:
        assert kind == case["error"]
        return
    assert kind == "value"
    assert matches_oracle(expression, parse(expression)) is None
    if "result" in case:
        assert exactly(value) == exactly(case["result"])
