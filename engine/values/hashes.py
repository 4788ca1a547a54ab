"""Digests that names and programs carry: FNV-1a 64, SHA-256, and the topology profile.

Nothing here decides what is hashed or where a digest goes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache

from engine.errors import EvaluationError

_FNV64_OFFSET = 0xCBF29CE484222325
_FNV64_PRIME = 0x100000001B3
_MASK_64 = (1 << 64) - 1
_SHA256_DIGITS = 64


@lru_cache(maxsize=16384)
def fnv64a(text: str) -> str:
    """FNV-1a 64 of the UTF-8 bytes, 16 lower-case hex digits, zero padded.

    Source: specification 20 §1.5 (offset, prime, check values).
    Cost: about 8 µs for 60 bytes the first time; names repeat, so the last 16,384 are kept.
    """
    value = _FNV64_OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * _FNV64_PRIME) & _MASK_64
    return f"{value:016x}"


def sha256_hex(text: str, digits: int) -> str:
    """The first `digits` lower-case hex digits of the SHA-256 of the UTF-8 bytes.

    Raises: EvaluationError: `digits` is not 1 to 64.
    """
    if not 1 <= digits <= _SHA256_DIGITS:
        raise EvaluationError(f"a SHA-256 has no {digits} hex digits", remedy=f"ask for 1 to {_SHA256_DIGITS} of them")
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def profile_hash(levels: Sequence[str]) -> str:
    """The topology profile of node label keys from coarse to fine, hostname last.

    Source: specification 20 §10 (levels joined with NUL).
    """
    return "fnv64-" + fnv64a("\0".join(levels))
