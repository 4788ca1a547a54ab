"""The models of the blocks of a pack: plain data about a maker, or about what all makers share.

Data without expressions (`derived` aside), so that a chart can read it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, Tag

from engine.lang.model_base import Expression, Identifier, Json, Kebab, Many, Model, by, held_to
from engine.lang.model_choices import (
    codes_kind,
    param_fault,
    param_kind,
    pci_fault,
    preset_kind,
    probe_fault,
    row_kind,
    setting_fault,
    table_kind,
)

HexId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}\z")]
HexPrefix = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{2,6}\z")]
ResourceName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+/[A-Za-z0-9][A-Za-z0-9._-]*\z")]
ScalarType = Literal["boolean", "integer", "string"]
ParamType = Literal["boolean", "integer", "string", "list", "map"]
SettingFormat = Literal["text", "registry", "image", "url", "proxy", "duration", "quantity"]


class PciMatch(Model):
    """Devices that are this maker's accelerators: a vendor, and a class or device id that says so."""

    vendor: HexId
    class_prefixes: Many[HexPrefix] = ()
    devices: Many[HexId] = ()
    except_: Many[HexId] = Field(default=(), alias="except")

    _fault = held_to(pci_fault)


class RuntimeInjects(Model):
    """What the maker's container runtime adds by itself."""

    libraries: bool = False
    devices: bool = False


class Identity(Model):
    """Who the maker is to PCI, to Kubernetes and to container runtimes."""

    manufacturer: Kebab
    pci: Many[PciMatch]
    resource: ResourceName
    runtime_class: str | None = None
    partition_kind: Kebab | None = None
    runtime_injects: RuntimeInjects = RuntimeInjects()
    slots: Many[Identifier] = ()


class Intent(Model):
    """A call the driver carries out: its arguments, its answer, and how it may end."""

    args: dict[str, str] = Field(default_factory=dict)
    answer: dict[str, str] = Field(default_factory=dict)
    outcomes: Many[str] = ("ok",)


# The codes of one source of events, or any text where they are too many to list.
EventCodes = Annotated[
    Annotated[Many[str], Tag("<codes>")] | Annotated[Literal["string"], Tag("<text>")],
    by(codes_kind),
]


class Facts(Model):
    """What the maker's driver answers beyond the common fields.

    Shape: `flags` are the states a node's driver tells, and the values of each; `events` the sources of what it reports.
    `ecc` (`single-bit`, `double-bit`) is every driver's.
    """

    extras: dict[Identifier, str] = Field(default_factory=dict)
    flags: dict[Identifier, Many[str]] = Field(default_factory=dict)
    events: dict[Kebab, EventCodes] = Field(default_factory=dict)
    partition_ids: Many[Identifier] = ()
    intents: dict[Identifier, Intent] = Field(default_factory=dict)


class Derived(Model):
    """Named expressions over a card or an allocation."""

    card: dict[Identifier, Expression] = Field(default_factory=dict)
    alloc: dict[Identifier, Expression] = Field(default_factory=dict)


class PresetFamily(Model):
    """A product family whose tier depends on further tokens of the name."""

    prefix: str
    by: dict[str, str] = Field(default_factory=dict)


PresetEntry = Annotated[
    Annotated[str, Tag("<prefix>")] | Annotated[PresetFamily, Tag("<family>")],
    by(preset_kind),
]


class Presets(Model):
    """Which products get which tier of unit resources."""

    strip: Many[str] = ()
    tiers: dict[str, Many[PresetEntry]] = Field(default_factory=dict)


class Probe(Model):
    """A fact about the host: whether a path exists, or the first line of a file that starts with `line`.

    Shape: blanks before and after the line are not part of it; null when there is no such file, or no such line in it.
    """

    path: str | None = None
    file: str | None = None
    line: str | None = None

    _fault = held_to(probe_fault)


class Recover(Model):
    """Files of an earlier version, parsed back into claims and intents."""

    files: str
    format: Literal["lines", "json"]
    separator: str | None = None
    card: dict[str, str] = Field(default_factory=dict)
    match: dict[str, str] = Field(default_factory=dict)
    claims: dict[str, dict[str, Json]] = Field(default_factory=dict)
    intent: str | None = None
    answer: dict[str, str] = Field(default_factory=dict)
    requires: Many[str] = ()
    on_corrupt: Literal["refuse", "skip"]


class HostMount(Model):
    """A host path the node agent itself needs. `type`: what has to be there, so that nothing else is made in its place."""

    path: str
    type: Literal["any", "file", "dir"] = "any"
    rw: bool = False
    reason: str | None = None


class Capability(Model):
    """A Linux capability of the node agent, and why it needs it."""

    name: str
    reason: str


class Deploy(Model):
    """What the chart gives the node agent of this maker."""

    host_mounts: Many[HostMount] = ()
    env: dict[str, str] = Field(default_factory=dict)
    capabilities: Many[Capability] = ()


class Param(Model):
    """A value an overlay, or a pack that uses the library, may set."""

    type: ParamType
    default: Json = None
    minimum: int | None = None
    maximum: int | None = None
    enum: Many[Json] | None = None
    help: str | None = None

    _fault = held_to(param_fault)


ParamEntry = Annotated[Annotated[Param, Tag("<declared>")] | Annotated[Json, Tag("<value>")], by(param_kind)]
Params = dict[Identifier, ParamEntry]


class TokenValue(Model):
    """A refinement of a table row by a token anywhere in the name."""

    token: str
    value: Json


class MatchRow(Model):
    """A row looked up by pattern or by leading tokens."""

    match: str
    value: Json
    by: Many[TokenValue] = ()


class BelowRow(Model):
    """A row that holds below a number."""

    below: int
    value: Json


Row = Annotated[Annotated[MatchRow, Tag("<match>")] | Annotated[BelowRow, Tag("<below>")], by(row_kind)]
Table = Annotated[
    Annotated[Many[Row], Tag("<rows>")] | Annotated[dict[str, Json], Tag("<map>")],
    by(table_kind),
]
Tables = dict[Identifier, Table]


class SettingCheck(Model):
    """What a setting takes beyond its type.

    Shape: `format` and `enum` are of texts, `blank` says that no text will do too; `min` and `max` are numbers, of a
    duration a text like `1m`; `below` and `above` name another setting with a number.
    """

    format: SettingFormat | None = None
    blank: bool = False
    enum: Many[str] | None = None
    min: Json = None
    max: Json = None
    below: Kebab | None = None
    above: Kebab | None = None


class Setting(Model):
    """One setting of the installation."""

    name: Kebab
    type: ScalarType
    default: Json
    check: SettingCheck | None = None
    help: str

    _fault = held_to(setting_fault)


class Requires(Model):
    """What a pack needs to be there."""

    engine: str | None = None
    inputs: dict[str, str] = Field(default_factory=dict)
    libraries: dict[str, str] = Field(default_factory=dict)


class Use(Model):
    """A library whose rules join the pack's own, its parameters, and those of its lets that the pack's rules name too."""

    library: Kebab
    version: str | None = None
    with_: dict[Identifier, Json] = Field(default_factory=dict, alias="with")
    let: Many[Identifier] = ()
