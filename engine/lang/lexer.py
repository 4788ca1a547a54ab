"""Tokens of an expression, each with its exact start and end character offset.

Knows no grammar: what may follow what is the parser's business. Constants are decoded here, because only the text
tells how they were written.
"""

from __future__ import annotations

import json
import math
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from engine.errors import EngineError
from engine.lang.limits import MAX_INDEX_DIGITS, MAX_JSON_DEPTH

if TYPE_CHECKING:
    from engine.lang.ast import Json


class ExpressionSyntaxError(EngineError):
    """The text is no expression: `start` and `end` are character offsets into it, `help` the way out (or empty)."""

    def __init__(self, message: str, start: int, end: int, help: str = "") -> None:  # noqa: A002 - the diagnostic's own word
        super().__init__(message, where=f"character {start + 1}", remedy=help)
        self.message = message
        self.start = start
        self.end = end
        self.help = help


class TokenKind(StrEnum):
    """What a token is; the value is the word an error message uses."""

    NAME = "a name"
    QUOTED_NAME = "a quoted name"
    NUMBER = "a number"
    RAW = "a text"
    JSON = "a constant"
    BAREWORD = "a bare word"
    DOT = "`.`"
    STAR = "`*`"
    LEFT_BRACKET = "`[`"
    RIGHT_BRACKET = "`]`"
    FLATTEN = "`[]`"
    FILTER = "`[?`"
    LEFT_PAREN = "`(`"
    RIGHT_PAREN = "`)`"
    LEFT_BRACE = "`{`"
    RIGHT_BRACE = "`}`"
    COMMA = "`,`"
    COLON = "`:`"
    CURRENT = "`@`"
    EXPREF = "`&`"
    PIPE = "`|`"
    OR = "`||`"
    AND = "`&&`"
    NOT = "`!`"
    EQUAL = "`==`"
    NOT_EQUAL = "`!=`"
    LESS = "`<`"
    LESS_EQUAL = "`<=`"
    GREATER = "`>`"
    GREATER_EQUAL = "`>=`"
    END = "the end"

    # An enumeration hashes in Python code, a text in C and once; the parser looks kinds up at every token.
    __hash__ = str.__hash__


class Token(NamedTuple):
    """One token; `value` is the decoded name, number or constant, and the text itself for the rest."""

    kind: TokenKind
    value: Json
    start: int
    end: int


# Each token starts with one of these; order matters where one is the beginning of another.
_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\n\r]+)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>-?[0-9]+)
    | (?P<raw>'(?:[^'\\]|\\.)*+')
    | (?P<json>`(?:[^`\\]|\\.)*+`)
    | (?P<quoted>"(?:[^"\\]|\\.)*+")
    | (?P<symbol>\|\||&&|==|!=|<=|>=|\[\]|\[\?|[.*\[\](){},:@&|!<>])
    """,
    re.VERBOSE | re.DOTALL,
)

_SYMBOLS: Final = {kind.value[1:-1]: kind for kind in TokenKind if kind.value[0] == "`"}

_UNKNOWN_CHARACTER_HELP: Final = {
    "=": "write == to compare",
    "$": "an expression stands without $( ); only templates have it",
    "+": "there is no arithmetic in an expression: use add(a, b)",
    "-": "there is no arithmetic in an expression: use sub(a, b)",
    "/": "there is no arithmetic in an expression: use floor_div(a, b)",
    "%": "there is no arithmetic in an expression: use mod(a, b)",
    "#": "put the text in single quotes",
    "\\": "a backslash stands only inside quotes",
    "\N{LEFT SINGLE QUOTATION MARK}": "use the straight quote '",
    "\N{RIGHT SINGLE QUOTATION MARK}": "use the straight quote '",
    "\N{LEFT DOUBLE QUOTATION MARK}": "use straight quotes: '…' for text",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "use straight quotes: '…' for text",
}

_OPENED: Final = {
    "'": ("text", "close it with ', and write \\' for a quote inside"),
    '"': ("quoted name", 'close it with ", and write \\" for a quote inside'),
    "`": ("constant", "close it with `, and write \\` for a backtick inside"),
}

_TOO_DEEP: Final = f"a constant nested deeper than {MAX_JSON_DEPTH}"


def tokenize(text: str) -> list[Token]:
    """All tokens of `text` and, last, one of kind END.

    Raises: ExpressionSyntaxError.
    """
    tokens: list[Token] = []
    position = 0
    length = len(text)
    match_at = _TOKEN.match
    while position < length:
        found = match_at(text, position)
        if found is None:
            _refuse_character(text, position)
        group = found.lastgroup
        end = found.end()
        if group != "space":
            tokens.append(_token(group or "", found.group(), position, end))
        position = end
    tokens.append(Token(TokenKind.END, "", length, length))
    return tokens


