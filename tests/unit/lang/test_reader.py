"""The reader: what plain values become, where nodes lie in the bytes, and what hostile files cost."""

from __future__ import annotations

import time

import _ruamel_yaml
import pytest

from engine.lang import reader
from engine.lang.diagnostics import Diagnostics
from engine.lang.faults import MAX_FINDINGS
from engine.lang.reader import Limits, read
from engine.lang.source import Source, Span
from engine.lang.tree import Map, Node, Scalar, Seq, Style, plain


def tree(text: str | bytes) -> Node:
    documents, diagnostics = read(Source("file.yaml", text.encode() if isinstance(text, str) else text))
    assert not diagnostics.has_errors, list(diagnostics)
    assert len(documents) == 1
    return documents[0].root


def faults(text: str | bytes, limits: Limits | None = None) -> Diagnostics:
    data = text.encode() if isinstance(text, str) else text
    return read(Source("file.yaml", data), limits=limits or Limits())[1]


def codes(text: str | bytes) -> list[str]:
    return [one.code for one in faults(text).sorted()]


def test_the_c_parser_is_the_one_in_use() -> None:
    assert reader.CParser is _ruamel_yaml.CParser
    assert _ruamel_yaml.__file__.endswith((".so", ".pyd"))


def test_typed_values_are_those_every_reader_agrees_on() -> None:
    text = "a: true\nb: false\nc: null\nd: 0\ne: -5\nf: 12\ng: text\nh: '12'\ni: \"true\"\nj: 9007199254740992\n"
    assert plain(tree(text)) == {
        "a": True, "b": False, "c": None, "d": 0, "e": -5, "f": 12, "g": "text", "h": "12", "i": "true",
        "j": 2**53,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["12Gi", "1.2.3", "0000:33:00.x", "nope", "yesterday", "offer", "1g.5gb", "10de", "v1", ".", "-a", "0755x"]
)
def test_text_that_no_reader_takes_for_anything_else_needs_no_quotes(text: str) -> None:
    assert plain(tree(f"a: {text}\n")) == {"a": text}


def test_styles_and_texts_are_kept_as_written() -> None:
    root = tree("a: x\nb: 'it''s'\nc: \"a\\tb\"\nd: |\n  one\n  two\ne: >\n  one\n  two\n")
    assert isinstance(root, Map)
    found = {entry.key.text: entry.value for entry in root.entries}
    assert all(isinstance(value, Scalar) for value in found.values())
    assert [(v.style, v.text) for v in found.values() if isinstance(v, Scalar)] == [
        (Style.PLAIN, "x"),
        (Style.SINGLE, "it's"),
        (Style.DOUBLE, "a\tb"),
        (Style.LITERAL, "one\ntwo\n"),
        (Style.FOLDED, "one two\n"),
    ]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_spans_are_bytes_whatever_the_encoding_and_line_ends(mark: str, line_end: str) -> None:
    data = f"{mark}é: [ü, 测试]{line_end}b:{line_end}  - {{c: 'd'}}{line_end}".encode()
    root = tree(data)
    assert isinstance(root, Map)

    def written(node: Node) -> str:
        return data[node.span.start : node.span.end].decode()

    first, second = root.entries
    assert isinstance(first.value, Seq)
    assert [written(first.key), written(first.value), *map(written, first.value.items)] == [
        "é",
        "[ü, 测试]",
        "ü",
        "测试",
    ]
    assert isinstance(second.value, Seq)
    assert written(second.value) == "- {c: 'd'}"
    assert written(root) == data.decode().removeprefix("\ufeff").rstrip()
    inner = root.path(["b", 0, "c"])
    assert inner is not None
    assert written(inner) == "'d'"


def test_a_path_that_leads_nowhere_is_none() -> None:
    root = tree("a: [x]\n")
    assert isinstance(root, Map)
    assert [root.path(path) for path in (["b"], ["a", 1], ["a", "b"], ["a", 0, "x"], [0])] == [None] * 5
    assert root.get("b") is None
    assert root.place.span == Span(0, 6)


def test_the_first_of_two_equal_keys_stays() -> None:
    documents, diagnostics = read(Source("file.yaml", b"a: 1\na: 2\n"))
    assert plain(documents[0].root) == {"a": 1}
    assert [other.message for other in next(iter(diagnostics)).related] == ["the first one"]


def test_all_documents_of_a_file_are_read() -> None:
    documents, diagnostics = read(Source("file.yaml", b"a: 1\n---\n- b\n---\nc\n"))
    assert [plain(document.root) for document in documents] == [{"a": 1}, ["b"], "c"]
    assert len(diagnostics) == 0


def test_a_broken_document_does_not_take_away_those_before_it() -> None:
    documents, diagnostics = read(Source("file.yaml", b"a: 1\n---\nb: [\n"))
    assert [plain(document.root) for document in documents] == [{"a": 1}]
    assert [one.code for one in diagnostics] == ["RP102"]


