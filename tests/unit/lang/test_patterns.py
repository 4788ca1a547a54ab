"""Patterns outside the linear subset are refused, and those inside it stay quick on the worst text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EvaluationError
from engine.lang.limits import MAX_PATTERN_BYTES, MAX_PATTERN_SUBJECT_BYTES
from engine.lang.patterns import UnsafePatternError, replacement_parts, safe_pattern


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"^(a+)+$", "a repeat inside a repeat"),
        (r"(a{2,3})*", "a repeat inside a repeat"),
        (r"(a*)?", "a repeat of nothing"),
        (r"(a?)*", "a repeat of nothing"),
        (r"a{0}", "a repeat of nothing"),
        (r"(|a){3}", "a repeat of nothing"),
        (r"(^)*", "a repeat of nothing"),
        (r"(a)\1", "a back-reference"),
        (r"(a)(?(1)b|c)", "a conditional group"),
        (r"(?=a)", "a look-around"),
        (r"(?<!a)b", "a look-around"),
        (r"(?>a)", "an atomic group"),
        (r"a*+", "a possessive repeat"),
        (r"(?i)a", "an inline flag"),
        (r"(?i:a)", "an inline flag"),
        (r"(one|two)*", "alternatives under * or +"),
        (r"(ab?b)*", "a choice under * or +"),
        (r"a{257}", "a repeat of more than 256"),
        (r"(a{16}){17}", "a repeat of more than 256"),
        (r"(.+x){2}", "a repeat inside a repeat"),
        (r".*.*x", "steps"),
        (r"a?" * 30 + "a" * 30, "steps"),
        (r"(a|a)" * 30 + "b", "steps"),
        (r"^.{0,256}.{0,256}.{0,256}x", "steps"),
        (r"(a.|aa){100}c", "steps"),
        (r"[0-9]+a[0-9]+b[0-9]+c[0-9]+d", "steps"),
        (r"\w*\d*x", "steps"),
        (r"(", "is no regular expression"),
        (r"[z-a]", "is no regular expression"),
        ("a" * (MAX_PATTERN_BYTES + 1), "longer than"),
    ],
)
def test_a_pattern_outside_the_subset_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(UnsafePatternError) as error:
        safe_pattern(pattern)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "subject", "found"),
    [
        (r"^([0-9]+)g([0-9]+)gb$", "4g48gb", True),
        (r"^acme$", "acme\n", False),
        (r"a$|b", "xa", True),
        (r"[$]", "5$", True),
        (r"[^$]$", "$", False),
        (r"[]$]", "]", True),
        (r"[^]]", "]", False),
        (r"\$$", "5$", True),
        (r"([0-9]{1,3}\.){3}[0-9]{1,3}", "10.0.0.1", True),
        (r"^rtx[- ]?(pro|ada)?", "rtx pro", True),
        (r"(?P<mark>x+)y", "xxy", True),
        (r"x{2,}?", "axx", True),
        (r"\bone\b", "the one card", True),
        (r"\d", "１", False),
        (r"[\d\s]+[^\w-]", "1 !", True),
        (r"[\D]\S\W", "ab!", True),
        (r"[^a]", "é", True),
        (r"[à-ü]+z", "éz", True),
        (r"^.*-x$", "a-b-x", True),
        (r"(?:one|two){1,3}x", "onetwox", True),
        (r"(ab?c)*d", "abcacd", True),
        (r"", "anything", True),
    ],
)
def test_a_pattern_of_the_subset_matches_as_written(pattern: str, subject: str, found: bool) -> None:
    assert safe_pattern(pattern).matches(subject) is found


def test_a_capture_is_null_where_the_pattern_is_not_found_or_its_group_took_no_part() -> None:
    pattern = safe_pattern("^(a)|(b)$")
    assert pattern.groups == 2
    assert pattern.capture("ax", 0) == "a"
    assert pattern.capture("ax", 1) == "a"
    assert pattern.capture("ax", 2) is None
    assert pattern.capture("zz", 1) is None
    with pytest.raises(EvaluationError, match="no group 3"):
        pattern.capture("a", 3)
    with pytest.raises(EvaluationError, match="no group -1"):
        pattern.capture("a", -1)


def test_a_replacement_names_groups_and_nothing_else() -> None:
    pattern = safe_pattern("([0-9]+)(x)?")
    assert pattern.replace("4 and 5x", r"<\1\2\\>") == "<4\\> and <5x\\>"
    assert replacement_parts(r"a\1b", pattern) == ("a", 1, "b")
    for bad in (r"\3", r"\g<1>", r"\n", "\\", r"\0"):
        with pytest.raises(EvaluationError, match="names no group"):
            pattern.replace("4", bad)


@pytest.mark.parametrize("subject", ["x" * (MAX_PATTERN_SUBJECT_BYTES + 1), "é" * MAX_PATTERN_SUBJECT_BYTES])
def test_a_text_that_is_too_long_to_match_is_an_evaluation_error(subject: str) -> None:
    with pytest.raises(EvaluationError, match="too long to match"):
        safe_pattern("x").matches(subject)


PIECES = [
    "a",
    "b",
    "[ab]",
    ".",
    "a?",
    "a*",
    "[ab]+",
    "b{1,3}",
    ".*",
    "(a|b)",
    "(ab|a)",
    "(ab?)*",
    "a{2}",
    "(a|ab){1,4}",
    "$",
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.booleans())
def test_an_accepted_pattern_is_quick_on_the_text_that_fails_it_last(body: str, anchored: bool) -> None:
    try:
        pattern = safe_pattern(("^" if anchored else "") + body + "!")
    except UnsafePatternError:
        return
    start = time.monotonic()
    pattern.matches("ab" * (MAX_PATTERN_SUBJECT_BYTES // 2))
    pattern.matches("a" * MAX_PATTERN_SUBJECT_BYTES)
    # Some 100 ms on an idle core; the cores are shared, and what is unbounded takes minutes.
    assert time.monotonic() - start < 2
