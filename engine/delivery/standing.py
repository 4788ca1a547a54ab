"""Where rule delivery stands: what serves, and what became of the newest delivery.

One step is one function of plain values. Who reads deliveries, and who publishes what came of them, is not known here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from engine.delivery.candidate import Candidate
from engine.delivery.decide import NO_OVERRIDES, consider, loaded, refused
from engine.delivery.lost import Replan
from engine.delivery.verdict import InForce, Snapshot, State, Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """What serves (None before the first packs are in force) and the verdict on the newest delivery, if there was one.

    Shape: `begun` is the verdict by which packs came to serve before any cluster was known to compare them with.
    """

    serving: InForce | None = None
    verdict: Verdict | None = None
    begun: Verdict | None = None


def after_delivery(
    standing: Standing,
    candidate: Candidate,
    snapshot: Snapshot | Replan,
    approved: Collection[str] = (),
    *,
    overrides: Mapping[str, str] = NO_OVERRIDES,
) -> Standing:
    """Where it stands once a delivery is judged. The same bytes are not judged twice: their verdict is the one there is.

    Raises: nothing: whatever goes wrong over a delivery is a verdict on it.
    """
    verdict = standing.verdict
    if verdict is not None and verdict.candidate == candidate.digest:
        return after_approval(standing, approved)
    begun = standing.begun
    if begun is not None and begun.candidate == candidate.digest and _serves(standing, begun):
        # Beside itself a program loses nothing: linking and testing it again would take seconds and say the same.
        return _with(standing, begun)
    try:
        verdict = consider(candidate, standing.serving, snapshot, approved, overrides=overrides)
    except Exception as error:  # noqa: BLE001 - packs are strangers' text: a fault of ours that they hit upon ends no worker
        why = f"they could not be judged, which is a fault of Engine: {type(error).__name__}: {error}"
        verdict = refused(candidate, standing.serving, why)
    return _with(standing, verdict)


def after_approval(standing: Standing, approved: Collection[str]) -> Standing:
    """Where it stands once digests are approved: a delivery that waits for one of them is in force."""
    verdict = standing.verdict
    if verdict is None or verdict.state is not State.HELD or verdict.digest not in approved:
        return standing
    return _with(standing, loaded(verdict))


def _serves(standing: Standing, verdict: Verdict) -> bool:
    return standing.serving is not None and standing.serving.program.digest == verdict.digest


def _with(standing: Standing, verdict: Verdict) -> Standing:
    serving = verdict.offered if verdict.state is State.LOADED else standing.serving
    return replace(standing, serving=serving, verdict=verdict)
