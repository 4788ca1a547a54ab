"""What an evaluation came to: the three outcomes.

How they come about is `evaluate`'s business.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class OutcomeKind(StrEnum):
    """What an evaluation came to."""

    VALUE = "value"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class Outcome(Struct, frozen=True):
    """What a section answered.

    Shape: `value` is an object (`first`, `merge`, `sum`) or a list (`list`), None unless `kind` is value. `fired` are rule
    ids in firing order; for a `list` section one id an item. `reason` says why it could not tell.
    """

    kind: OutcomeKind
    value: Any = None
    fired: tuple[str, ...] = ()
    reason: str = ""
