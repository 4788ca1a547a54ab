"""Templates: texts with `$(expression)` in them.

Cuts a text into literal parts and holes; knows where quotes and brackets of an expression end, and nothing of what the
expression means. `$$(` is a literal `$(`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from engine.errors import EngineError

_QUOTES: Final = "'\"`"


class TemplateError(EngineError):
    """A template whose `$(` is never closed. `start` and `end` are character offsets into the text."""

    def __init__(self, what: str, start: int, end: int, remedy: str) -> None:
        super().__init__(what, remedy=remedy)
        self.start, self.end = start, end


class Hole(Struct, frozen=True):
    """One `$(…)`: the expression's text and where it starts in the template."""

    text: str
    start: int


class Template(Struct, frozen=True):
    """A text cut into literal parts and holes, in order; a text without holes has at most one part."""

    parts: tuple[str | Hole, ...]

    @property
    def alone(self) -> Hole | None:
        """The hole, when the whole text is one: then the value keeps its type."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Hole):
            return self.parts[0]
        return None

    @property
    def literal(self) -> str | None:
        """The text, when there is no hole in it."""
        if any(isinstance(part, Hole) for part in self.parts):
            return None
        return "".join(part for part in self.parts if isinstance(part, str))


def parse_template(text: str) -> Template:
    """Cut a text. Raises TemplateError when a `$(` is not closed or holds nothing."""
    if "$(" not in text:
        return Template((text,) if text else ())
    parts: list[str | Hole] = []
    literal: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("$$(", at):
            literal.append("$(")
            at += 3
        elif text.startswith("$(", at):
            end = _close(text, at)
            inside = text[at + 2 : end]
            if not inside.strip():
                raise TemplateError("an empty template `$()`", at, end + 1, "write an expression between the brackets")
            if literal:
                parts.append("".join(literal))
                literal = []
            lead = len(inside) - len(inside.lstrip())
            parts.append(Hole(inside.strip(), at + 2 + lead))
            at = end + 1
        else:
            next_at = text.find("$", at + 1)
            literal.append(text[at:] if next_at < 0 else text[at:next_at])
            at = len(text) if next_at < 0 else next_at
    if literal:
        parts.append("".join(literal))
    return Template(tuple(parts))


def _close(text: str, start: int) -> int:
    """Offset of the bracket that closes the `$(` at `start`."""
    depth, at = 0, start + 1
    while at < len(text):
        char = text[at]
        if char in _QUOTES:
            at = _skip_quoted(text, at)
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise TemplateError(
        "a template `$(` is never closed", start, len(text), "close the bracket, or write `$$(` for a literal `$(`"
    )


def _skip_quoted(text: str, start: int) -> int:
    """Offset of the quote that ends the one at `start` (or the end of the text)."""
    quote, at = text[start], start + 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at
