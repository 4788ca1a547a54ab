"""Which keys and values may become labels and annotations of a Node; the first fault of a key drops that key only.

Nothing is repaired: a value that does not fit is told, with a remedy. Source: specification 50 §1.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.features.keys import DEFAULT_PREFIX, PROFILE_DOMAIN
from engine.lang.patterns import SafePattern
from engine.values.names import is_label_key, is_label_value

ANNOTATION_BYTES: Final = 1024
_FEATURE_DOMAIN: Final = DEFAULT_PREFIX.rstrip("/")
_KUBERNETES: Final = "kubernetes.io"


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What an administrator forbids or allows beyond the rules.

    Shape: a denied domain is exact (`vendor.io`), all below one (`*.vendor.io`) or everything (`*`); `extra` domains are
    exact and win over both; `white_list` is looked for in the part after the `/`.
    """

    denied: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    white_list: SafePattern | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a key is dropped, and what to do about it."""

    reason: str
    remedy: str


NO_RESTRICTIONS: Final = Restrictions()


def label_fault(key: str, value: str, restrictions: Restrictions = NO_RESTRICTIONS) -> Fault | None:
    """What is wrong with a label; None when it may be written."""
    return _label_key_fault(key, restrictions) or _label_value_fault(value) or _unlisted(key, restrictions)


def annotation_fault(key: str, value: str) -> Fault | None:
    """What is wrong with an annotation; None when it may be written."""
    fault = _name_fault(key)
    if fault is not None:
        return fault
    domain = key.partition("/")[0]
    if _is_under(domain, _KUBERNETES) and not _is_under(domain, _FEATURE_DOMAIN):
        return _forbidden(domain)
    size = len(value.encode())
    if size > ANNOTATION_BYTES:
        return Fault(f"the value has {size} bytes, at most {ANNOTATION_BYTES} are allowed", "shorten the value")
    return None


@lru_cache(maxsize=8192)
def _label_key_fault(key: str, restrictions: Restrictions) -> Fault | None:
    fault = _name_fault(key)
    if fault is not None:
        return fault
    domain = key.partition("/")[0]
    if domain in restrictions.extra:
        return None
    if any(_is_denied(domain, entry) for entry in restrictions.denied):
        return Fault(f"the domain {domain} is denied", "take it out of denyLabelNs, or use another domain")
    is_free = _is_under(domain, _FEATURE_DOMAIN) or _is_under(domain, PROFILE_DOMAIN)
    return None if is_free or not _is_under(domain, _KUBERNETES) else _forbidden(domain)


@lru_cache(maxsize=8192)
def _label_value_fault(value: str) -> Fault | None:
    if is_label_value(value):
        return None
    return Fault(
        f"{_shown(value)} is no label value",
        "use at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
    )


def _unlisted(key: str, restrictions: Restrictions) -> Fault | None:
    name = key.partition("/")[2]
    if restrictions.white_list is None or restrictions.white_list.matches(name):
        return None
    return Fault(f"{name} is not on the white list {restrictions.white_list.text}", "add it to labelWhiteList")


def _name_fault(key: str) -> Fault | None:
    if not is_label_key(key):
        return Fault(f"{_shown(key)} is no qualified name", "write `domain/name`, a DNS name and at most 63 characters")
    # Every key has got its prefix by now; one without would be nobody's.
    return None if "/" in key else Fault(f"{key} has no domain", "write `domain/name`")


def _forbidden(domain: str) -> Fault:
    return Fault(f"the domain {domain} belongs to Kubernetes", f"use {_FEATURE_DOMAIN} or a domain of your own")


def _is_under(domain: str, above: str) -> bool:
    return domain == above or domain.endswith(f".{above}")


def _is_denied(domain: str, entry: str) -> bool:
    return domain.endswith(entry[1:]) if entry.startswith("*") else domain == entry


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
