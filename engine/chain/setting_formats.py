"""The formats that texts of settings are held to, and what each takes, in words.

Decides on a text alone; whether anything answers under an address or an image exists is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from engine.errors import EvaluationError
from engine.values.quantities import parse_quantity

# Source: the grammar of image references in the `reference` package of the distribution project.
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_PATH: Final = rf"{_COMPONENT}(?:/{_COMPONENT})*"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST: Final = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_REGISTRY: Final = re.compile(rf"{_HOST}(?:/{_PATH})?")
_IMAGE: Final = re.compile(
    rf"(?:{_HOST}/)?{_PATH}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(?:@[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{{32,}})?"
)
# Source: Go's `time.ParseDuration`; a sign is left out, because no setting is a negative time.
_DURATION: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|s|m|h))+")
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?)(ns|us|µs|ms|s|m|h)")
_SECONDS: Final = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_LARGEST_PORT: Final = 65535
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f]")


def duration_seconds(text: str) -> Fraction | None:
    """The length of `1h30m` in seconds, exactly; None when the text is no duration."""
    if text == "0":
        return Fraction(0)
    if not _DURATION.fullmatch(text):
        return None
    return sum((Fraction(number.rstrip(".")) * _SECONDS[unit] for number, unit in _PART.findall(text)), Fraction(0))


def _is_url(text: str) -> bool:
    if _SPACE.search(text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    return is_whole and (port is None or 0 < port <= _LARGEST_PORT)


def _is_quantity(text: str) -> bool:
    try:
        return parse_quantity(text) >= 0
    except EvaluationError:
        return False


def _is_duration(text: str) -> bool:
    return duration_seconds(text) is not None


FORMATS: Final[Mapping[str, tuple[Callable[[str], bool], str]]] = MappingProxyType(
    {
        "text": (lambda _: True, "any text"),
        "registry": (lambda text: bool(_REGISTRY.fullmatch(text)), "a registry, as in registry.example.com:5000"),
        "image": (lambda text: bool(_IMAGE.fullmatch(text)), "an image, as in registry.example.com/name:v1"),
        "url": (_is_url, "an http or https URL without credentials, as in https://example.com"),
        "proxy": (_is_url, "an http or https URL without credentials, as in http://proxy.example.com:3128"),
        "duration": (_is_duration, "a duration, as in 90s, 24h or 1h30m"),
        "quantity": (_is_quantity, "a quantity of 0 or more, as in 500M or 1Gi"),
    }
)
"""Whether a text is of a format, and what is wanted; blank is none of theirs."""
