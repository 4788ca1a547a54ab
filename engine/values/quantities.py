"""Kubernetes quantities as exact numbers, and the memory texts that labels carry.

Nothing here is a float, and nothing is rounded unless a function's name or docstring says so. Which quantity means
what (cores, MiB, credits) is the caller's to know.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from engine.errors import EvaluationError

MIB_PER_GIB: Final = 1024
BYTES_PER_MIB: Final = 1 << 20

_SYNTAX: Final = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", re.ASCII | re.DOTALL)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]{1,3})", re.ASCII)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SMALLEST: Final = Fraction(1, 10**9)
_LARGEST_EXPONENT: Final = 30
_REMEDY: Final = "write digits and one of n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent, as in 500m, 16Gi, 1e3"


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> int | Fraction:
    """The exact value of a Kubernetes quantity; an int whenever it is whole.

    Units: below a billionth the value rounds away from zero, as Kubernetes does; nothing else is rounded.
    Raises: EvaluationError: not a quantity. Only ASCII digits count, and neither spaces nor underscores are skipped.
    Source: the serialisation format documented for Kubernetes' `resource.Quantity`.
    """
    matched = _SYNTAX.fullmatch(text)
    scale = _scale(matched.group(3)) if matched else None
    if matched is None or scale is None:
        raise EvaluationError(f"{text!r} is not a quantity", remedy=_REMEDY)
    magnitude = _round_up(Fraction(_digits(matched.group(2))) * scale, _SMALLEST)
    value = -magnitude if matched.group(1) == "-" else magnitude
    return int(value) if value.denominator == 1 else value


def whole_cores(quantity: str) -> int:
    """A CPU quantity in whole cores, rounded up: `3920m` is 4."""
    return -(-parse_quantity(quantity) // 1)


def quantity_mib(quantity: str) -> int:
    """A memory quantity in whole MiB, rounded down: `24Gi` is 24576."""
    return int(parse_quantity(quantity) // BYTES_PER_MIB)


@lru_cache(maxsize=4096)
def canonical(value: int | str) -> str:
    """A quantity as Kubernetes prints it: 1600000 is `1600k`, 6400000 is `6400k`, `1024Mi` is `1Gi`.

    Shape: the largest suffix that leaves no fraction; a text with a binary suffix keeps the binary family unless it
    is below 1024, an exponent is printed with the decimal suffix it equals (Kubernetes would keep the exponent form;
    nothing Engine reads is written that way).
    Raises: EvaluationError: a text that is not a quantity.
    """
    number = parse_quantity(value) if isinstance(value, str) else value
    if isinstance(value, str) and value.endswith("i") and isinstance(number, int) and abs(number) >= 1 << 10:
        return _with_binary_suffix(number)
    return _with_decimal_suffix(Fraction(number))


def binary_quantity(mib: int) -> str:
    """Memory with the largest binary unit that leaves no fraction: 1536 is `1536Mi`, 32768 is `32Gi`, 0 is `0`."""
    return _with_binary_suffix(mib * BYTES_PER_MIB)


def gi_label(mib: int) -> str:
    """The `.memory` label: the nearest whole Gi, never below 1Gi unless the card has none (15360 is `15Gi`).

    Units: exactly half a Gi rounds up, as the usual round-half-away-from-zero does (the specification leaves it
    unconfirmed); from 1024Gi up the unit stays Gi, for the same reason.
    Source: specification 20 §1.3.
    """
    return f"{_nearest_gib(mib)}Gi"


def gi_suffix(mib: int) -> str:
    """`gi_label` as a name's suffix: 15360 is `15g`."""
    return f"{_nearest_gib(mib)}g"


def _nearest_gib(mib: int) -> int:
    if mib < 0:
        raise EvaluationError(f"{mib} MiB is no memory size", remedy="leave the memory out when it is not known")
    if mib == 0:
        return 0
    return max(1, (mib + MIB_PER_GIB // 2) // MIB_PER_GIB)


def _digits(text: str) -> str:
    return text.rstrip(".") if text.endswith(".") else text


def _scale(suffix: str) -> Fraction | None:
    if suffix in _DECIMAL:
        return Fraction(10) ** _DECIMAL[suffix]
    if suffix in _BINARY:
        return Fraction(1 << _BINARY[suffix])
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent and abs(int(exponent.group(1))) <= _LARGEST_EXPONENT:
        return Fraction(10) ** int(exponent.group(1))
    return None


def _round_up(value: Fraction, step: Fraction) -> Fraction:
    return -(-value // step) * step


def _with_binary_suffix(number: int) -> str:
    for suffix, shift in reversed(_BINARY.items()):
        if number and number % (1 << shift) == 0:
            return f"{number >> shift}{suffix}"
    return str(number)


def _with_decimal_suffix(number: Fraction) -> str:
    for suffix, exponent in reversed(_DECIMAL.items()):
        scaled = number / Fraction(10) ** exponent
        if number and scaled.denominator == 1:
            return f"{scaled.numerator}{suffix}"
    return "0"
