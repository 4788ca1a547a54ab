"""Waiting for something in a cluster to become true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T | None], timeout_seconds: float = 20.0, *, what: str = "") -> T:
    """What `look` finds once it finds something true; fails the test when that takes too long."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(
                f"{what or look} did not come true within {timeout_seconds:.0f} s; last seen: {found!r}"
            )
        time.sleep(0.05)


def condition(found: dict[str, Any] | None, kind: str) -> dict[str, Any]:
    """A condition of an object; empty when it has none of that type."""
    listed = (found or {}).get("status", {}).get("conditions", [])
    return next((each for each in listed if each["type"] == kind), {})