def _token(group: str, lexeme: str, start: int, end: int) -> Token:
    match group:
        case "symbol":
            return Token(_SYMBOLS[lexeme], lexeme, start, end)
        case "name":
            return Token(TokenKind.NAME, lexeme, start, end)
        case "number":
            return Token(TokenKind.NUMBER, _number(lexeme, start, end), start, end)
        case "raw":
            return Token(TokenKind.RAW, lexeme[1:-1].replace("\\'", "'"), start, end)
        case "quoted":
            return Token(TokenKind.QUOTED_NAME, _quoted_name(lexeme, start, end), start, end)
        case _:
            return _constant(lexeme[1:-1].replace("\\`", "`"), start, end)


def _number(lexeme: str, start: int, end: int) -> int:
    if len(lexeme.lstrip("-")) > MAX_INDEX_DIGITS:
        message = f"a number of more than {MAX_INDEX_DIGITS} digits"
        raise ExpressionSyntaxError(message, start, end, "no list is that long")
    return int(lexeme)


def _quoted_name(lexeme: str, start: int, end: int) -> str:
    try:
        name: str = json.loads(lexeme)
    except ValueError as error:
        message = f"a quoted name with a bad escape ({_reason(error)})"
        help_ = 'in double quotes only \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are escapes'
        raise ExpressionSyntaxError(message, start, end, help_) from error
    _refuse_half_character(name, start, end)
    return name


def _constant(lexeme: str, start: int, end: int) -> Token:
    kind = TokenKind.JSON
    try:
        value = json.loads(lexeme, parse_constant=_refuse_constant)
    except ValueError as error:
        try:
            # The published grammar once let a word stand for a text; the profile refuses it, the tree records it.
            value = json.loads(f'"{lexeme.lstrip()}"')
            kind = TokenKind.BAREWORD
        except ValueError:
            message = f"a constant that is no JSON ({_reason(error)})"
            raise ExpressionSyntaxError(message, start, end, "write text in single quotes: '…'") from error
    except RecursionError as error:
        raise ExpressionSyntaxError(_TOO_DEEP, start, end) from error
    except _NotFiniteError as error:
        message = f"a constant with {error}, which is no JSON number"
        raise ExpressionSyntaxError(message, start, end, "write text in single quotes: '…'") from error
    _refuse_odd_value(value, start, end)
    return Token(kind, value, start, end)


class _NotFiniteError(Exception):
    """Carries NaN or an infinity out of the JSON reader."""


def _refuse_constant(name: str) -> NoReturn:
    raise _NotFiniteError(name)


def _refuse_odd_value(value: Json, start: int, end: int) -> None:
    """Refuse what JSON text can say and nothing after the parser can carry."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > MAX_JSON_DEPTH:
            raise ExpressionSyntaxError(_TOO_DEEP, start, end)
        if isinstance(part, str):
            _refuse_half_character(part, start, end)
        elif isinstance(part, list):
            waiting.extend((item, depth + 1) for item in part)
        elif isinstance(part, dict):
            waiting.extend((key, depth) for key in part)
            waiting.extend((item, depth + 1) for item in part.values())
        elif isinstance(part, float) and not math.isfinite(part):
            raise ExpressionSyntaxError("a number too large to hold", start, end)


def _refuse_half_character(text: str, start: int, end: int) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        message = "half of a character written as \\uD8…"
        raise ExpressionSyntaxError(message, start, end, "write both halves of the pair, or the character itself")


def _refuse_character(text: str, start: int) -> NoReturn:
    character = text[start]
    if character in _OPENED:
        what, help_ = _OPENED[character]
        raise ExpressionSyntaxError(f"a {what} that is never closed", start, len(text), help_)
    help_ = _UNKNOWN_CHARACTER_HELP.get(character, "")
    if character == "=" and text[start : start + 2] == "=~":
        help_ = "use re_match('pattern', text)"
    elif not help_ and not character.isascii():
        help_ = "put a name with such characters in double quotes, a text in single quotes"
    raise ExpressionSyntaxError(f"{character!r} means nothing in an expression", start, start + 1, help_)


def _reason(error: Exception) -> str:
    """The JSON reader's own words without its position, which counts from the constant's start."""
    return str(error).split(":", maxsplit=1)[0]
