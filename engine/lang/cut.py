"""Values that YAML cut short: a comma, a ` #` or a `: ` inside an unquoted template or expression.

`{b: $(f(x, y))}` loads as two keys without an error, so the reader looks for the rest of such a value here, and the way
to quote it. Works on characters; knows no spans and reports nothing.
"""

from __future__ import annotations

_FLOW_ENDS = frozenset(",]}")
_QUOTES = frozenset("'\"`")


def has_open_template(text: str) -> bool:
    """Whether some `$(` of a text has no matching `)`; `$$(` is no template."""
    at = text.find("$(")
    while at >= 0:
        if text[at - 1 : at] == "$":
            at = text.find("$(", at + 2)
            continue
        end = closing(text, at + 1, len(text))
        if end is None:
            return True
        at = text.find("$(", end)
    return False


def has_open_parenthesis(text: str) -> bool:
    """Whether more parentheses are opened than closed, whatever stands in quotes."""
    return text.count("(") > text.count(")")


def closing(text: str, start: int, stop: int) -> int | None:
    """Position after the `)` that closes the `(` at `start`; None when there is none before `stop`."""
    depth = 0
    at = start
    while at < stop:
        character = text[at]
        if character in _QUOTES:
            end = _closing_quote(text, at, stop)
            if end is None:
                return None
            at = end
            continue
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def intended_end(text: str, start: int, *, in_flow: bool, is_key: bool = False) -> int | None:
    """Where the value that starts at `start` was meant to end; None when its parentheses do not close on its line.

    Shape: trailing blanks and a comment are not part of the value; a key ends at its `:`.
    """
    stop = _line_end(text, start)
    at = start
    while at < stop:
        character = text[at]
        if character == "(":
            end = closing(text, at, stop)
            if end is None:
                return None
            at = end
            continue
        if (in_flow and character in _FLOW_ENDS) or (character == "#" and text[at - 1 : at] in (" ", "\t")):
            break
        if is_key and character == ":" and text[at + 1 : at + 2] in ("", " ", "\n", "\r"):
            break
        at += 1
    return start + len(text[start:at].rstrip())


def _closing_quote(text: str, start: int, stop: int) -> int | None:
    at = start + 1
    while at < stop:
        if text[at] == "\\":
            at += 1
        elif text[at] == text[start]:
            return at + 1
        at += 1
    return None


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" and end > start else end
