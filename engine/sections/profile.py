"""The `profile` section: under which name a driver's partition profile is published.

The way back, from the published name to the driver's, is a look-up among a card's profiles, never a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.domain.facts import DriverProfile
from engine.lang.section import Combine, Owner, Section
from engine.sections.answer import Answer, Evaluator, ask

SECTION: Final = Section(
    name="profile",
    owner=Owner.MANUFACTURER,
    combine=Combine.FIRST,
    optional=True,
    runs="N",
    once_per="driver profile",
    input="profile: {name: str, memoryMib: int, computeSlices: int, memorySlices: int, starts: int[], span: int}",
    emit="{published: str} or {exclude: str}",
    help="The published name of a partition profile, or why it is not offered; without a rule it is the driver's name.",
)


@dataclass(frozen=True, slots=True)
class ProfileName:
    """A profile's published name; `exclude` is the reason why it is not offered, and empty when it is."""

    published: str
    exclude: str = ""


def driver_profile_name(name: str) -> str:
    """A driver's display name as rules see it: lower case, its last word (`ACME 4g48gb` becomes `4g48gb`)."""
    words = name.lower().split()
    return words[-1] if words else ""


def publish_profile(program: Evaluator, maker: str, profile: DriverProfile) -> Answer[ProfileName]:
    """The name a profile is published under."""
    name = driver_profile_name(profile.name)
    inputs = {
        "profile": {
            "name": name,
            "memoryMib": profile.memory_mib,
            "computeSlices": profile.compute_slices,
            "memorySlices": profile.memory_slices,
            "starts": list(profile.starts),
            "span": profile.span,
        }
    }
    answer = ask(program, SECTION.name, inputs, _decode, maker)
    return Answer(SECTION.name, ProfileName(name)) if answer.is_nothing else answer


def _decode(value: dict[str, Any]) -> ProfileName:
    return ProfileName(value.get("published") or "", value.get("exclude") or "")
