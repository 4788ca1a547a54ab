"""What became of delivered packs, as values: in force, waiting for an approval, or refused, and why.

Judges nothing (that is `decide`) and writes nothing (`publish`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.chain.chain import DEFAULT_NAMESPACES
from engine.chain.changes import Change
from engine.lang.diagnostics import Diagnostic
from engine.lang.program import Program


class State(StrEnum):
    """A verdict. Source: the values of a RulePack's `status.verdict`."""

    LOADED = "Loaded"
    HELD = "Held"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class PackRecord:
    """Which pack, and where it is from.

    Shape: `digest` is over what a linked pack means, over the bytes of one that was not linked (a library, an overlay, a
    pack that does not link); `content` is always over the bytes; `folder` is where its files lie in the mount.
    """

    kind: str
    name: str
    version: str
    digest: str
    source: str
    content: str = ""
    folder: str = ""

    @property
    def id(self) -> str:
        """The name of its objects: `manufacturer-acme`."""
        return f"{self.kind.lower()}-{self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class InForce:
    """The program that serves, and the packs it was made of, sorted by kind and name."""

    program: Program
    packs: tuple[PackRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live cluster as far as rules decide about it: what `engine.chain.plan` takes. It has to be complete."""

    changes: tuple[Change, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    namespaces: tuple[str, ...] = tuple(DEFAULT_NAMESPACES)


@dataclass(frozen=True, slots=True)
class Lost:
    """A managed name that would not be there any more. Shape: `new` is empty when nothing takes its place."""

    kind: str
    old: str
    new: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {self.old} -> {', '.join(self.new) or '(gone)'}"


@dataclass(frozen=True, slots=True)
class PackVerdict:
    """What became of one pack. Shape: `program` is the digest of the program it is in, or waits in; empty when in none."""

    record: PackRecord
    state: State
    message: str = ""
    program: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one delivery.

    Shape: `candidate` is the digest of what was judged; `offered` what it would put in force, None when failed; `packs`
    are all that were delivered or are in force, sorted by kind and name; `lost` is why it is held.
    """

    state: State
    candidate: str
    message: str = ""
    offered: InForce | None = None
    packs: tuple[PackVerdict, ...] = ()
    lost: tuple[Lost, ...] = ()
    findings: tuple[Diagnostic, ...] = ()

    @property
    def digest(self) -> str:
        """The digest that `engine rules approve` takes; empty when nothing was linked."""
        return "" if self.offered is None else self.offered.program.digest
