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


TEXT: Final = "{} == ''"
NO: Final = "!{}"
LIST: Final = "{}.size() == 0"
OBJECT: Final = "false"
"""When a field of that type says as much as an absent one, as it does for a writer in Go; an object never does."""


def unchanged(field: str, is_empty: str) -> str:
    """The field has the value it had; absent and empty are one value.

    Written with `has` and not with optionals: the API server knows no bound for what `orValue` gives, and refuses the rule.
    """
    now, before = f"self.{field}", f"oldSelf.{field}"
    return (
        f"(has({now}) ? (has({before}) ? {now} == {before} : {is_empty.format(now)})"
        f" : (!has({before}) || {is_empty.format(before)}))"
    )


def all_of(conditions: Iterable[str]) -> str:
    """Every condition holds."""
    return " && ".join(conditions)
