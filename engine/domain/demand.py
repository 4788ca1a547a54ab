"""What a Workload asks of cards: its pod sets' requests, read into one demand a family, size, profile and flavor.

Names of resources are handed in, because they are rules'; whether there is room is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from engine.domain.units import Credits
from engine.errors import EvaluationError
from engine.values.quantities import parse_quantity

MOST_CARDS: Final = 2**31 - 1
"""Cards of one Pod, and Pods, are clamped here: no node has more, and sums stay small. Source: specification 10 §4.4."""

Part = Literal["card", "units", "profile"]


class Family(StrEnum):
    """How cards are asked for; the texts sort demands that are otherwise alike."""

    EXCLUSIVE = "exclusive"
    PARTITIONED = "partitioned"
    SHARED = "shared"
    SLICED = "sliced"


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """The names of one maker's resources that a demand is read from. Shape: the last three are empty without partitions."""

    maker: str
    credits: str
    exclusive: str
    shared: str
    sliced: str
    sliced_units: str
    partitioned: str = ""
    partitioned_units: str = ""
    profile_prefix: str = ""


@dataclass(frozen=True, slots=True)
class PodSet:
    """One pod set of a Workload as Kueue has placed it.

    Shape: `containers` are the quantities each asks for, by resource; `flavors` are the assigned ones, by resource; `places`
    are (node, Pods) pairs, with None for Pods that may go anywhere in the flavor.
    """

    name: str
    containers: tuple[Mapping[str, str | int], ...]
    flavors: Mapping[str, str]
    places: tuple[tuple[str | None, int], ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Equal Pods that go to one node, or anywhere. Shape: `containers` are the cards of each that asks for any."""

    node: str | None
    pods: int
    containers: tuple[int, ...]

    @property
    def cards(self) -> int:
        """Cards, shares, slices or partitions of one Pod."""
        return sum(self.containers)


@dataclass(frozen=True, slots=True)
class Demand:
    """Pods that ask alike. Shape: `roles` are their pod sets, sorted; an empty flavor could not be resolved."""

    family: Family
    units: Credits
    profile: str
    flavor: str
    roles: tuple[str, ...]
    asks: tuple[Ask, ...]


class ClaimTable:
    """Which resource belongs to which family. A name that is nobody's is no claim, and neither is visibility."""

    def __init__(self, names: Iterable[ClaimNames]) -> None:
        self._parts: dict[str, tuple[Family, Part]] = {}
        self._prefixes: list[str] = []
        self._credits: set[str] = set()
        for each in names:
            self._credits.add(each.credits)
            self._parts |= {
                each.exclusive: (Family.EXCLUSIVE, "card"),
                each.shared: (Family.SHARED, "card"),
                each.sliced: (Family.SLICED, "card"),
                each.sliced_units: (Family.SLICED, "units"),
            }
            if each.profile_prefix:
                self._parts[each.partitioned] = (Family.PARTITIONED, "card")
                self._parts[each.partitioned_units] = (Family.PARTITIONED, "units")
                self._prefixes.append(each.profile_prefix)

    def read(self, resource: str) -> tuple[Family, Part, str] | None:
        """The family, what of it the resource states, and the profile it names."""
        found = self._parts.get(resource)
        if found is not None:
            return (*found, "")
        for prefix in self._prefixes:
            if resource.startswith(prefix) and len(resource) > len(prefix):
                return Family.PARTITIONED, "profile", resource[len(prefix) :]
        return None

    def flavor(self, flavors: Mapping[str, str]) -> str:
        """The flavor of the only resource of credits; empty where there is none, or more than one."""
        found = [flavor for resource, flavor in flavors.items() if resource in self._credits]
        return found[0] if len(found) == 1 else ""


def read_demands(pod_sets: Sequence[PodSet], table: ClaimTable) -> tuple[Demand, ...]:
    """What pod sets ask for together.

    Shape: partitioned first, then larger units first, then by family. Init containers count as any other.
    Raises: EvaluationError: a claimed amount is no quantity.
    Source: specification 10 §4.4.
    """
    found: dict[tuple[Family, Credits, str, str], tuple[set[str], list[Ask]]] = {}
    for pod_set in pod_sets:
        for family, claim in _claims(pod_set, table).items():
            asks = [Ask(node, min(pods, MOST_CARDS), claim.cards) for node, pods in pod_set.places if pods > 0]
            if not claim.cards or not asks:
                continue
            key = (family, claim.units, claim.profile, table.flavor(pod_set.flavors))
            roles, known = found.setdefault(key, (set(), []))
            roles.add(pod_set.name)
            known += asks
    demands = [Demand(*key, tuple(sorted(roles)), tuple(asks)) for key, (roles, asks) in found.items()]
    return tuple(
        sorted(
            demands,
            key=lambda each: (
                each.family is not Family.PARTITIONED,
                -each.units,
                each.family,
                each.profile,
                each.flavor,
            ),
        )
    )


@dataclass(frozen=True, slots=True)
class _Claim:
    cards: tuple[int, ...]
    units: Credits
    profile: str


def _claims(pod_set: PodSet, table: ClaimTable) -> dict[Family, _Claim]:
    cards: dict[Family, list[int]] = {}
    units: dict[Family, int] = {}
    profiles: dict[Family, set[str]] = {}
    for container in pod_set.containers:
        counted: dict[Family, int] = {}
        for resource, quantity in container.items():
            match table.read(resource):
                case (family, "card", _):
                    counted[family] = counted.get(family, 0) + _whole(quantity, pod_set.name, resource)
                case (family, "units", _):
                    units[family] = max(units.get(family, 0), _whole(quantity, pod_set.name, resource))
                case (family, "profile", profile):
                    profiles.setdefault(family, set()).add(profile)
                case _:
                    continue
        for family, count in counted.items():
            if count > 0:
                cards.setdefault(family, []).append(min(count, MOST_CARDS))
    return {
        family: _Claim(tuple(counts), Credits(units.get(family, 0)), min(profiles.get(family, ("",))))
        for family, counts in cards.items()
    }


def _whole(quantity: str | int, pod_set: str, resource: str) -> int:
    """As Kubernetes takes the integer of a quantity: a fraction is rounded up."""
    try:
        return -int(-parse_quantity(str(quantity)) // 1)
    except EvaluationError as error:
        raise EvaluationError(
            f"{resource} of pod set {pod_set}: {error.what}", why=error.why, remedy=error.remedy
        ) from error
