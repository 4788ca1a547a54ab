"""RulePack: what became of a pack of rules that the worker was given.

A record for people: `kubectl get rulepacks` says what is in force and why something is not. The rules themselves are in
ConfigMaps and in the image.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from engine.api.base import Fields, ObjectMeta, one_of
from engine.api.kind import AGE, Column, Kind

_SHA256: Final = r"^[0-9a-f]{64}$"

Digest = Annotated[str, Meta(extra_json_schema={"pattern": _SHA256})]


class RulePackSpec(Fields, frozen=True, kw_only=True):
    """Which pack."""

    kind: Annotated[
        str,
        Meta(
            description="Manufacturer, Derivation, Library or Overlay.",
            extra_json_schema=one_of("Manufacturer", "Derivation", "Library", "Overlay"),
        ),
    ]
    name: Annotated[str, Meta(description="Name of the pack.")]
    version: Annotated[str, Meta(description="Version of the pack, as it states it.")] = ""
    digest: Annotated[Digest, Meta(description="What the pack means, as a sha256; places in files do not count.")]
    source: Annotated[str, Meta(description="Where it came from: the image, or a ConfigMap as namespace/name.")]


class RulePackColumns(Fields, frozen=True, kw_only=True):
    """Cells of the table that are shortened."""

    digest: Annotated[str, Meta(description="First 12 digits of the pack's digest.")] = ""
    program: Annotated[str, Meta(description="First 12 digits of the program's digest.")] = ""


class RulePackStatus(Fields, frozen=True, kw_only=True):
    """What became of it."""

    verdict: Annotated[
        str,
        Meta(
            description="Loaded: in force. Held: waits for `engine rules approve`. Failed: refused, the old rules serve.",
            extra_json_schema=one_of("Loaded", "Held", "Failed"),
        ),
    ] = ""
    message: Annotated[str, Meta(description="Why it is held or failed, and what to do.")] = ""
    program: Annotated[
        Digest, Meta(description="Digest of the program that holds it, or in which it waits; approve takes this one.")
    ] = ""
    last_transition_time: Annotated[
        str, Meta(description="When the verdict last changed.", extra_json_schema={"format": "date-time"})
    ] = ""
    columns: Annotated[RulePackColumns, Meta(description="Cells of its table.")] | None = None


class RulePack(Fields, frozen=True, kw_only=True):
    """A pack of rules that the worker was given, and what became of it. Written by the worker."""

    metadata: ObjectMeta
    spec: Annotated[RulePackSpec, Meta(description="Which pack.")]
    status: Annotated[RulePackStatus, Meta(description="What became of it.")] = RulePackStatus()


RULE_PACK: Final = Kind(
    kind="RulePack",
    plural="rulepacks",
    struct=RulePack,
    columns=(
        Column("Digest", ".status.columns.digest", "First digits of the pack's digest."),
        Column("Source", ".spec.source", "Where it came from."),
        Column("Verdict", ".status.verdict", "Loaded, Held or Failed."),
        Column("Program", ".status.columns.program", "First digits of the program it is in, or waits in."),
        Column("Why", ".status.message", "Why it is held or failed."),
        AGE,
        Column("Version", ".spec.version", "Version of the pack.", is_wide=True),
    ),
)
