"""The page on the rule language is true: expressions give their values, packs pass their tests, faults are faults."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from ruamel.yaml import YAML

from engine.lang.compile import compile_node
from engine.lang.diagnostics import Diagnostics
from engine.lang.functions import FUNCTIONS
from engine.lang.limits import MAX_PACK_BYTES
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.packtest import run_pack_tests
from engine.lang.parser import parse
from engine.lang.source import Source
from engine.rulefiles import find_packs, shipped_rules
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT
from tests.behaviour.packs import HEAD, IDENTITY
from tests.behaviour.running import TOP

PAGE = (TOP / "docs/rule-language.md").read_text(encoding="utf-8")
EXPRESSIONS = re.findall(r"^```jmespath\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MARKED = re.findall(
    r"^<!-- (pack|section|refused)(?:: (\S+))? -->\n```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


def rows() -> list[tuple[str, str, Any]]:
    """Every expression of the page: its input, itself and the value that stands beside it."""
    made = []
    for block in EXPRESSIONS:
        given = "{}"
        for line in filter(None, block.splitlines()):
            if line.startswith("# given: "):
                given = line.removeprefix("# given: ")
            else:
                expression, arrow, value = line.partition("# => ")
                assert arrow, line
                made.append((given, expression.strip(), json.loads(value)))
    return made


@pytest.mark.parametrize(("given", "expression", "value"), rows(), ids=[row[1] for row in rows()])
def test_an_expression_gives_the_value_beside_it(given: str, expression: str, value: Any) -> None:
    scope = json.loads(json.dumps(YAML(typ="safe", pure=True).load(given)))
    assert compile_node(parse(expression), FUNCTIONS)(scope) == value


@pytest.mark.parametrize(("kind", "word", "text"), MARKED, ids=[f"{each[0]} {each[1]}" for each in MARKED])
def test_a_pack_or_a_part_of_one_is_as_the_page_says(kind: str, word: str, text: str) -> None:
    match kind:
        case "pack":
            linked = linked_pack(text)
            assert not list(linked.diagnostics), list(linked.diagnostics)
            assert linked.program is not None
            [pack] = [each for each in linked.program.packs if each.name == "acme"]
            report = run_pack_tests(linked.program, pack, CATALOGUE, JOINT)
            assert report.passed
            assert not report.failures
        case "section":
            linked = linked_pack(with_section(word, text))
            assert not list(linked.diagnostics), list(linked.diagnostics)
        case _:
            found = linked_pack(with_section("model", text)).diagnostics
            assert {each.code for each in found} == {word}


def test_every_snippet_of_the_page_is_executed() -> None:
    fences = len(re.findall(r"^```\w", PAGE, re.MULTILINE))
    assert fences == len(EXPRESSIONS) + len(MARKED)
    assert len(rows()) > 40


def test_the_page_has_the_combinations_and_limits_that_there_are() -> None:
    assert {str(section.combine) for section in CATALOGUE.sections.values()} <= set(re.findall(r"\| `(\w+)` \|", PAGE))
    assert f"{MAX_PACK_BYTES // 1024} KiB a file" in PAGE


def with_section(name: str, rules: str) -> str:
    body = "".join(f"      {line}\n" for line in rules.splitlines())
    return f"{HEAD}spec:\n{IDENTITY}  sections:\n    {name}:\n{body}"


def linked_pack(text: str) -> Linked:
    source = Source("pack.yaml", text.encode())
    return link([PackFiles("pack.yaml", (source,))], CATALOGUE, context=derivations())


@cache
def derivations() -> tuple[PackFiles, ...]:
    return tuple(find_packs([shipped_rules() / "derive"], Diagnostics()))
