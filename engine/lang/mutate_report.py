"""What mutation testing came to: counts a pack, survivors with their places, and whether that is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.mutate_rules import Mutant

MOST_ACCEPTED_PERCENT: Final = 3
"""Of all mutants that load, those that may be accepted instead of killed."""


@dataclass(frozen=True, slots=True)
class PackMutation:
    """The mutants of one pack.

    Shape: `accepted` with the reasons; `not_loaded` are mutants that the checker refuses: neither killed nor survivors;
    `faults` are acceptances without a reason or without a mutant.
    """

    kind: str
    name: str
    killed: int
    not_loaded: int
    survived: tuple[Mutant, ...]
    accepted: tuple[tuple[Mutant, str], ...]
    faults: tuple[Diagnostic, ...]

    @property
    def made(self) -> int:
        """Mutants that load."""
        return self.killed + len(self.survived) + len(self.accepted)

    @property
    def is_green(self) -> bool:
        """Whether every mutant that loads was killed, or accepted with a reason."""
        return not self.survived and not self.faults

    def __str__(self) -> str:
        parts = [f"{self.killed} of {self.made} mutants killed"]
        if self.survived:
            parts.append(f"{len(self.survived)} SURVIVED")
        if self.accepted:
            parts.append(f"{len(self.accepted)} accepted")
        parts.append(f"{self.not_loaded} did not load")
        return f"{self.kind} {self.name}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True)
class MutationReport:
    """The mutants of all packs, in the packs' order."""

    packs: tuple[PackMutation, ...]

    @property
    def made(self) -> int:
        """Mutants that load."""
        return sum(pack.made for pack in self.packs)

    @property
    def killed(self) -> int:
        """Mutants that a test noticed."""
        return sum(pack.killed for pack in self.packs)

    @property
    def accepted(self) -> int:
        """Survivors that somebody gave a reason for."""
        return sum(len(pack.accepted) for pack in self.packs)

    @property
    def accepts_too_many(self) -> bool:
        """Whether more are accepted than may be."""
        return self.accepted * 100 > self.made * MOST_ACCEPTED_PERCENT

    @property
    def is_green(self) -> bool:
        """Whether nothing survived unaccepted and not too much is accepted."""
        return not self.accepts_too_many and all(pack.is_green for pack in self.packs)

    def diagnostics(self) -> Diagnostics:
        """Survivors (RP710), faulty acceptances (RP711) and too many of them (RP712)."""
        found = Diagnostics()
        seen: set[tuple[str, int, int, str]] = set()
        for pack in self.packs:
            for mutant in pack.survived:
                if mutant.key in seen:
                    continue
                seen.add(mutant.key)
                found.error(
                    "RP710",
                    f"{pack.name}: {mutant.section}: no test notices {mutant.operator}: {mutant.what}",
                    mutant.place,
                    help="add a test, or accept it with `# mutant: why no input can show it`",
                )
            found.extend(one for one in pack.faults if one not in list(found))
        if self.accepts_too_many:
            found.error(
                "RP712",
                f"{self.accepted} of {self.made} mutants are accepted, more than {MOST_ACCEPTED_PERCENT} %",
                help="replace acceptances by tests",
            )
        return found
