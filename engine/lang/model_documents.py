"""The models of whole pack documents, one a kind.

A pack may be spread over several documents, so that nothing in a spec is required here; what the whole must hold is
checked when packs are linked.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from engine.lang.model_base import Identifier, Json, Kebab, Lets, Many, Model
from engine.lang.model_blocks import (
    Deploy,
    Derived,
    Facts,
    Identity,
    Params,
    Presets,
    Probe,
    Recover,
    Requires,
    Setting,
    Tables,
    Use,
)
from engine.lang.model_rules import RuleEntries, RuleEntry, Section, Test

Version = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\z")
]
RuleAddress = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*/[a-z][a-z0-9]*(?:-[a-z0-9]+)*\z")]


class Metadata(Model):
    """Who a document is. Further files of a directory pack repeat only the name."""

    name: Kebab
    version: Version | None = None
    summary: str | None = None
    owners: Many[str] = ()
    annotations: dict[str, str] = Field(default_factory=dict)


class _Tested(Model):
    bases: dict[str, dict[str, Json]] = Field(default_factory=dict)
    tests: Many[Test] = ()


class ManufacturerSpec(_Tested):
    """Everything that differs between makers. `open` is what overlays may change although it is sealed by default."""

    open: Many[Literal["identity", "guards"]] = ()
    requires: Requires | None = None
    use: Many[Use] = ()
    identity: Identity | None = None
    facts: Facts | None = None
    derived: Derived | None = None
    presets: Presets | None = None
    probes: dict[str, Probe] = Field(default_factory=dict)
    recover: Many[Recover] = ()
    deploy: Deploy | None = None
    driver: dict[str, Json] | None = None
    params: Params = Field(default_factory=dict)
    tables: Tables = Field(default_factory=dict)
    sections: dict[str, Section] = Field(default_factory=dict)


class DerivationSpec(_Tested):
    """What is the same for every maker."""

    requires: Requires | None = None
    use: Many[Use] = ()
    params: Params = Field(default_factory=dict)
    tables: Tables = Field(default_factory=dict)
    constants: dict[Identifier, Json] = Field(default_factory=dict)
    tiers: dict[str, dict[str, Json]] = Field(default_factory=dict)
    settings: Many[Setting] = ()
    sections: dict[str, Section] = Field(default_factory=dict)


class LibrarySpec(Model):
    """What several packs use: `let` is seen by its own rules, in every section, and by a pack that asks for it.

    It has no tests of its own: its rules are tested in the packs that use it.
    """

    requires: Requires | None = None
    params: Params = Field(default_factory=dict)
    tables: Tables = Field(default_factory=dict)
    let: Lets = Field(default_factory=dict)
    rules: dict[str, RuleEntries] = Field(default_factory=dict)


class Target(Model):
    """The one pack an overlay changes, and the versions of it that it knows."""

    pack: Kebab
    kind: Literal["Manufacturer", "Derivation", "Library"] | None = None
    version: str | None = None


class Addition(Model):
    """A rule to add to a section, at its end unless a neighbour is named; `owns` are keys it writes that the section owns not yet."""

    section: str
    rule: RuleEntry
    before: Kebab | None = None
    after: Kebab | None = None
    owns: Many[str] = ()


class Replacement(Model):
    """Values to set in a rule, by path (`emit.env.X`)."""

    rule: RuleAddress
    set: dict[str, Json]


class OverlaySpec(Model):
    """Changes of one site to one pack: parameters, values of blocks by path, rules by id."""

    target: Target
    layer: Literal["distro", "site", "emergency"] = "site"
    params: dict[str, Json] = Field(default_factory=dict)
    set: dict[str, Json] = Field(default_factory=dict)
    add: Many[Addition] = ()
    replace: Many[Replacement] = ()
    remove: Many[RuleAddress] = ()


class _Document(Model):
    api_version: Literal["rules.gpustack.ai/v1alpha1"]
    metadata: Metadata


class Manufacturer(_Document):
    """A pack about one maker."""

    kind: Literal["Manufacturer"]
    spec: ManufacturerSpec


class Derivation(_Document):
    """A pack about what is derived alike for all makers."""

    kind: Literal["Derivation"]
    spec: DerivationSpec


class Library(_Document):
    """A pack that others use."""

    kind: Literal["Library"]
    spec: LibrarySpec


class Overlay(_Document):
    """Changes to a pack."""

    kind: Literal["Overlay"]
    spec: OverlaySpec


PackModel = Manufacturer | Derivation | Library | Overlay
MODELS: dict[str, type[PackModel]] = {
    "Manufacturer": Manufacturer,
    "Derivation": Derivation,
    "Library": Library,
    "Overlay": Overlay,
}
