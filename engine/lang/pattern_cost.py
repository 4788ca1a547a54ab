"""How much work matching a pattern can be, from its text alone.

The bound is a product: places to start, times the ways through every choice that one character does not decide, times
the repeats that are walked before a failure shows. A choice that one character decides (`[0-9]+g`) costs no more than
its length. Matching itself is `patterns`' business.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final

from engine.errors import EngineError
from engine.lang.limits import MAX_PATTERN_SUBJECT_BYTES

# The standard library's own parser of patterns; there is no public way to a pattern's tree, and no types for this one.
sre: Any = import_module("re._constants")
sre_parser: Any = import_module("re._parser")

MAX_STEPS: Final = 1 << 22
"""Chosen here: two loose repeats, or three decided ones without an anchor; some 30 ms in the worst case."""

MAX_REPEAT: Final = 256
"""Highest count in `{m,n}`, nested ones multiplied. Chosen here: names are shorter."""

_OPEN: Final = MAX_PATTERN_SUBJECT_BYTES
_EVERYTHING: Final = (1 << 129) - 1  # one bit an ASCII character, one for all others
_OTHERS: Final = 1 << 128
_HELP: Final = "anchor it with ^ and $, repeat a class that excludes what follows, and repeat no repeat"
_REFUSED: Final = {
    sre.GROUPREF: "a back-reference",
    sre.GROUPREF_EXISTS: "a conditional group",
    sre.ASSERT: "a look-around",
    sre.ASSERT_NOT: "a look-around",
    sre.ATOMIC_GROUP: "an atomic group",
    sre.POSSESSIVE_REPEAT: "a possessive repeat",
}


class UnsafePatternError(EngineError):
    """A pattern is outside the subset."""


def plain_classes(text: str) -> str:
    """The pattern with every sign in a class escaped that Python warns about: one day `[` and `--` may mean sets there."""
    made: list[str] = []
    start: int | None = None
    escaped = False
    for at, letter in enumerate(text):
        if start is None or escaped or letter == "\\":
            start = at + 1 if letter == "[" and not escaped and start is None else start
            escaped = letter == "\\" and not escaped
        elif letter == "]" and at > start + (text[start] == "^"):
            start = None
        elif letter in "[&~|" or (letter == "-" and text[at + 1 : at + 2] == "-"):
            made.append("\\")
        made.append(letter)
    return "".join(made)


def require_bounded(text: str) -> None:
    """Prove that a pattern's work is bounded. Raises UnsafePatternError when it is not, or is no pattern."""
    try:
        parsed = sre_parser.parse(plain_classes(text))
    except (re.error, OverflowError, RecursionError) as error:
        raise UnsafePatternError(f"'{text}' is no regular expression", why=str(error)) from error
    proof = _Proof(text)
    if parsed.state.flags & ~re.UNICODE.value:
        raise proof.refusal("an inline flag")
    items = list(parsed)
    proof.sequence(items, 0, 1)
    starts = 1 if items and items[0] in ((sre.AT, sre.AT_BEGINNING), (sre.AT, sre.AT_BEGINNING_STRING)) else _OPEN
    if starts * proof.ways * proof.walked > MAX_STEPS:
        raise UnsafePatternError(
            f"pattern '{text}' may take {starts * proof.ways * proof.walked} steps on a long text",
            why=f"the most is {MAX_STEPS}",
            remedy=_HELP,
        )


