"""Findings: the catalogue, their order, and how a person and a machine see them."""

from __future__ import annotations

import pytest

from engine.errors import ContractError
from engine.lang.codes import CODES
from engine.lang.diagnostics import Diagnostic, Diagnostics, Edit, Fix, Related, Severity, nearest
from engine.lang.render import render_json, render_text
from engine.lang.source import Place, Source, Span

SOURCE = Source("pack.yaml", "a: 1\nmode: 0755\n测: \tyes\n\nend: |\n  x\n".encode())


def place(text: str, source: Source = SOURCE) -> Place:
    start = source.data.index(text.encode())
    return Place(source, Span(start, start + len(text.encode())))


def test_every_code_is_named_once_and_explained() -> None:
    assert all(row.name == name and row.title and row.explanation.endswith(".") for name, row in CODES.items())
    assert list(CODES) == sorted(CODES)


def test_a_code_outside_the_catalogue_is_our_bug() -> None:
    with pytest.raises(ContractError, match="RP999"):
        Diagnostics().add("RP999", "x")


def test_a_finding_has_its_codes_severity_unless_told_otherwise() -> None:
    found = Diagnostics()
    found.add("RP502", "x")
    found.error("RP502", "x")
    found.warning("RP110", "x")
    assert [one.severity for one in found] == [Severity.WARNING, Severity.ERROR, Severity.WARNING]


def test_warnings_alone_are_no_errors() -> None:
    found = Diagnostics()
    found.warning("RP110", "x")
    assert not found.has_errors
    found.append(Diagnostic("RP110", "x", Severity.ERROR))
    assert found.has_errors
    assert len(found) == 2


def test_findings_are_sorted_by_file_then_place_then_code() -> None:
    found = Diagnostics()
    found.error("RP112", "last", place("yes"))
    found.error("RP120", "second", place("mode"))
    found.error("RP110", "first", place("mode"))
    found.error("RP003", "whole file", path="pack.yaml")
    found.error("RP001", "no file")
    assert [one.message for one in found.sorted()] == ["no file", "whole file", "first", "second", "last"]
    assert [one.file for one in found.sorted()] == ["", *["pack.yaml"] * 4]
    assert "whole file" in repr(found)


def test_a_place_is_covered_by_errors_in_and_around_it_only() -> None:
    found = Diagnostics([Diagnostic("RP110", "x", Severity.ERROR, place("mode: 0755"))])
    found.warning("RP110", "x", place("yes"))
    found.error("RP003", "x", path="pack.yaml")
    assert found.covers(place("0755"))
    assert found.covers(Place(SOURCE, Span(0, len(SOURCE.data))))
    assert not found.covers(place("a: 1"))
    assert not found.covers(place("yes"))
    assert not found.covers(Place(Source("other.yaml", SOURCE.data), place("0755").span))


def test_a_fix_changes_nothing_but_its_edits() -> None:
    fix = Fix((Edit(Span(0, 1), "é"), Edit(Span(3, 4), ""), Edit(Span(5, 5), "x")))
    assert fix.apply(b"abcdef") == "ébcexf".encode()


def test_the_text_shows_place_code_caret_help_and_what_belongs_to_it() -> None:
    found = Diagnostic(
        "RP110",
        "`0755` is ambiguous",
        Severity.ERROR,
        place("0755"),
        help="quote it",
        related=(Related("the first", place("a: 1")),),
    )
    assert render_text([found]) == (
        "pack.yaml:2:7-11 error[RP110] `0755` is ambiguous\n"
        "   2 | mode: 0755\n"
        "     |       ^^^^\n"
        "  help: quote it\n"
        "  see pack.yaml:1:1: the first\n"
    )


