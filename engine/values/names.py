"""Names made from other names: slugs, label values, DNS labels, cut names, and the predicates that judge them.

Nothing here knows which prefix, budget or suffix a key takes; callers (rules, mostly) pass them in. Apart from
`truncate_hash`, which is for new names only, nothing is ever hashed: a long name is simply cut, because names written
by earlier releases were.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.errors import EvaluationError
from engine.values.hashes import sha256_hex

LABEL_VALUE_LIMIT = 63
"""Source: Kubernetes label syntax; also the limit of a label key's name part and of a DNS label."""

SUBDOMAIN_LIMIT = 253
"""Source: RFC 1123 as Kubernetes applies it."""

HASH_DIGITS = 12
"""Hex digits `truncate_hash` appends: 48 bits, chosen so that a fleet's names do not collide by chance."""

_SEPARATORS = "-_."
_TRADEMARKS = re.compile(r"\((?:R|r|TM|tm)\)")
_LEADING_CRUFT = re.compile(r"(?:Genuine |[0-9]+(?:st|nd|rd|th) Gen )+")
_TRAILING_CORES = re.compile(r" [0-9]+-cores?\Z", re.IGNORECASE)
_NOT_DNS = re.compile(r"[^a-z0-9]+")
_NAME_PART = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")


@lru_cache(maxsize=8192)
def slug(name: str, prefix: str, max_length: int) -> str:
    """The key form of a product name, with a leading `prefix` removed as often as it leads.

    Units: `max_length` is in characters; 0 or less means no limit.
    Shape: lower-case `[a-z0-9-_.]`, no leading, trailing or doubled separator; empty when nothing survives. The prefix
    goes without regard to word boundaries (`ACME64 X` without `acme` is `64-x`).
    Source: specification 20 §1.1, bit for bit.
    """
    limit = max_length if max_length > 0 else len(name.encode())
    wanted_prefix = prefix.lower()
    kept = ""
    for char in name:
        if len(kept) >= limit:
            break
        lowered = _slug_char(char)
        if not lowered or (lowered in _SEPARATORS and (not kept or kept[-1] in _SEPARATORS)):
            continue
        kept += lowered
        if kept == wanted_prefix:
            kept = ""
    return _without_one_trailing_separator(kept)


@lru_cache(maxsize=8192)
def cpu_slug(name: str, prefix: str, max_length: int) -> str:
    """`slug` after what vendors put around a CPU's name is gone: clock, trademarks, generation, core count.

    Source: specification 20 §1.1 step 1, in its order.
    """
    head, _, _ = name.partition(" @ ")
    head = _TRADEMARKS.sub("", head)
    leading = _LEADING_CRUFT.match(head)
    head = (head[leading.end() :] if leading else head).strip()
    head = head.removesuffix(" CPU").removesuffix(" Processor")
    return slug(_TRAILING_CORES.sub("", head), prefix, max_length)


def sanitize(text: str) -> str:
    """The label-value form of any text, cut at 63 characters: `Tesla T4` is `Tesla-T4`, `{0,1}` is `01`.

    Source: specification 20 §1.4.
    """
    return _without_one_trailing_separator(_label_characters(text)[:LABEL_VALUE_LIMIT])


def label_value(text: str) -> str:
    """`sanitize` for a value that must not lose its tail.

    Raises: EvaluationError: more than 63 characters would remain, so the cut could make two values equal.
    """
    kept = _without_one_trailing_separator(_label_characters(text))
    if len(kept) > LABEL_VALUE_LIMIT:
        raise EvaluationError(
            f"{text!r} makes a label value of {len(kept)} characters",
            why=f"a label value has at most {LABEL_VALUE_LIMIT}",
            remedy="use sanitize() to cut it, or truncate_hash() to keep cut values apart",
        )
    return kept


def dns_label(text: str) -> str:
    """The DNS-label form of a text: lower case, every run of other characters one `-`, none at the ends.

    Raises: EvaluationError: nothing is left, or more than 63 characters are (a silent cut could make two names equal).
    """
    kept = _NOT_DNS.sub("-", text.lower()).strip("-")
    if not kept:
        raise EvaluationError(f"{text!r} has no character a DNS label can hold", remedy="give it a letter or a digit")
    if len(kept) > LABEL_VALUE_LIMIT:
        raise EvaluationError(
            f"{text!r} makes a DNS label of {len(kept)} characters",
            why=f"a DNS label has at most {LABEL_VALUE_LIMIT}",
            remedy="use truncate_hash() first",
        )
    return kept


def truncate(text: str, max_length: int) -> str:
    """The first `max_length` characters.

    Raises: EvaluationError: `max_length` is negative.
    """
    if max_length < 0:
        raise EvaluationError(f"cannot cut a text to {max_length} characters", remedy="give a length of 0 or more")
    return text[:max_length]


def truncate_hash(text: str, max_length: int) -> str:
    """A text that fits and neither begins nor ends with `-`, `_` or `.`; whatever had to change ends in 12 hex digits.

    Shape: the text itself when nothing had to change, so the function is idempotent; otherwise the head, trimmed, `-`
    and the digits of the whole text's SHA-256, so that two texts with one head stay apart.
    Units: `max_length` is in bytes of UTF-8, because what limits a name counts bytes; no character is split.
    Raises: EvaluationError: `max_length` leaves no room for a byte, the dash and the digits.
    """
    if max_length < HASH_DIGITS + 2:
        raise EvaluationError(
            f"cannot cut a text to {max_length} bytes and keep it unique",
            why=f"the digest alone takes {HASH_DIGITS + 1}",
            remedy=f"give a length of {HASH_DIGITS + 2} or more",
        )
    trimmed = text.strip(_SEPARATORS)
    if text == trimmed and len(text.encode()) <= max_length:
        return text
    digest = sha256_hex(text, HASH_DIGITS)
    head = trimmed.encode()[: max_length - HASH_DIGITS - 1].decode(errors="ignore").rstrip(_SEPARATORS)
    return f"{head}-{digest}" if head else digest


def is_dns_subdomain(text: str) -> bool:
    """Lower-case labels joined with dots, at most 253 characters."""
    return len(text) <= SUBDOMAIN_LIMIT and _DNS_SUBDOMAIN.fullmatch(text) is not None


def is_qualified_name(text: str) -> bool:
    """`name` or `prefix/name`: the syntax of label keys, annotation keys and resource names."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_dns_subdomain(prefix):
        return False
    return len(name) <= LABEL_VALUE_LIMIT and _NAME_PART.fullmatch(name) is not None


def is_label_key(text: str) -> bool:
    """A label key is a qualified name."""
    return is_qualified_name(text)


def is_label_value(text: str) -> bool:
    """Empty, or at most 63 characters with a letter or digit at both ends."""
    return not text or (len(text) <= LABEL_VALUE_LIMIT and _NAME_PART.fullmatch(text) is not None)


def _slug_char(char: str) -> str:
    if char == " ":
        return "-"
    if char.isascii() and (char.isalnum() or char in _SEPARATORS):
        return char.lower()
    return ""


def _label_characters(text: str) -> str:
    kept: list[str] = []
    for char in text:
        mapped = "-" if char == " " else char
        if mapped in _SEPARATORS:
            if kept and kept[-1] not in _SEPARATORS:
                kept.append(mapped)
        elif mapped.isascii() and mapped.isalnum():
            kept.append(mapped)
    return "".join(kept)


def _without_one_trailing_separator(text: str) -> str:
    return text[:-1] if text and text[-1] in _SEPARATORS else text