class _Proof:
    """The walk over a parsed pattern. `ways` multiplies undecided choices, `walked` adds up decided repeats."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ways = 1
        self.walked = 1

    def refusal(self, what: str) -> UnsafePatternError:
        return UnsafePatternError(
            f"pattern '{self.text}' holds {what}", why="its matching time is not bounded", remedy=_HELP
        )

    def sequence(self, items: Any, follow: int, times: int) -> None:
        """Items that run up to `times` times (0: any number), before a character of `follow`."""
        for operation, argument in reversed(list(items)):
            self.item(operation, argument, follow, times)
            follow = _first(operation, argument, follow)

    def item(self, operation: Any, argument: Any, follow: int, times: int) -> None:
        if operation in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.AT):
            return
        if operation is sre.SUBPATTERN:
            _, added, removed, body = argument
            if added or removed:
                raise self.refusal("an inline flag")
            self.sequence(body, follow, times)
        elif operation is sre.BRANCH:
            self.branch(argument[1], follow, times)
        elif operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            self.repeat(argument, follow, times)
        else:
            raise self.refusal(_REFUSED.get(operation, str(operation).lower()))

    def branch(self, branches: Any, follow: int, times: int) -> None:
        if not times:
            raise self.refusal("alternatives under * or +")
        seen, decided = 0, True
        for branch in branches:
            first = _first_of(branch, follow)
            decided = decided and not first & seen
            seen |= first
            self.sequence(branch, follow, times)
        if not decided:
            self.choice(len(branches), times)

    def repeat(self, argument: Any, follow: int, times: int) -> None:
        lowest, highest, body = argument
        first = _first_of(body, 0)
        is_open = highest is sre.MAXREPEAT
        if highest == 0 or _is_nullable(body):
            raise self.refusal("a repeat of nothing")
        if (is_open and times != 1) or (not times and highest > 1):
            raise self.refusal("a repeat inside a repeat")
        if not is_open and highest * max(times, 1) > MAX_REPEAT:
            raise self.refusal(f"a repeat of more than {MAX_REPEAT}")
        if lowest != highest:
            options = _OPEN if is_open else int(highest) - int(lowest) + 1
            if first & follow:
                self.choice(options, times)
            elif highest != 1:
                self.walked += (_OPEN if is_open else int(highest)) * times
        self.sequence(body, follow if highest == 1 else first | follow, 0 if is_open else int(highest) * times)

    def choice(self, options: int, times: int) -> None:
        if not times:
            raise self.refusal("a choice under * or + that one character does not decide")
        self.ways *= options ** min(times, MAX_STEPS.bit_length())


def _first_of(items: Any, follow: int) -> int:
    for operation, argument in reversed(list(items)):
        follow = _first(operation, argument, follow)
    return follow


def _first(operation: Any, argument: Any, follow: int) -> int:
    """The characters an item can begin with; `follow` where it can be empty."""
    if operation is sre.AT:
        return follow
    if operation is sre.SUBPATTERN:
        return _first_of(argument[3], follow)
    if operation is sre.BRANCH:
        made = 0
        for branch in argument[1]:
            made |= _first_of(branch, follow)
        return made
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return _first_of(argument[2], 0) | (follow if argument[0] == 0 else 0)
    return _characters(operation, argument)


def _is_nullable(items: Any) -> bool:
    """Whether a sequence can match the empty text."""
    # A mark no character set contains survives only where everything before it can be empty.
    mark = 1 << 129
    return bool(_first_of(items, mark) & mark)


def _characters(operation: Any, argument: Any) -> int:
    if operation is sre.LITERAL:
        return _bit(argument)
    if operation is sre.NOT_LITERAL:
        return _EVERYTHING & ~(_bit(argument) & ~_OTHERS)
    if operation is sre.ANY:
        return _EVERYTHING & ~_bit(ord("\n"))
    if operation is sre.RANGE:
        return sum(1 << code for code in range(argument[0], min(argument[1], 127) + 1)) | (
            _OTHERS if argument[1] > 127 else 0
        )
    if operation is sre.CATEGORY:
        return _CATEGORIES.get(argument, _EVERYTHING)
    if operation is not sre.IN:
        return _EVERYTHING
    negated, made = False, 0
    for kind, value in argument:
        if kind is sre.NEGATE:
            negated = True
        else:
            made |= _characters(kind, value)
    return _EVERYTHING & ~(made & ~_OTHERS) if negated else made


def _bit(code: int) -> int:
    return 1 << code if code < 128 else _OTHERS


def _ascii(pattern: str) -> int:
    return sum(1 << code for code in range(128) if re.fullmatch(pattern, chr(code), re.ASCII))


_CATEGORIES: Final = {
    sre.CATEGORY_DIGIT: _ascii(r"\d"),
    sre.CATEGORY_SPACE: _ascii(r"\s"),
    sre.CATEGORY_WORD: _ascii(r"\w"),
    sre.CATEGORY_NOT_DIGIT: _EVERYTHING & ~_ascii(r"\d"),
    sre.CATEGORY_NOT_SPACE: _EVERYTHING & ~_ascii(r"\s"),
    sre.CATEGORY_NOT_WORD: _EVERYTHING & ~_ascii(r"\w"),
}
