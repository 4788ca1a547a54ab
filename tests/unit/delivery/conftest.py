"""Judging takes a second; what was judged in one test is not judged again in the next."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from engine.delivery import standing, stored
from engine.delivery.candidate import Candidate
from engine.delivery.decide import consider
from engine.delivery.verdict import InForce, Snapshot, Verdict

_KNOWN: dict[Any, Verdict] = {}


def _remembered(
    candidate: Candidate,
    serving: InForce | None,
    snapshot: Snapshot,
    approved: Collection[str] = (),
    **others: Any,
) -> Verdict:
    key = (
        candidate.digest,
        candidate.origin,
        None if serving is None else (serving.program.digest, serving.packs),
        len(snapshot.changes),
        frozenset(approved),
        tuple(sorted(others["overrides"].items())),
    )
    if key not in _KNOWN:
        _KNOWN[key] = consider(candidate, serving, snapshot, approved, **others)
    return _KNOWN[key]


@pytest.fixture(autouse=True)
def _judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "consider", _remembered)
    monkeypatch.setattr(stored, "consider", _remembered)
