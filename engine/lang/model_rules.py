"""The models of sections, rules and tests.

Which sections there are, and what they take and emit, is the catalogue's to say.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from engine.lang.model_base import Expression, Identifier, Json, Kebab, Lets, Many, Model, Template, by

Select = Literal["first", "merge", "list", "sum"]


def _message_kind(value: Any) -> str:
    return "<map>" if isinstance(value, dict) else "<text>"


Message = Annotated[
    Annotated[Template, Tag("<text>")] | Annotated[dict[str, Template], Tag("<map>")],
    by(_message_kind),
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

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.has_emit and self.unknown is not None:
            raise PydanticCustomError("RP203", "a rule has `emit` or `unknown`, not both")
        if not self.has_emit and self.unknown is None:
            raise PydanticCustomError("RP202", "the rule has neither `emit` nor `unknown`, so it says nothing")
        return self


class Group(Model):
    """Rules that share a condition, lets or an iteration. It has no id: those stay on its rules."""

    when: Expression | None = None
    let: Lets = Field(default_factory=dict)
    for_each: ForEach | None = None
    rules: RuleEntries


def _rule_kind(value: Any) -> str:
    return "<group>" if isinstance(value, dict) and "rules" in value else "<rule>"


RuleEntry = Annotated[Annotated[Rule, Tag("<rule>")] | Annotated[Group, Tag("<group>")], by(_rule_kind)]
RuleEntries = Many[RuleEntry]


class SectionBody(Model):
    """A section; written as a bare list of rules it has only those. `select` is None where the catalogue's holds."""

    select: Select | None = None
    owns: Many[str] = ()
    let: Lets = Field(default_factory=dict)
    rules: RuleEntries


def _bare_rules(value: Any) -> Any:
    return {"rules": value} if isinstance(value, list) else value


Section = Annotated[SectionBody, BeforeValidator(_bare_rules, json_schema_input_type=SectionBody | RuleEntries)]


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _unknown_kind(value: Any) -> str:
    return "<flag>" if isinstance(value, bool) else "<text>"


OneOrMany = Annotated[Many[str], BeforeValidator(_one_or_many, json_schema_input_type=str | Many[str])]
# The reason a section could not tell, or just that it could not.
UnknownReason = Annotated[
    Annotated[Literal[True], Tag("<flag>")] | Annotated[str, Tag("<text>")],
    by(_unknown_kind),
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