def test_a_file_that_is_too_big_is_refused_unread() -> None:
    found = list(faults("a: 1\n", Limits(max_bytes=4)))
    assert [(one.code, one.path) for one in found] == [("RP003", "file.yaml")]


def test_a_file_with_too_many_values_is_refused() -> None:
    assert [one.code for one in faults("[a, b, c]", Limits(max_nodes=3))] == ["RP801"]
    assert list(faults("[a, b]", Limits(max_nodes=3))) == []


def test_the_deepest_nesting_allowed_is_thirty_two() -> None:
    assert codes("[" * 32 + "]" * 32) == []
    assert codes("[" * 33 + "]" * 33) == ["RP103"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "{a: " * 5000,
        "- " * 5000,
        "a: &a\n" * 2000,
        "a: [" + "02, " * 40_000 + "x]",
        "? " * 5000,
        "\t" * 100_000,
    ],
    ids=["lists", "maps", "block-lists", "anchors", "octal", "complex-keys", "tabs"],
)
def test_a_hostile_file_is_answered_quickly_with_a_bounded_number_of_findings(text: str) -> None:
    started = time.process_time()
    found = faults(text)
    assert time.process_time() - started < 2
    assert 0 < len(found) <= MAX_FINDINGS + 1


def test_a_binary_file_gives_few_findings() -> None:
    assert codes("\x01" * 1000) == ["RP004"] * 20
    assert codes("a\0" * 1000) == ["RP004"]


def test_a_cut_key_is_quoted_up_to_its_colon() -> None:
    data = b"{$(f(a, b)): c}"
    found = list(faults(data))
    assert [one.code for one in found] == ["RP320"]
    assert found[0].fix is not None
    assert found[0].fix.apply(data) == b'{"$(f(a, b))": c}'


def test_the_fragments_of_a_cut_value_are_not_reported_as_well() -> None:
    assert codes("a: {b: $(f(x, 02, yes)), c: no}\n") == ["RP320", "RP110"]
    assert codes("a: {b: $(f(x, {y: z}))}\n") == ["RP320"]


def test_a_template_that_never_closes_has_no_fix() -> None:
    (found,) = faults("a: $(f(x\n")
    assert (found.code, found.fix) == ("RP320", None)
    (found,) = faults("a: $(f('x)\n")
    assert (found.code, found.fix) == ("RP320", None)


def test_templates_that_yaml_leaves_whole_are_no_findings() -> None:
    text = "a: $(f(x, ')', \"(\", `1`))$(y)\nb: $$(not one\nc: {d: $(x), e: $(f(')'))}\nf: '$(open'\n"
    assert codes(text) == []


def test_an_expression_with_nothing_to_close_it_is_reported_without_a_fix() -> None:
    (found,) = faults("let: {a: f(x, w, b: c}\n")
    assert (found.code, found.fix) == ("RP112", None)


def test_a_comma_in_unquoted_text_of_a_flow_map_is_explained() -> None:
    (found,) = faults("a: {message: one, two}\n")
    assert found.code == "RP112"
    assert "quote the text before it" in found.help


def test_an_empty_value_before_a_comment_asks_about_the_comment() -> None:
    (found,) = faults("summary: # x\n")
    assert "starts a comment" in found.help


@pytest.mark.parametrize(
    ("text", "code", "fixed"),
    [
        ("a: *.foo\n", "RP130", 'a: "*.foo"\n'),
        ("a: !x\n", "RP130", None),
        ("a: !(b) # c\n", "RP130", 'a: "!(b)" # c\n'),
        ("a: {b: !(c), d: e}\n", "RP130", 'a: {b: "!(c)", d: e}\n'),
        ("a: &x [1]\n", "RP130", None),
        ("a: @b # c\n", "RP102", 'a: "@b" # c\n'),
        ("a: {url: http://x}\n", "RP102", 'a: {url: "http://x"}\n'),
        ('a: say "x": y\n', "RP102", "a: 'say \"x\": y'\n"),
        ("%TAG ! x\n---\na: 1\n", "RP130", None),
        ("- a\nb: c\n", "RP102", None),
        (": a\n", "RP102", None),
        ("a: |\n\tx\n", "RP105", "a: |\n  x\n"),
        ("a: `(`\n", "RP102", None),
        ("é: {b?: 1}\n", "RP102", 'é: {"b?": 1}\n'),
        ("a: [b\nc: d]\n", "RP102", None),
        ("a: {?: 1}\n", "RP112", None),
    ],
)
def test_what_the_parser_complains_about_is_said_in_a_pack_authors_words(
    text: str, code: str, fixed: str | None
) -> None:
    found = faults(text).sorted()
    assert [one.code for one in found] == [code]
    assert (found[0].fix.apply(text.encode()).decode() if found[0].fix else None) == fixed


def test_a_parser_failure_without_a_place_is_reported_where_reading_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, text: str) -> None:
            pass

        def get_event(self) -> None:
            raise reader.YAMLError("broken")

    monkeypatch.setattr(reader, "CParser", Broken)
    (found,) = faults("a: 1\n")
    assert (found.code, found.message) == ("RP102", "not YAML: broken")
