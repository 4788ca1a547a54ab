"""The reference picker: which ids of a pool a claim gets, or why it gets none.

Pure, and the same for tests, plans and the ledger of a node. Keeps no state: who holds what comes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

Ids = tuple[int, ...]


class Shape(StrEnum):
    """What a claim wants: any ids, or a contiguous run."""

    IDS = "ids"
    WINDOW = "window"


class Overlap(StrEnum):
    """What happens when no free run is left: refused, or put where it overlaps others least."""

    REFUSE = "refuse"
    LEAST = "least"


class Shortage(StrEnum):
    """Why nothing could be picked; the key a claim's messages are written under."""

    EXHAUSTED = "exhausted"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Want:
    """A claim on a pool of `size` ids. A window starts at a multiple of `quantum`."""

    size: int
    count: int
    shape: Shape = Shape.IDS
    quantum: int = 1
    overlap: Overlap = Overlap.REFUSE

    @property
    def fault(self) -> str:
        """What is wrong with the numbers themselves; empty when nothing is."""
        if self.size < 0 or self.count < 0:
            return f"a claim of {self.count} from a pool of {self.size}"
        return f"a window of quantum {self.quantum}" if self.quantum < 1 else ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was picked. `free` ids of `size` are held by nobody; `holders` hold the others."""

    state: Shortage
    need: int
    free: int
    size: int
    holders: int


_LOWEST: Final = 0


def pick(want: Want, holders: Iterable[Sequence[int]]) -> Ids | Refused:
    """The ids a claim gets beside the present holders: the lowest that do, so that equal states give equal answers.

    Shape: ascending. An id outside the pool that somebody holds refuses everything: what is recorded there is not ours
    to understand. Cost: size × count for a window, size otherwise.
    """
    held = [tuple(ids) for ids in holders]
    taken = {one for ids in held for one in ids}
    free = sum(1 for one in range(want.size) if one not in taken)
    if any(one < _LOWEST or one >= want.size for one in taken):
        return Refused(Shortage.FOREIGN, want.count, free, want.size, len(held))
    picked = _window(want, taken) if want.shape is Shape.WINDOW else _lowest_free(want, taken)
    if picked is None:
        return Refused(Shortage.EXHAUSTED, want.count, free, want.size, len(held))
    return picked


def _lowest_free(want: Want, taken: set[int]) -> Ids | None:
    free = [one for one in range(want.size) if one not in taken]
    return tuple(free[: want.count]) if len(free) >= want.count else None


def _window(want: Want, taken: set[int]) -> Ids | None:
    """The lowest run without overlap; else, where the pool allows it, the lowest run with the least.

    Overlap is counted in ids, not in holders: occupied intervals are merged first.
    """
    least: tuple[int, int] | None = None
    for start in range(_LOWEST, want.size - want.count + 1, want.quantum):
        overlap = sum(1 for one in range(start, start + want.count) if one in taken)
        if least is None or overlap < least[0]:
            least = (overlap, start)
        if overlap == 0:
            break
    if least is None or (least[0] and want.overlap is Overlap.REFUSE):
        return None
    return tuple(range(least[1], least[1] + want.count))
