"""Regular expressions of the safe subset.

The subset is `engine.lang.patterns`'; that patterns are written as literals is the checker's rule.
"""

from __future__ import annotations

from engine.errors import EvaluationError
from engine.lang.functions.function import function
from engine.lang.patterns import SafePattern, UnsafePatternError, safe_pattern


def _pattern(text: str) -> SafePattern:
    try:
        return safe_pattern(text)
    except UnsafePatternError as error:
        raise EvaluationError(error.what, why=error.why, remedy=error.remedy) from error


def _re_match(pattern: str, text: str) -> bool:
    return _pattern(pattern).matches(text)


def _re_capture(pattern: str, text: str | None, group: int) -> str | None:
    return None if text is None else _pattern(pattern).capture(text, group)


def _re_replace(pattern: str, text: str, replacement: str) -> str:
    return _pattern(pattern).replace(text, replacement)


GROUP = (
    function(
        "regex",
        "re_match(pattern: str, text: str) -> bool",
        _re_match,
        help="Whether a pattern is found in a text; anchor it with ^ and $ to match the whole text.",
        example=("re_match('^Acme [A-Z]', card.name)", True),
        cost=20,
    ),
    function(
        "regex",
        "re_capture(pattern: str, text: str?, group: int) -> str?",
        _re_capture,
        help="What a group of a pattern caught (0: all of it); null where the pattern is not found.",
        example=("re_capture('^([0-9]+)g', '4g48gb', `1`)", "4"),
        cost=20,
    ),
    function(
        "regex",
        "re_replace(pattern: str, text: str, replacement: str) -> str",
        _re_replace,
        help=r"The text with every match replaced; \1 to \9 are the pattern's groups.",
        example=(r"re_replace('^([0-9]+)g([0-9]+)gb$', '4g48gb', '\1g.\2gb')", "4g.48gb"),
        cost=20,
    ),
)
