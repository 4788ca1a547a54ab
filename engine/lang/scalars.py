"""What an unquoted piece of YAML means, and which pieces no two readers agree on.

The typed forms are those of YAML 1.2's core schema that every reader takes alike: `true`, `false`, `null` and decimal
integers without a leading zero. Everything a reader may take for something else is refused; all other text is a string.
Does not know where the text stands.
"""

from __future__ import annotations

import re

from msgspec import Struct

from engine.lang.codes import Severity

# Integers beyond this are not exact in readers that hold numbers as doubles (JSON's I-JSON profile, RFC 7493 §2.2).
MAX_INTEGER = 2**53
_MAX_DIGITS = len(str(MAX_INTEGER))

_TYPED: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
# Anything below can only match text that starts with one of these.
_SUSPICIOUS_START = frozenset("0123456789+-.~yYnNtTfFoO=<")

_BOOLEAN_11 = re.compile(r"(?:(y|Y|yes|Yes|YES|on|On|ON)|n|N|no|No|NO|off|Off|OFF)")
_CAPITAL = re.compile(r"True|TRUE|False|FALSE|Null|NULL")
_OCTAL = re.compile(r"[-+]?0[0-9_]+")
_PREFIXED = re.compile(r"[-+]?0[bBoOxX][0-9A-Fa-f_]*")
_SIGNED = re.compile(r"\+[0-9]+|-0")
_GROUPED = re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_EXPONENT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)[eE][-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = re.compile(r"[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}.*)?")


class Objection(Struct, frozen=True):
    """Why a plain text is refused. `fix` is what to write instead; empty when no choice is safe."""

    code: str
    why: str
    help: str
    fix: str = ""
    severity: Severity = Severity.ERROR


class Reading(Struct, frozen=True):
    """What a plain text is taken for, and the objection to it if there is one."""

    value: str | int | bool | None
    objection: Objection | None = None


def read_plain(text: str) -> Reading:
    """What an unquoted scalar means. Its value stays the text itself wherever readers disagree."""
    if text in _TYPED:
        return Reading(_TYPED[text])
    if text[:1] not in _SUSPICIOUS_START:
        return Reading(text)
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return Reading(text, _objection(text))


def quoted(text: str) -> str:
    """A text as a quoted YAML scalar on one line."""
    if "\\" not in text and '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"


def _integer(text: str) -> Reading:
    # The length is looked at first: converting a number of thousands of digits is refused by Python itself.
    if len(text.lstrip("-")) <= _MAX_DIGITS and -MAX_INTEGER <= int(text) <= MAX_INTEGER:
        return Reading(int(text))
    why = f"{_short(text)} is outside -2^53 to 2^53, where readers round numbers"
    return Reading(text, Objection("RP104", why, "quote it if it is a name, or use a smaller number"))


def _objection(text: str) -> Objection | None:
    quote = quoted(text)
    if boolean := _BOOLEAN_11.fullmatch(text):
        meaning = "true" if boolean.group(1) else "false"
        why = f"`{text}` is the boolean {meaning} in YAML 1.1 and text in YAML 1.2"
        return Objection("RP110", why, f"quote it ({quote}), or write {meaning}", quote)
    if _CAPITAL.fullmatch(text):
        why = f"`{text}` is read as `{text.lower()}` by some readers and as text by others"
        return Objection("RP110", why, f"write {text.lower()}, or quote it", text.lower())
    if text == "~":
        return Objection("RP112", "`~` is an empty value", "write null if nothing is meant, or quote it", "null")
    if text in ("=", "<<"):
        return Objection("RP110", f"`{text}` has a meaning of its own in YAML 1.1", f"quote it ({quote})", quote)
    why = _number(text)
    if why:
        code = "RP104" if _NOT_FINITE.fullmatch(text) else "RP111" if _DECIMAL.fullmatch(text) else "RP110"
        return Objection(code, f"`{_short(text)}` {why}", f"quote it ({_short(quote)})", quote)
    if _DATE.fullmatch(text):
        why = f"`{text}` is a date in YAML 1.1; it is taken as text here"
        return Objection("RP110", why, f"quote it ({quote})", quote, Severity.WARNING)
    return None


def _number(text: str) -> str:
    """What numbers a text may be taken for; empty when it cannot."""
    if _PREFIXED.fullmatch(text):
        return "may be read as a binary, octal or hexadecimal number, or as text"
    if _OCTAL.fullmatch(text):
        return _octal(text)
    if _SIGNED.fullmatch(text):
        return f"is the number {text.lstrip('+') if text != '-0' else 0} to most readers, which drop its sign"
    if _NOT_FINITE.fullmatch(text):
        return "is not a finite number"
    if _EXPONENT.fullmatch(text):
        return "is a floating-point number in YAML 1.2 (and in Helm), text in YAML 1.1"
    if _DECIMAL.fullmatch(text):
        lost = ", so its last zero would be lost" if "." in text and text.endswith("0") else ""
        return f"is a floating-point number{lost}; there are none here"
    if _GROUPED.fullmatch(text):
        return f"is the number {_short(text.replace('_', ''))} in YAML 1.1 and text in YAML 1.2"
    if _BASE_60.fullmatch(text):
        return "is a number to the base of 60 in YAML 1.1 and text in YAML 1.2"
    return ""


def _octal(text: str) -> str:
    digits = text.replace("_", "").lstrip("+-")
    decimal = _short(digits.lstrip("0") or "0")
    if set(digits) <= set("01234567") and len(digits) <= _MAX_DIGITS:
        if int(digits, 8) == int(digits):
            return f"is the number {decimal} to most readers, which drop its leading zero"
        return f"is {int(digits, 8)} (octal) in YAML 1.1 and {decimal} in YAML 1.2"
    return f"is {decimal} in YAML 1.2, and text or an octal number in YAML 1.1"


def _short(text: str) -> str:
    limit = 40
    return text if len(text) <= limit else f"{text[:16]}…{text[-8:]} ({len(text)} characters)"
