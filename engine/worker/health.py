"""Whether this process lives, and whether it is ready: checks with names, and the text of their answer.

Looks and changes nothing; who asks, and over what, is `serving`. A replica that waits for the lease is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.cluster.elector import Elector
from engine.cluster.informer import Informer


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to hold. Shape: `trouble` is empty while it does; `note` is said beside."""

    name: str
    trouble: str = ""
    note: str = ""


class Health:
    """The worker's checks. `is_prepared` is set once the cluster has all that the worker brings."""

    def __init__(self, informers: Callable[[], Iterable[Informer[Any]]], elector: Elector | None = None) -> None:
        self.is_prepared = False
        self._informers = informers
        self._elector = elector

    def live(self) -> list[Check]:
        """False is for what a restart would mend. That anybody is answered at all says that the event loop turns."""
        is_overdue = self._elector is not None and self._elector.is_overdue()
        return [
            Check("event-loop"),
            Check("lease", "it was not renewed in time, and the leading work has not ended" if is_overdue else ""),
        ]

    def ready(self) -> list[Check]:
        """Whether the worker could do its work now. A kind that the cluster does not serve is not waited for."""
        prepared = Check("prepared", "" if self.is_prepared else "definitions and settings are not all there yet")
        return [*self.live(), prepared, *(_listed(each) for each in self._informers())]


def passes(checks: Iterable[Check]) -> bool:
    """All of them hold."""
    return not any(each.trouble for each in checks)


def report(what: str, checks: Iterable[Check]) -> str:
    """The checks as lines, in the form of Kubernetes' own components."""
    checks = tuple(checks)
    lines = [
        f"[-]{each.name} failed: {each.trouble}" if each.trouble else f"[+]{each.name} ok{_note(each)}"
        for each in checks
    ]
    return "\n".join([*lines, f"{what} check {'passed' if passes(checks) else 'failed'}", ""])


def _listed(informer: Informer[Any]) -> Check:
    name = f"informer/{informer.resource}"
    if informer.has_synced:
        return Check(name)
    # Kueue may come after the worker, which labels nodes without it.
    return (
        Check(name, "waits for its first list")
        if informer.is_served
        else Check(name, note="the cluster has no such kind")
    )


def _note(check: Check) -> str:
    return f": {check.note}" if check.note else ""
