"""Every file of the expression corpus: what is refused with which code and where, what stands in its place, what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.errors import EvaluationError
from engine.lang.check import Scope, check_condition, check_expression
from engine.lang.compile import compile_node
from engine.lang.diagnostics import Diagnostics
from engine.lang.functions import FUNCTIONS
from engine.lang.notation import parse_type
from engine.lang.parser import parse
from engine.lang.reader import read
from engine.lang.source import Place, Source, Span
from engine.lang.template import Hole, TemplateError, parse_template
from engine.lang.tree import plain
from engine.lang.types import Type, type_of

CORPUS = Path(__file__).parents[2] / "corpus" / "expr"
FILES = sorted(path.name for path in CORPUS.glob("*.yaml"))


def load(name: str) -> dict[str, Any]:
    path = CORPUS / name
    documents, diagnostics = read(Source(name, path.read_bytes()))
    # A corpus row may hold a broken template on purpose.
    assert [found.message for found in diagnostics if found.code != "RP320"] == []
    return dict(plain(documents[0].root))


def rows(kind: str) -> list[Any]:
    found = []
    for name in FILES:
        content = load(name)
        found += [pytest.param(content, row, id=f"{name}-{number}") for number, row in enumerate(content.get(kind, ()))]
    return found


def scope_of(content: dict[str, Any]) -> Scope:
    names = {name: parse_type(notation) for name, notation in content.get("inputs", {}).items()}
    return Scope(names, {name: type_of(value) for name, value in content.get("constants", {}).items()})


def check(text: str, scope: Scope, *, condition: bool = False, optional: bool = False) -> tuple[Type, Diagnostics]:
    found = Diagnostics()
    source = Source("expression", text.encode())

    def where(start: int, end: int) -> Place:
        return Place(source, Span(len(text[:start].encode()), len(text[:end].encode())))

    node = parse(text)
    if condition:
        check_condition(node, scope, where=where, diagnostics=found)
    made = check_expression(
        node, scope, where=where, diagnostics=Diagnostics() if condition else found, optional_position=optional
    )
    return made, found


@pytest.mark.parametrize(("content", "row"), rows("rows"))
def test_an_expression_is_refused_at_its_fault_and_its_replacement_is_not(
    content: dict[str, Any], row: dict[str, Any]
) -> None:
    scope = scope_of(content)
    _, wrong = check(row["wrong"], scope)
    assert [found.code for found in wrong] == [row["code"]]
    place = next(iter(wrong)).place
    assert place is not None
    assert place.source.data[place.span.start : place.span.end].decode() == row["at"]
    assert all(found.help for found in wrong), "a finding says what to do"
    _, right = check(row["right"], scope)
    assert [str(found.message) for found in right] == []


@pytest.mark.parametrize(("content", "row"), rows("conditions"))
def test_a_condition_is_refused_and_its_replacement_is_not(content: dict[str, Any], row: dict[str, Any]) -> None:
    _, wrong = check(row["wrong"], scope_of(content), condition=True)
    assert [found.code for found in wrong] == [row["code"]]
    _, right = check(row["right"], scope_of(content), condition=True)
    assert len(right) == 0


@pytest.mark.parametrize(("content", "row"), rows("optional"))
def test_null_passes_through_strict_functions_where_a_key_may_be_left_out(
    content: dict[str, Any], row: dict[str, Any]
) -> None:
    made, found = check(row["expression"], scope_of(content), optional=True)
    assert len(found) == 0
    assert str(Type(made.kind, made.nullable)) == row["type"]


@pytest.mark.parametrize(("content", "row"), rows("evaluates"))
def test_an_expression_evaluates_to_what_the_corpus_says(content: dict[str, Any], row: dict[str, Any]) -> None:
    run = compile_node(parse(row["expression"]), FUNCTIONS)
    if row.get("fails"):
        with pytest.raises(EvaluationError):
            run(row["input"])
    else:
        assert run(row["input"]) == row["value"]


@pytest.mark.parametrize(("content", "row"), rows("templates"))
def test_a_template_is_cut_where_its_expressions_end(content: dict[str, Any], row: dict[str, Any]) -> None:
    if row.get("fails"):
        with pytest.raises(TemplateError):
            parse_template(row["text"])
    else:
        assert [part.text for part in parse_template(row["text"]).parts if isinstance(part, Hole)] == row["holes"]
