"""Rules of the API server about an object: expressions in CEL, with the message and the field they blame.

Builds texts only; the API server evaluates them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class Blame(StrEnum):
    """How a refusal reads: `spec.a: Invalid value: …`, `spec.a: Required value: …`, `spec.a: Forbidden: …`."""

    INVALID = "FieldValueInvalid"
    REQUIRED = "FieldValueRequired"
    FORBIDDEN = "FieldValueForbidden"


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition that must hold. `field` is the blamed field, seen from the object that has the rule.

    `on_create`: judged when the object is made, never again.
    """

    holds: str
    message: str
    field: str = ""
    blame: Blame = Blame.INVALID
    on_create: bool = False

    def schema(self) -> dict[str, Any]:
        """The entry of `x-kubernetes-validations`."""
        made: dict[str, Any] = {"rule": self.holds, "message": self.message, "reason": str(self.blame)}
        if self.field:
            made["fieldPath"] = f".{self.field}"
        if self.on_create:
            made |= {"rule": f"oldSelf.hasValue() || ({self.holds})", "optionalOldSelf": True}
        return made


TEXT: Final = "''"
NO: Final = "false"
LIST: Final = "[]"
OBJECT: Final = ""
"""What an absent field of that type equals; an object that is absent equals nothing else."""


def unchanged(field: str, absent: str) -> str:
    """The field has the value it had; absent and empty are one value, as they are to a writer in Go."""
    suffix = f".orValue({absent})" if absent else ""
    return f"self.?{field}{suffix} == oldSelf.?{field}{suffix}"


def all_of(conditions: Iterable[str]) -> str:
    """Every condition holds."""
    return " && ".join(conditions)
