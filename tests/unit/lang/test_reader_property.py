"""Whatever the bytes, the reader and the model answer with diagnostics and never with an exception."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.lang.diagnostics import Diagnostics
from engine.lang.model import load_pack_document
from engine.lang.reader import read
from engine.lang.render import render_json, render_text
from engine.lang.source import Source
from engine.lang.tree import Map, Node, Scalar, Seq

YAML_LIKE = st.lists(
    st.sampled_from(
        ["a", "b: ", "- ", "? ", ": ", "{", "}", "[", "]", ",", "'", '"', "\\", "|\n", ">\n", "\n", "  ", "\t", "#", " #",
         "&x", "*x", "!t ", "<<: ", "$(", ")", "02", "1e3", "~", "yes", "---\n", "...\n", "%YAML 1.1\n", "é", "\ufeff",
         "\r\n", "?:", "`", "@", "\x85", "\u2028", "apiVersion: rules.gpustack.ai/v1alpha1\n", "kind: Manufacturer\n",
         "spec:\n", "sections:\n", "rules:", "tests:", "from: "]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def check(data: bytes) -> None:
    documents, diagnostics = read(Source("file.yaml", data))
    assert documents or diagnostics.has_errors
    for document in documents:
        check_spans(document.root, 0, len(data))
        load_pack_document(document, diagnostics)
    check_findings(diagnostics, data)


def check_spans(node: Node, start: int, end: int) -> None:
    assert start <= node.span.start <= node.span.end <= end
    if isinstance(node, Map):
        for entry in node.entries:
            check_spans(entry.key, start, end)
            check_spans(entry.value, start, end)
    elif isinstance(node, Seq):
        for item in node.items:
            check_spans(item, start, end)
    else:
        check_locations(node)


def check_locations(node: Scalar) -> None:
    last = node.span.start
    for i in range(len(node.text)):
        span = node.locate(i, i + 1)
        assert last <= span.start <= span.end <= len(node.source.data)
        last = span.start


def check_findings(diagnostics: Diagnostics, data: bytes) -> None:
    found = diagnostics.sorted()
    render_text(found, colour=True)
    render_json(found)
    for one in found:
        assert one.place is None or 0 <= one.place.span.start <= one.place.span.end <= len(data)
        if one.fix:
            read(Source("fixed.yaml", one.fix.apply(data)))


@given(st.binary(max_size=200))
def test_any_bytes_give_diagnostics(data: bytes) -> None:
    check(data)


@given(st.text(max_size=200))
def test_any_text_gives_diagnostics(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=100)
@given(YAML_LIKE)
def test_any_yaml_like_text_gives_diagnostics(text: str) -> None:
    check(text.encode())
