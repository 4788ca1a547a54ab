"""Characters of a scalar's text are found again in the bytes of its file, in every style."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import Map, Scalar


def scalar(data: bytes) -> Scalar:
    documents, diagnostics = read(Source("file.yaml", data))
    assert not diagnostics.has_errors, list(diagnostics)
    root = documents[0].root
    assert isinstance(root, Map)
    value = root.entries[0].value
    assert isinstance(value, Scalar)
    return value


@pytest.mark.parametrize(
    "written",
    [
        "a: one mark two\n",
        "a: 'it''s ''mark'' two'\n",
        'a: "\\x41\\u00e9\\t\\"mark\\" \\U0001F600 two"\n',
        'a: "one \\\n  mark two"\n',
        "a: |\n    one\n      indented\n\n    with mark in it\n",
        "a: |2\n    one mark\n",
        "a: |- # why\n  mark\n",
        "a: >\n  one\n  two\n\n  mark\n    more\n",
        "a: é 测试 mark é\n",
        "a: one\n  two mark\n  three\n",
        "a: 'one\n\n  mark'\n",
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_word_inside_a_value_is_found_in_the_file(written: str, line_end: str) -> None:
    data = written.replace("\n", line_end).encode()
    value = scalar(data)
    at = value.text.index("mark")
    span = value.locate(at, at + 4)
    assert data[span.start : span.end] == b"mark"
    assert span.start == data.rindex(b"mark")


@pytest.mark.parametrize("written", ["a: text\n", "a: 'text'\n", 'a: "text"\n', "a: |\n  text\n", "a: >\n  text\n"])
def test_positions_past_the_text_are_its_end(written: str) -> None:
    data = written.encode()
    value = scalar(data)
    end = value.locate(4, 4)
    assert (end.start, end.end) == (data.index(b"text") + 4, data.index(b"text") + 4)
    assert value.locate(900, 901).start <= len(data)
    assert value.locate(-3, 2) == value.locate(0, 2)


def test_an_escaped_character_is_located_with_its_escape() -> None:
    data = b'a: "x\\u00e9y"\n'
    span = scalar(data).locate(1, 2)
    assert data[span.start : span.end] == b"\\u00e9"


def test_an_empty_value_is_located_where_it_would_stand() -> None:
    data = b"a: ''\n"
    assert scalar(data).locate(0, 0).start == 4
    assert scalar(b'a: ""\n').locate(0, 3).start == 4


WORDS = st.text(st.sampled_from("ab'\"\\ :#é测$()\n"), min_size=1, max_size=24)


@given(WORDS)
def test_every_character_of_a_quoted_text_is_found_again(text: str) -> None:
    line = text.replace("\n", " ")
    value = scalar(("a: '" + line.replace("'", "''") + "'\n").encode())
    assert value.text == line
    for i, character in enumerate(line):
        span = value.locate(i, i + 1)
        found = value.source.data[span.start : span.end].decode()
        assert found == ("''" if character == "'" else character)


@given(st.lists(st.text(st.sampled_from("ab é测$()#:"), max_size=8), min_size=1, max_size=6))
def test_every_character_of_a_literal_block_is_found_again(lines: list[str]) -> None:
    lines = ["x" + line for line in lines]
    value = scalar(("a: |\n" + "".join(f"    {line}\n" for line in lines)).encode())
    assert value.text == "".join(f"{line}\n" for line in lines)
    for i, character in enumerate(value.text):
        span = value.locate(i, i + 1)
        assert value.source.data[span.start : span.end].decode() == character
