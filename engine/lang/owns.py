"""Which keys a section may emit: its `owns` patterns.

A key that is ours can be removed when it goes stale; one outside the patterns could never be, so it is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.errors import EvaluationError
from engine.lang import ir
from engine.lang.diagnostics import Diagnostics
from engine.lang.source import Place
from engine.lang.template import TemplateError, parse_template
from engine.lang.tree import Node, Scalar, Seq

_CONSTANT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


class OwnedKeys(Struct, frozen=True):
    """Patterns of keys; `*` stands for any text, the empty one included."""

    patterns: tuple[str, ...]
    diagnostics: Diagnostics

    @classmethod
    def read(cls, node: Node | None, constants: Mapping[str, Any], diagnostics: Diagnostics) -> OwnedKeys:
        """The patterns of a section, `$(const.x)` in them filled in."""
        made: list[str] = []
        for item in node.items if isinstance(node, Seq) else ():
            if isinstance(item, Scalar) and isinstance(item.value, str):
                pattern = _filled(item, constants, diagnostics)
                if pattern is not None:
                    made.append(pattern)
        return cls(tuple(made), diagnostics)

    def check(self, key: str | ir.Text, place: Place) -> None:
        """Report a key that no pattern can cover. A computed key is judged by the text it starts with."""
        if isinstance(key, str):
            if any(_matches(pattern, key) for pattern in self.patterns):
                return
            shown = key
        else:
            first = key.parts[0]
            if not isinstance(first, str) or any(_may_match(pattern, first) for pattern in self.patterns):
                return
            shown = f"{first}…"
        self.diagnostics.error(
            "RP523",
            f"the key {json.dumps(shown, ensure_ascii=False)} is outside what the section owns",
            place,
            help=f"owned: {', '.join(self.patterns)}; add a pattern under `owns`, or the key can never be removed",
        )


def _filled(item: Scalar, constants: Mapping[str, Any], diagnostics: Diagnostics) -> str | None:
    try:
        parts = [p if isinstance(p, str) else _constant(p.text, constants) for p in parse_template(item.text).parts]
    except (TemplateError, EvaluationError) as error:
        diagnostics.error(
            "RP320", error.what, item.place, help="an `owns` pattern is text, `*` and constants like $(const.x)"
        )
        return None
    return "".join(parts)


def _constant(text: str, constants: Mapping[str, Any]) -> str:
    value: Any = constants
    for step in text.split(".") if _CONSTANT.fullmatch(text) else [""]:
        value = value.get(step) if isinstance(value, Mapping) else None
    if not isinstance(value, str):
        raise EvaluationError(f"`{text}` is no text constant")
    return value


def _matches(pattern: str, key: str) -> bool:
    return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), key) is not None


def _may_match(pattern: str, start: str) -> bool:
    """Whether some key that begins with `start` can match: one of the two fixed beginnings begins with the other."""
    fixed = pattern.split("*", 1)[0]
    return start.startswith(fixed) or ("*" not in pattern and pattern.startswith(start)) or fixed.startswith(start)
