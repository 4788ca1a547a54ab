"""What the YAML parser's complaints mean for somebody who writes packs, and how to mend the text.

The parser stops at its first complaint and words it for parser authors; the causes seen in packs are few. Knows the
text around a complaint, not the tree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from engine.lang.cut import intended_end
from engine.lang.diagnostics import Diagnostics, Edit, Fix, Related
from engine.lang.scalars import quoted, read_plain

if TYPE_CHECKING:
    from engine.lang.text import Text

_REFERENCES = {"!": "opens a tag", "&": "opens an anchor", "*": "names an alias"}
_RESERVED = "@`%"
_KEY = re.compile(r"[^\s,{}\[\]]+\Z")


class Complaint(Struct, frozen=True):
    """Where and why the parser stopped, in characters, and what it had read until then."""

    problem: str
    at: int
    context: str
    context_at: int | None
    last_scalar: tuple[int, int] | None
    last_end: int
    in_flow: bool


def explain(text: Text, complaint: Complaint, diagnostics: Diagnostics) -> None:
    """Report a complaint in the words of a pack's author."""
    characters, at = text.characters, complaint.at
    value_at = _next_value(characters, complaint.last_end)
    opener = characters[value_at : value_at + 1]
    if characters[at : at + 1] == "\t" or "tab character" in complaint.problem:
        report_tab(text, at, diagnostics)
    elif characters.startswith("?:", at) and complaint.in_flow:
        _optional_key(text, at, diagnostics)
    elif opener in _REFERENCES and value_at <= at:
        report_reference(text, value_at, diagnostics, in_flow=complaint.in_flow)
    elif characters[at : at + 1] in tuple(_RESERVED) and "cannot start" in complaint.problem:
        what = f"a plain text cannot start with `{characters[at]}`"
        fix = quote_value(text, at, in_flow=complaint.in_flow)
        diagnostics.error("RP102", what, text.place(at, at + 1), help="quote the whole value", fix=fix)
    elif complaint.problem == "found unexpected ':'" and complaint.context_at is not None:
        _flow_colon(text, complaint.context_at, diagnostics)
    elif characters[at : at + 1] == ":" and complaint.last_scalar and complaint.last_scalar[1] == at:
        _colon(text, complaint, diagnostics)
    else:
        _other(text, complaint, diagnostics)


def report_tab(text: Text, at: int, diagnostics: Diagnostics) -> None:
    """Report the tab at a character position."""
    place = text.place(at, at + 1)
    line_start = text.characters.rfind("\n", 0, at) + 1
    column = text.source.position(place.span.start).column
    indents = not text.characters[line_start:at].strip()
    diagnostics.error(
        "RP105",
        f"a tab stands in column {column}",
        place,
        help="use spaces; YAML readers disagree about tabs",
        fix=Fix((Edit(place.span, "  " if indents else " "),)),
    )


def report_reference(text: Text, at: int, diagnostics: Diagnostics, *, in_flow: bool) -> None:
    """Report the anchor, alias or tag that starts at a character position."""
    opener = text.characters[at : at + 1]
    meaning = _REFERENCES.get(opener, "opens a reference")
    end = intended_end(text.characters, at, in_flow=in_flow) or at + 1
    written = text.characters[at:end]
    is_expression = bool(re.match(r"!\s*(?:\(|[A-Za-z_]+[(.])|&\S*\s*$|\*\.", written))
    advice = "packs hold no anchors, aliases and tags: share with `let`, `tables` or a Library"
    if is_expression:
        advice = "quote the whole text" + (", or write not(…)" if opener == "!" else "")
    else:
        end = at + len(written.split()[0])
    diagnostics.error(
        "RP130",
        f"`{opener}` {meaning} in YAML",
        text.place(at, end),
        help=advice,
        fix=quote_value(text, at, in_flow=in_flow) if is_expression else None,
    )


def quote_value(text: Text, start: int, *, in_flow: bool, is_key: bool = False) -> Fix | None:
    """The fix that quotes the value (or key) starting at a character position; None when its end cannot be told."""
    end = intended_end(text.characters, start, in_flow=in_flow, is_key=is_key)
    if end is None or end <= start:
        return None
    return Fix((Edit(text.span(start, end), quoted(text.characters[start:end])),))


def _next_value(characters: str, at: int) -> int:
    """Where the next value starts: past blanks and the indicators between two values."""
    while at < len(characters) and (characters[at] in " \t\r\n:,{[" or characters.startswith("- ", at)):
        at += 1
    return at


def _optional_key(text: Text, at: int, diagnostics: Diagnostics) -> None:
    key = _KEY.search(text.characters, 0, at)
    start = key.start() if key else at
    span = text.span(start, at + 1)
    written = text.characters[start : at + 1]
    diagnostics.error(
        "RP102",
        f"an optional key (`{written}:`) cannot stand unquoted inside {{ }}",
        text.place(start, at + 1),
        help="write the map in block form, one key a line, or quote the key",
        fix=Fix((Edit(span, quoted(written)),)) if key else None,
    )


def _colon(text: Text, complaint: Complaint, diagnostics: Diagnostics) -> None:
    start, end = complaint.last_scalar or (complaint.at, complaint.at)
    one_line = "\n" not in text.characters[start:end]
    if one_line:
        diagnostics.error(
            "RP102",
            "a plain text cannot hold `: `, which starts another value",
            text.place(complaint.at, complaint.at + 1),
            help="quote the whole text",
            fix=quote_value(text, start, in_flow=complaint.in_flow),
        )
        return
    what = "a key stands where the text of the lines above goes on"
    advice = "check the indentation of this line and the one above, or quote the whole text"
    if complaint.in_flow:
        what = "a key stands inside a `[` or `{` opened above"
        advice = "close the bracket, or quote the text"
    diagnostics.error("RP102", what, text.place(complaint.at, complaint.at + 1), help=advice)


def _flow_colon(text: Text, start: int, diagnostics: Diagnostics) -> None:
    end = intended_end(text.characters, start, in_flow=True) or start + 1
    written = text.characters[start:end]
    objection = read_plain(written).objection
    diagnostics.error(
        objection.code if objection else "RP102",
        objection.why if objection else "a plain text inside { } or [ ] cannot hold a `:`",
        text.place(start, end),
        help=f"quote it ({quoted(written)})",
        fix=quote_value(text, start, in_flow=True),
    )


def _other(text: Text, complaint: Complaint, diagnostics: Diagnostics) -> None:
    related: tuple[Related, ...] = ()
    if complaint.context_at is not None and complaint.context_at < complaint.at:
        place = text.place(complaint.context_at, complaint.context_at + 1)
        related = (Related(complaint.context, place),)
    at = min(complaint.at, len(text.characters))
    diagnostics.error(
        "RP102",
        f"not YAML: {complaint.problem}",
        text.place(at, min(at + 1, len(text.characters))),
        help="check indentation, brackets and quotes here and on the line above",
        related=related,
    )