def test_the_caret_stands_under_the_text_after_wide_characters_and_tabs() -> None:
    assert render_text([Diagnostic("RP110", "x", Severity.WARNING, place("yes"))]) == (
        "pack.yaml:3:5-8 warning[RP110] x\n   3 | 测: \tyes\n     |     \t^^^\n"
    )
    combined = Source("c.yaml", "e\u0301: no\n".encode())
    assert "     |    ^^\n" in render_text([Diagnostic("RP110", "x", Severity.ERROR, place("no", combined))])


def test_a_finding_over_several_lines_is_shown_on_its_first() -> None:
    text = render_text([Diagnostic("RP110", "x", Severity.ERROR, place("|\n  x"))])
    assert text == "pack.yaml:5:6-7 error[RP110] x\n   5 | end: |\n     |      ^\n"


def test_a_finding_on_an_empty_line_or_about_a_file_has_no_snippet() -> None:
    blank = SOURCE.data.index(b"\n\n") + 1
    found = [
        Diagnostic("RP106", "empty", Severity.ERROR, Place(SOURCE, Span(blank, blank))),
        Diagnostic("RP003", "big", Severity.ERROR, path="pack.yaml"),
        Diagnostic("RP001", "none", Severity.INFO),
    ]
    assert render_text(found) == ("pack.yaml:4:1-1 error[RP106] empty\npack.yaml: error[RP003] big\ninfo[RP001] none\n")


def test_a_long_line_is_shown_around_its_caret() -> None:
    source = Source("long.yaml", b"x" * 500 + b" no " + b"y" * 500)
    lines = render_text([Diagnostic("RP110", "x", Severity.ERROR, place("no", source))]).splitlines()
    assert len(lines[1]) < 200
    assert lines[1][lines[2].index("^") :].startswith("no ")


def test_colour_is_only_there_when_asked_for() -> None:
    found = [Diagnostic("RP110", "x", Severity.WARNING)]
    assert render_text(found, colour=True) == "\x1b[1;33mwarning[RP110]\x1b[0m x\n"
    assert "\x1b" not in render_text(found)


def test_a_pack_cannot_write_to_the_terminal() -> None:
    source = Source("evil.yaml", b"a: \x1b[31mno\n")
    text = render_text([Diagnostic("RP110", "\x1b[2J", Severity.ERROR, place("no", source), help="\x07")])
    assert not {"\x1b", "\x07"} & set(text)


def test_json_holds_everything_that_is_there_and_nothing_else() -> None:
    full = Diagnostic(
        "RP110",
        "m",
        Severity.ERROR,
        place("0755"),
        help="h",
        related=(Related("r", place("a: 1")),),
        fix=Fix((Edit(place("0755").span, '"0755"'),)),
    )
    bare = Diagnostic("RP003", "big", Severity.ERROR, path="pack.yaml")
    alone = Diagnostic("RP001", "none", Severity.ERROR)
    where = {
        "path": "pack.yaml",
        "start": {"line": 2, "column": 7, "offset": 11},
        "end": {"line": 2, "column": 11, "offset": 15},
    }
    first = {
        "path": "pack.yaml",
        "start": {"line": 1, "column": 1, "offset": 0},
        "end": {"line": 1, "column": 5, "offset": 4},
    }
    assert render_json([full, bare, alone]) == {
        "version": 1,
        "diagnostics": [
            {
                "code": "RP110",
                "severity": "error",
                "message": "m",
                **where,
                "help": "h",
                "related": [{"message": "r", **first}],
                "fix": {"edits": [{"start": 11, "end": 15, "text": '"0755"'}]},
            },
            {"code": "RP003", "severity": "error", "message": "big", "path": "pack.yaml"},
            {"code": "RP001", "severity": "error", "message": "none"},
        ],
    }


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lable", "label"),
        ("forEach", "for_each"),
        ("RULES", "rules"),
        ("sectoins", "sections"),
        ("xyz", None),
        ("", None),
    ],
)
def test_a_misspelt_word_finds_its_neighbour(word: str, meant: str | None) -> None:
    assert nearest(word, ["sections", "label", "for_each", "rules"]) == meant
