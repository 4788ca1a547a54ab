"""Fixes applied to files: byte ranges, several passes, and never a byte more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from engine.lang.codes import Severity
from engine.lang.diagnostics import Diagnostic, Edit, Fix
from engine.lang.fixes import MAX_PASSES, apply_fixes, fix
from engine.lang.reader import read
from engine.lang.source import Place, Source, Span


def finding(source: Source, *edits: tuple[int, int, str], fixed: bool = True) -> Diagnostic:
    made = Fix(tuple(Edit(Span(start, end), text) for start, end, text in edits)) if fixed else None
    return Diagnostic("RP110", "x", Severity.ERROR, Place(source, Span(0, 1)), fix=made)


def check(sources: Sequence[Source]) -> Iterable[Diagnostic]:
    return [one for source in sources for one in read(source)[1]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a: no\r\nb: [02, 0b]\r\n", b'a: "no"\r\nb: ["02", "0b"]\r\n'),
        (b"mode: 0755   # octal\n", b'mode: "0755"   # octal\n'),
        (b"\xef\xbb\xbfa: on\n", b'a: "on"\n'),
        (b"---\na:   yes   # c\n---\nb:  'x'\n", b"---\na:   \"yes\"   # c\n---\nb:  'x'\n"),
    ],
)
def test_only_the_bytes_of_the_fixes_change(before: bytes, after: bytes) -> None:
    made = fix([Source("a.yaml", before)], check)
    assert made.sources[0].data == after
    assert made.changed == ("a.yaml",)
    assert [one.code for one in made.remaining if one.fix is not None] == []


def test_what_cannot_be_fixed_remains_and_nothing_changes() -> None:
    source = Source("a.yaml", b"a: 1\na: 2\n")
    made = fix([source], check)
    assert made.sources == (source,)
    assert made.changed == ()
    assert made.applied == 0
    assert [one.code for one in made.remaining] == ["RP120"]


def test_a_fix_touches_its_own_file_only() -> None:
    one, two = Source("a.yaml", b"a: no\n"), Source("b.yaml", b"a: text\n")
    made = fix([one, two], check)
    assert made.changed == ("a.yaml",)
    assert made.sources[1] is two
    assert made.applied == 1


def test_of_two_fixes_that_overlap_the_first_is_taken_and_the_other_waits_for_the_next_pass() -> None:
    source = Source("a", b"abcdef")
    found = [
        finding(source, (0, 3, "X")),
        finding(source, (2, 4, "Y")),
        finding(source, (4, 6, "Z")),
        finding(source, (4, 6, "W")),
    ]
    mended, count = apply_fixes(source, found)
    assert mended.data == b"XdZ"
    assert count == 2


def test_a_fix_of_several_edits_is_applied_as_a_whole() -> None:
    source = Source("a", b"abcdef")
    mended, count = apply_fixes(source, [finding(source, (0, 0, "("), (6, 6, ")"))])
    assert (mended.data, count) == (b"(abcdef)", 1)


def test_findings_without_a_fix_or_place_are_passed_over() -> None:
    source = Source("a", b"abc")
    other = Source("b", b"abc")
    nowhere = Diagnostic("RP110", "x", Severity.ERROR, fix=Fix((Edit(Span(0, 1), "x"),)))
    found = [finding(source, fixed=False), finding(source), finding(other, (0, 1, "x")), nowhere]
    assert apply_fixes(source, found) == (source, 0)


def test_fixes_that_undo_each_other_end() -> None:
    def flip(sources: Sequence[Source]) -> Iterable[Diagnostic]:
        letter = "b" if sources[0].data == b"a" else "a"
        return [finding(sources[0], (0, 1, letter))]

    made = fix([Source("a", b"a")], flip)
    assert made.applied == MAX_PASSES
    assert len(made.remaining) == 1
