"""The outline of the models and the models say yes to the same documents, and the file is the models' own outline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.lang.model_documents import MODELS
from engine.lang.model_outline import outline_text
from engine.lang.outline import API_VERSION, KINDS, OUTLINE_FILE, fits
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import plain

HERE = Path(__file__)
FILES = sorted(
    [
        *(HERE.parents[2] / "corpus" / "structure").glob("*.yaml"),
        *(HERE.parents[2] / "corpus" / "rules").rglob("*.yaml"),
        *(HERE.parents[3] / "rules").rglob("*.yaml"),
    ]
)
SPOILERS: tuple[Any, ...] = (None, True, 0, "", "x", [], {}, ["a"], {"a": 1}, {"rules": []})


def model_takes(kind: str, document: Any) -> bool:
    try:
        MODELS[kind].model_validate(document)
    except ValidationError:
        return False
    return True


def documents() -> Iterator[tuple[str, Any]]:
    for file in FILES:
        for document in read(Source(str(file), file.read_bytes()))[0]:
            value = plain(document.root)
            if isinstance(value, dict) and value.get("kind") in KINDS:
                yield value["kind"], value


DOCUMENTS = list(documents())


def test_the_outline_file_is_made_from_the_models() -> None:
    wanted = outline_text()
    assert OUTLINE_FILE.read_text(encoding="utf-8") == wanted, "run: python -m engine.lang.model_outline"


def test_the_kinds_and_the_version_are_those_of_the_models() -> None:
    assert tuple(MODELS) == KINDS
    assert all(f'"{API_VERSION}"' in outline_text() for _ in KINDS)


def test_every_document_of_the_corpus_is_judged_alike() -> None:
    judged = [(fits(kind, value), model_takes(kind, value)) for kind, value in DOCUMENTS]
    assert [one for one, _ in judged] == [other for _, other in judged]
    assert {True, False} == {one for one, _ in judged}


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_of_one_kind_is_judged_alike_as_another(kind: str) -> None:
    for _, value in DOCUMENTS:
        assert fits(kind, value) == model_takes(kind, value)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from paths(inner, (*path, at))


def spoiled(value: Any, path: tuple[Any, ...], how: Any) -> Any:
    """A copy with something else at a path; `how` "drop" leaves it out, "extra" puts a key into it."""
    if not path:
        if how == "extra":
            return {**value, "extra": 1} if isinstance(value, dict) else [*value, 1] if isinstance(value, list) else 1
        return how
    first, rest = path[0], path[1:]
    copy = dict(value) if isinstance(value, dict) else list(value)
    if how == "drop" and not rest:
        del copy[first]
    else:
        copy[first] = spoiled(value[first], rest, how)
    return copy


SMALL = [(kind, value, list(paths(value))) for kind, value in DOCUMENTS if len(str(value)) < 6000]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_document_spoiled_anywhere_is_judged_alike(data: st.DataObject) -> None:
    kind, value, places = data.draw(st.sampled_from(SMALL))
    path = data.draw(st.sampled_from(places))
    how = data.draw(st.sampled_from((*SPOILERS, "drop", "extra")))
    if path:
        value = spoiled(value, path, how)
        assert fits(kind, value) == model_takes(kind, value)
