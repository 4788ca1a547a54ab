"""The catalogue of diagnostic codes: number, title, default severity and one line of explanation each.

A plain table, and the only list of codes there is. It raises nothing and words no message: who finds a fault words it.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct


class Severity(StrEnum):
    """How much a finding matters; only an error keeps a pack from loading."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(Struct, frozen=True):
    """One row of the catalogue. `name` is what a person sees and greps for: `RP110`."""

    name: str
    title: str
    severity: Severity
    explanation: str


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# Ranges: 0xx files, 1xx YAML, 2xx structure, 3xx expression syntax, 4xx types, 5xx meaning, 6xx linking, 7xx tests,
# 8xx limits and cost, 9xx run time.
_ROWS = (
    Code("RP001", "not a pack file", _ERROR, "A file among the packs has neither .yaml nor .yml as its ending."),
    Code("RP003", "file too big", _ERROR, "A file is larger than the reader accepts."),
    Code("RP004", "not UTF-8 text", _ERROR, "The bytes are not UTF-8, or hold control characters: not a text file."),
    Code(
        "RP101", "byte-order mark", _WARNING, "A byte-order mark is ignored at the start of a file, refused elsewhere."
    ),
    Code("RP102", "not YAML", _ERROR, "The text cannot be read as YAML at this place."),
    Code("RP103", "too deep", _ERROR, "Lists and maps are nested deeper than the reader accepts."),
    Code("RP104", "number out of range", _ERROR, "A number is not finite or not exact in every reader (beyond 2^53)."),
    Code("RP105", "tab", _ERROR, "A tab stands where YAML readers disagree about tabs; use spaces."),
    Code("RP106", "empty document", _ERROR, "A document holds nothing, or only comments."),
    Code("RP110", "ambiguous scalar", _ERROR, "Readers of YAML 1.1 and 1.2 take this plain text for different values."),
    Code("RP111", "wrong scalar type", _ERROR, "A value has another type than the one wanted here."),
    Code("RP112", "empty value", _ERROR, "A key or a list item has no value."),
    Code("RP120", "duplicate key", _ERROR, "One map holds one key twice; readers keep one of them without a word."),
    Code(
        "RP130", "anchor, alias, tag or merge key", _ERROR, "Packs share by libraries and lets, not by YAML references."
    ),
    Code("RP201", "unknown key", _ERROR, "A key is not one of those known here."),
    Code("RP202", "missing key", _ERROR, "A required key is not there."),
    Code("RP203", "wrong kind of node", _ERROR, "A map, a list or a scalar stands where another of them is wanted."),
    Code("RP204", "bad name or value", _ERROR, "A name breaks its pattern, or a value is not one of those allowed."),
    Code(
        "RP210", "unsupported apiVersion", _ERROR, "The document is of an API version or kind this engine cannot read."
    ),
    Code("RP301", "parse error", _ERROR, "An expression does not follow the grammar."),
    Code("RP311", "bareword literal", _ERROR, "Backticks hold JSON; a bare word in them is not."),
    Code("RP312", "double quotes", _ERROR, "Double quotes name a field; a text is written in single quotes."),
    Code("RP313", "misplaced !", _ERROR, "`!a.b` means `(!a).b`; write `not(a.b)`."),
    Code("RP320", "unbalanced template", _ERROR, "A `$(` has no matching `)`."),
    Code("RP330", "unsafe regular expression", _ERROR, "A pattern is outside the subset that matches in linear time."),
    Code("RP331", "unknown function", _ERROR, "No function has this name."),
    Code("RP332", "wrong number of arguments", _ERROR, "A function is called with too few or too many arguments."),
    Code("RP401", "unknown field", _ERROR, "The input of the section has no such field."),
    Code("RP410", "mixed comparison", _ERROR, "Values of different types are compared."),
    Code("RP411", "not boolean", _ERROR, "A condition is not a boolean; nothing else counts as true or false."),
    Code(
        "RP412",
        "projection drops null",
        _WARNING,
        "A projection leaves nulls out, so that positions and lengths shift.",
    ),
    Code("RP413", "nullable argument", _ERROR, "A function that takes no null is given a value that may be null."),
    Code(
        "RP414", "not visible inside a projection", _ERROR, "Inside a projection only the element itself can be seen."
    ),
    Code("RP415", "argument type", _ERROR, "A function is given a value of a type it does not take."),
    Code("RP421", "emit type", _ERROR, "An emitted value has another type than the section's emit shape says."),
    Code("RP422", "mixed template not text", _ERROR, "A part of a mixed text is neither text nor integer."),
    Code("RP423", "emit field", _ERROR, "An emit lacks a required field, or has one the shape does not know."),
    Code("RP501", "duplicate id", _ERROR, "Two rules have one id."),
    Code("RP502", "unused let", _WARNING, "A let is named by nothing."),
    Code("RP503", "unused table", _WARNING, "A table is named by nothing."),
    Code("RP504", "unused parameter", _WARNING, "A parameter is named by nothing."),
    Code("RP512", "unreachable rule", _ERROR, "An earlier rule always fires first."),
    Code("RP513", "two rules emit one key", _ERROR, "A scalar of a merged output comes from two rules."),
    Code("RP514", "shadowed table row", _WARNING, "An earlier row of a table matches everything this row matches."),
    Code(
        "RP515", "section combines differently", _ERROR, "`select` is not the one the section's catalogue entry names."
    ),
    Code("RP516", "rule can never fire", _ERROR, "The condition of a rule cannot be true."),
    Code("RP517", "always true", _WARNING, "The condition of a rule cannot be false."),
    Code("RP520", "name may be too long", _WARNING, "A name may come out longer than the 63 characters allowed."),
    Code("RP521", "PCI id claimed twice", _ERROR, "Two packs match one PCI device."),
    Code("RP522", "resource name claimed twice", _ERROR, "Two packs give their cards one resource name."),
    Code("RP523", "key outside owns", _ERROR, "A rule emits a key that no pattern of the section's `owns` covers."),
    Code("RP530", "mode without a visible key", _WARNING, "A served mode injects nothing that makes the card visible."),
    Code(
        "RP531",
        "resource name outside identity",
        _WARNING,
        "A resource name is spelled out where identity should be named.",
    ),
    Code("RP540", "call does not fit", _ERROR, "A prepare rule calls what `facts.intents` does not declare like that."),
    Code(
        "RP541",
        "unused intent",
        _WARNING,
        "An intent is called by no rule, or an outcome of it is neither accepted nor worded.",
    ),
    Code(
        "RP542",
        "hold without release",
        _ERROR,
        "What a slice holds and when the pack says it is released do not agree.",
    ),
    Code(
        "RP543",
        "recovery does not fit",
        _ERROR,
        "A recover block names a card, claim or call that the pack does not have, or could never be used.",
    ),
    Code("RP601", "defined twice", _ERROR, "Two packs define one thing."),
    Code(
        "RP610",
        "no such target",
        _ERROR,
        "An overlay or a use names a pack, rule, library or parameter that is not there.",
    ),
    Code("RP611", "version mismatch", _ERROR, "A pack's version is outside the range asked for."),
    Code("RP612", "conflict", _ERROR, "Two overlays change one thing."),
    Code("RP613", "sealed", _ERROR, "An overlay changes what may not be changed."),
    Code("RP614", "another Engine wanted", _ERROR, "A pack needs a version of Engine that this one is not."),
    Code("RP701", "unknown rule in a test", _ERROR, "A test names a rule or section that is not there."),
    Code("RP702", "untested section", _ERROR, "A section with rules has no test."),
    Code("RP703", "rule never fired", _ERROR, "No test makes the rule fire."),
    Code("RP704", "rule never silent", _ERROR, "No test shows the rule not firing."),
    Code("RP710", "surviving mutant", _ERROR, "A changed rule passes every test: the behaviour is untested."),
    Code("RP711", "bad acceptance", _ERROR, "A `# mutant:` comment has no reason, or accepts no survivor."),
    Code("RP712", "too many accepted", _ERROR, "More mutants are accepted than may be: tests are missing."),
    Code("RP720", "expectation failed", _ERROR, "A test got something else than it expects."),
    Code("RP801", "pack too large", _ERROR, "A document, or all packs together, hold more than the engine accepts."),
    Code("RP810", "cost over budget", _ERROR, "A rule may cost more than the static budget."),
    Code("RP811", "unbounded list", _WARNING, "A list without a known bound is walked."),
    Code("RP901", "evaluation error", _ERROR, "An expression failed; the section could not tell."),
    Code("RP902", "select violated", _ERROR, "A section that must fire did not, or gave less than its shape."),
    Code("RP903", "null emitted", _ERROR, "A required key came out null."),
    Code("RP904", "budget exceeded", _ERROR, "An evaluation ran into a run-time budget."),
    Code("RP910", "reload impossible", _ERROR, "The change cannot be taken over by the running service."),
    Code("RP911", "bundle incomplete", _ERROR, "The delivered packs are not the announced ones."),
)

CODES: MappingProxyType[str, Code] = MappingProxyType({row.name: row for row in _ROWS})
