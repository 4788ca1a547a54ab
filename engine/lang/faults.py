"""What the reader finds wrong in a file, worded for people.

The reader walks the parser's events and says when something is off; where exactly, why, and how to mend it is said here.
Builds no tree.
"""

from __future__ import annotations

from bisect import bisect_right

from engine.lang.complaint import Complaint, explain, quote_value, report_reference, report_tab
from engine.lang.cut import has_open_parenthesis, intended_end
from engine.lang.diagnostics import Diagnostic, Diagnostics, Edit, Fix, Related, Severity
from engine.lang.scalars import Objection, quoted
from engine.lang.source import Place, Span
from engine.lang.text import Text
from engine.lang.tree import Node, Scalar, Style

# Ours: nobody reads more, and a hostile file could hold fifty thousand.
MAX_FINDINGS = 500


class TooMany(Exception):  # noqa: N818 - ends the reading of one file, its causes already reported
    """Nothing more is worth reading in this file."""


class Faults:
    """The findings of one file while it is read."""

    def __init__(self, text: Text, diagnostics: Diagnostics) -> None:
        self._text = text
        self._source = text.source
        self._diagnostics = diagnostics
        # Where a value starts and was meant to end that is reported as cut by YAML: what lies between are fragments.
        self._cut = Span(-1, -1)
        self.has_cut = False
        # Kept back by position: a failure of the parser at the same place explains them.
        self._empties: list[tuple[int, Diagnostic]] = []
        self._last_reference = -1

    def is_fragment(self, at: int) -> bool:
        """Whether the byte belongs to a value already reported as cut."""
        return self._cut.start < at < self._cut.end

    def error(
        self,
        code: str,
        message: str,
        place: Place,
        advice: str,
        *,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Report one fault. Raises: TooMany: there are enough."""
        self._diagnostics.error(code, message, place, help=advice, related=related, fix=fix)
        self._stop_at_the_limit()

    def directive(self, start: int, end: int) -> None:
        place = self._text.place(start, end)
        self.error(
            "RP130", "a YAML directive changes how the document is read", place, "remove the line that starts with `%`"
        )

    def empty_document(self, at: int) -> None:
        place = self._text.place(at, at)
        self.error("RP106", "the document is empty", place, "remove it (and its `---`), or write a pack")

    def too_deep(self, at: int, limit: int) -> None:
        message = f"lists and maps are nested more than {limit} deep"
        self.error("RP103", message, self._text.place(at, at + 1), "flatten the structure")
        raise TooMany

    def too_many_nodes(self, at: int, limit: int) -> None:
        message = f"the file holds more than {limit} values"
        self.error("RP801", message, self._text.place(at, at + 1), "split it: a pack may be a directory of files")
        raise TooMany

    def failure(self, complaint: Complaint) -> None:
        """The parser gave up; what it had read until then stays."""
        at = self._text.byte(min(complaint.at, len(self._text.characters)))
        self._empties = [(empty_at, found) for empty_at, found in self._empties if empty_at != at]
        # In `{b: !(c), d: e}` the parser takes the comma into the tag and trips over what follows.
        follows_a_reference = (
            self._last_reference >= 0 and "\n" not in self._text.characters[self._last_reference : complaint.at]
        )
        if not self.is_fragment(at) and not follows_a_reference:
            explain(self._text, complaint, self._diagnostics)

    def reference(self, at: int, *, in_flow: bool) -> None:
        """An anchor, alias or tag."""
        self._last_reference = at
        report_reference(self._text, at, self._diagnostics, in_flow=in_flow)
        self._stop_at_the_limit()

    def ambiguous(self, text: str, objection: Objection, start: int, end: int, *, is_key: bool) -> None:
        """A plain text that readers take differently."""
        place = self._text.place(start, end)
        if text == "<<" and is_key:
            self.error("RP130", "`<<` is a merge key", place, "packs share with `let`, `tables` or a Library")
            return
        self._diagnostics.add(
            objection.code,
            objection.why,
            place,
            help=objection.help,
            fix=Fix((Edit(place.span, objection.fix),)) if objection.fix else None,
            severity=objection.severity,
        )
        self._stop_at_the_limit()

    def cut_template(self, start: int, end: int, *, in_flow: bool, is_key: bool) -> None:
        """A template that YAML ended before its `)`."""
        characters = self._text.characters
        meant = intended_end(characters, start, in_flow=in_flow, is_key=is_key)
        self._cut = self._text.span(start, meant if meant is not None and meant > end else end)
        self.has_cut = True
        after = characters[end : end + 1]
        culprit = "at `,`" if after == "," else "at ` #`" if characters[end:].lstrip(" \t")[:1] == "#" else "here"
        self.error(
            "RP320",
            f"the template has no closing `)`: YAML ends it {culprit}",
            self._text.place(start, end),
            "quote the whole text; unquoted, YAML cuts it at `,` inside { } and [ ], and at ` #` everywhere",
            fix=quote_value(self._text, start, in_flow=in_flow, is_key=is_key),
        )

    def duplicate_key(self, first: Scalar, second: Scalar) -> None:
        lines = [self._source.position(key.span.start).line for key in (first, second)]
        self.error(
            "RP120",
            f"the key `{second.text}` stands in line {lines[0]} and again in line {lines[1]}",
            second.place,
            "keep one of the two",
            related=(Related("the first one", first.place),),
        )

    def key_type(self, key: Scalar) -> None:
        if not key.text:
            self.error("RP112", "the key is empty", key.place, "write a key before the `:`")
            return
        kind = {bool: "boolean", int: "integer"}.get(type(key.value), "null")
        self.error(
            "RP111",
            f"a key must be a string, got {kind} written `{key.text}`",
            key.place,
            f"quote it: {quoted(key.text)}",
            fix=Fix((Edit(key.span, quoted(key.text)),)),
        )

    def empty_item(self, item: Node) -> None:
        self._empty(item, "the list item is empty", item.place, "delete it, or give it a value")

    def empty_value(self, key: Scalar, value: Node, before: Node | None, *, in_flow: bool) -> None:
        """A key without a value. `before` is the value before it, where a comma may have cut it."""
        if in_flow and isinstance(before, Scalar) and before.style is Style.PLAIN:
            if has_open_parenthesis(before.text):
                self._cut_expression(key, before)
                return
            advice = "a comma ends a value inside { }: give the key a value, or quote the text before it"
        else:
            advice = "delete the key, or give it a value (a text, a list, a map)"
            rest = self._source.data[value.span.end :].split(b"\n", 1)[0]
            if rest.lstrip().startswith(b"#"):
                advice += "; did you mean to quote the text? ` #` starts a comment"
        self._empty(value, f"`{key.text}` has an empty value", key.place, advice)

    def finish(self, last_end: int, opaque: list[tuple[int, int]]) -> None:
        """Report what can only be told at the end: values still empty, and tabs outside quoted and block texts."""
        self._diagnostics.extend(found for _, found in self._empties[:MAX_FINDINGS])
        characters = self._text.characters
        at = characters.find("\t")
        reported = {found.place.span.start for found in self._diagnostics if found.place and found.code == "RP105"}
        while 0 <= at < last_end and len(self._diagnostics) < MAX_FINDINGS:
            if not _is_content(characters, at, opaque) and self._text.byte(at) not in reported:
                report_tab(self._text, at, self._diagnostics)
            at = characters.find("\t", at + 1)

    def _cut_expression(self, key: Scalar, before: Scalar) -> None:
        start = self._text.character(before.span.start)
        fix = quote_value(self._text, start, in_flow=True)
        self._cut = Span(before.span.start, fix.edits[0].span.end if fix else key.span.end)
        self.has_cut = True
        self.error(
            "RP112",
            f"`{key.text}` has an empty value: YAML cut the text before it at the comma",
            key.place,
            "quote the whole text, or write the map in block form",
            related=(Related("the text that was cut", before.place),),
            fix=fix,
        )

    def _empty(self, value: Node, message: str, place: Place, advice: str) -> None:
        finding = Diagnostic("RP112", message, Severity.ERROR, place, help=advice)
        self._empties.append((value.span.start, finding))

    def _stop_at_the_limit(self) -> None:
        if len(self._diagnostics) >= MAX_FINDINGS:
            raise TooMany


def _is_content(characters: str, at: int, opaque: list[tuple[int, int]]) -> bool:
    """Whether a character lies in a quoted or block text (`opaque`, ascending), or in a comment."""
    line_start = characters.rfind("\n", 0, at) + 1
    before = bisect_right(opaque, (at, len(characters))) - 1
    if before >= 0:
        if at < opaque[before][1]:
            return True
        line_start = max(line_start, opaque[before][1])
    lead = characters[line_start:at]
    return lead.lstrip(" ").startswith("#") or " #" in lead or "\t#" in lead
