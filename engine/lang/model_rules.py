"""The models of sections, rules and tests.

Which sections there are, and what they take and emit, is the catalogue's to say.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, Tag

from engine.lang.model_base import Expression, Identifier, Json, Kebab, Lets, Many, Model, Template, by, held_to
from engine.lang.model_choices import bare_rules, message_kind, one_or_many, rule_fault, rule_kind, unknown_kind

Select = Literal["first", "merge", "list", "sum"]


Message = Annotated[
    Annotated[Template, Tag("<text>")] | Annotated[dict[str, Template], Tag("<map>")],
    by(message_kind),
]


class ForEach(Model):
    """Once per item of a list; the item, and its position, have names."""

    in_: Expression = Field(alias="in")
    as_: Identifier = Field(alias="as")
    index: Identifier | None = None


class Deprecated(Model):
    """Since when a rule should not be overlaid any more, and what to use."""

    since: str
    use: str | None = None


class Rule(Model):
    """A leaf: it emits, or says that it cannot tell."""

    id: Kebab
    when: Expression | None = None
    let: Lets = Field(default_factory=dict)
    for_each: ForEach | None = None
    emit: Json = None
    unknown: Template | None = None
    message: Message | None = None
    deprecated: Deprecated | None = None

    @property
    def has_emit(self) -> bool:
        """Whether the rule emits; the alternative is `unknown`."""
        return "emit" in self.model_fields_set

    _fault = held_to(rule_fault)


class Group(Model):
    """Rules that share a condition, lets or an iteration. It has no id: those stay on its rules."""

    when: Expression | None = None
    let: Lets = Field(default_factory=dict)
    for_each: ForEach | None = None
    rules: RuleEntries


RuleEntry = Annotated[Annotated[Rule, Tag("<rule>")] | Annotated[Group, Tag("<group>")], by(rule_kind)]
RuleEntries = Many[RuleEntry]


class SectionBody(Model):
    """A section; written as a bare list of rules it has only those. `select` is None where the catalogue's holds."""

    select: Select | None = None
    owns: Many[str] = ()
    let: Lets = Field(default_factory=dict)
    rules: RuleEntries


Section = Annotated[SectionBody, BeforeValidator(bare_rules, json_schema_input_type=SectionBody | RuleEntries)]


OneOrMany = Annotated[Many[str], BeforeValidator(one_or_many, json_schema_input_type=str | Many[str])]
# The reason a section could not tell, or just that it could not.
UnknownReason = Annotated[
    Annotated[Literal[True], Tag("<flag>")] | Annotated[str, Tag("<text>")],
    by(unknown_kind),
]


class Case(Model):
    """One row of a test; what it leaves out is the test's.

    Shape: a base under `from` gives what the section knows of it, `given` has to fit; `params` are values that parameters
    of the pack have in this test; `refuses` is the whole text of a refusal; `unknown` the whole reason, without its place, and with
    `partial` a part of it.
    """

    name: str | None = None
    from_: OneOrMany = Field(default=(), alias="from")
    params: dict[Identifier, Json] = Field(default_factory=dict)
    given: dict[str, Json] = Field(default_factory=dict)
    expect: Json = None
    absent: Many[str] = ()
    fires: Many[str] = ()
    silent: Many[str] = ()
    refuses: str | None = None
    unknown: UnknownReason | None = None
    partial: bool | None = None
    partial_each: Many[str] | None = None

    @property
    def has_expect(self) -> bool:
        """Whether an expectation is written down; it may be null or empty."""
        return "expect" in self.model_fields_set


class Test(Case):
    """An input for a section and what must come out. With `cases` it holds what they share."""

    __test__ = False  # its name would make pytest collect it

    name: str
    section: str
    prefix: str = ""
    cases: Many[Case] = ()
