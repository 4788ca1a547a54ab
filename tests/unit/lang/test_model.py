"""Pack documents: what a checked document offers, and that its places are those of the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.lang.model import PackDocument, load_pack_document
from engine.lang.model_documents import MODELS, Derivation, Library, Manufacturer, Overlay
from engine.lang.model_rules import Group, Rule
from engine.lang.model_shape import homes, known_keys
from engine.lang.reader import read
from engine.lang.source import Source

CORPUS = Path(__file__).parents[2] / "corpus" / "structure"


def pack(name: str) -> PackDocument:
    documents, diagnostics = read(Source(name, (CORPUS / name).read_bytes()))
    found = load_pack_document(documents[0], diagnostics)
    assert list(diagnostics) == []
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "kind", "model"),
    [
        ("70-manufacturer.yaml", "Manufacturer", Manufacturer),
        ("71-derivation.yaml", "Derivation", Derivation),
        ("72-library.yaml", "Library", Library),
        ("73-overlay.yaml", "Overlay", Overlay),
    ],
)
def test_a_document_becomes_the_model_of_its_kind(name: str, kind: str, model: type) -> None:
    found = pack(name)
    assert (found.kind, type(found.model)) == (kind, model)


def test_a_section_written_as_a_bare_list_has_no_select_of_its_own() -> None:
    model = pack("70-manufacturer.yaml").model
    assert isinstance(model, Manufacturer)
    sections = model.spec.sections
    assert (sections["model"].select, sections["guards"].select) == (None, "first")
    named, unnamed = sections["model"].rules
    assert isinstance(named, Rule)
    assert isinstance(unnamed, Rule)
    assert (named.has_emit, unnamed.has_emit, unnamed.unknown) == (True, False, "no name")


def test_an_entry_with_rules_is_a_group_with_the_ids_on_its_leaves() -> None:
    model = pack("70-manufacturer.yaml").model
    assert isinstance(model, Manufacturer)
    (group,) = model.spec.sections["guards"].rules
    assert isinstance(group, Group)
    assert group.for_each is not None
    assert (group.for_each.in_, group.for_each.as_, group.for_each.index) == ("alloc.cards", "card", "i")
    first, second = group.rules
    assert isinstance(first, Rule)
    assert isinstance(second, Rule)
    assert (first.message, second.message) == ("card $(i) has no id", {"exhausted": "a", "foreign": "b"})


def test_a_test_tells_an_expectation_of_nothing_from_none() -> None:
    model = pack("70-manufacturer.yaml").model
    assert isinstance(model, Manufacturer)
    (test,) = model.spec.tests
    assert (test.has_expect, test.from_, test.partial_each) == (True, ("one",), ("size",))
    assert [(case.has_expect, case.unknown, case.refuses) for case in test.cases[:3]] == [
        (False, None, "z"),
        (False, True, None),
        (False, "why", None),
    ]


def test_every_value_has_its_node_and_place_in_the_file() -> None:
    found = pack("70-manufacturer.yaml")
    path = ("spec", "sections", "model", "rules", 0, "when")
    when = found.scalar(path)
    assert when is not None
    assert when.text == "has(card.name)"
    assert found.node(("spec", "sections", "model", 0, "when")) is when
    data = found.source.data
    for place, written in ((found.place(path), b"has(card.name)"), (found.key(path), b"when")):
        assert data[place.span.start : place.span.end] == written
    assert found.scalar(("spec",)) is None
    assert found.name == "acme"
    item = found.key(("spec", "sections", "model", "rules", 1))
    assert data[item.span.start : item.span.end] == b"id"
    assert found.key(()).span.start == 0


def test_models_are_frozen() -> None:
    found = pack("72-library.yaml").model
    with pytest.raises(ValueError, match="frozen"):
        found.metadata.name = "other"  # type: ignore[misc]


def test_the_keys_known_at_a_path_are_the_models() -> None:
    manufacturer = MODELS["Manufacturer"]
    assert known_keys(manufacturer, ()) == ("apiVersion", "metadata", "kind", "spec")
    assert known_keys(manufacturer, ("spec", "sections", "x", "rules", 0, "<rule>", "forEach")) == ("in", "as", "index")
    assert known_keys(manufacturer, ("spec", "probes", "x")) == ("path", "file", "line")
    assert known_keys(manufacturer, ("spec", "driver", "x")) == ()
    assert known_keys(manufacturer, ("nowhere", "x")) == ()


def test_a_key_knows_where_it_belongs() -> None:
    assert homes(MODELS["Manufacturer"])["hostMounts"] == ("spec.deploy",)
    assert homes(MODELS["Manufacturer"])["apiVersion"] == ("the top level",)


@pytest.mark.parametrize("text", ["a", "[]", "{}"])
def test_what_is_no_pack_is_refused_with_a_finding(text: str) -> None:
    documents, diagnostics = read(Source("file.yaml", text.encode()))
    assert load_pack_document(documents[0], diagnostics) is None
    assert diagnostics.has_errors


def test_a_value_the_reader_refused_is_reported_once() -> None:
    data = b"apiVersion: 1.0\nkind: Library\nmetadata: {name: a}\nspec: {}\n"
    documents, diagnostics = read(Source("file.yaml", data))
    assert load_pack_document(documents[0], diagnostics) is None
    assert [one.code for one in diagnostics] == ["RP111"]


def test_importing_the_language_imports_neither_a_yaml_reader_nor_pydantic() -> None:
    program = "import sys, engine.lang; print([m for m in ('pydantic', 'ruamel.yaml') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
