"""`engine` whose clocks are moved from outside, by a file: seconds that the time of day is off, and seconds that were slept.

    python -m tests.e2e.jumping_worker FILE worker --kubeconfig …

Only this process sees it; the machine's clocks stay as they are.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path

from engine.cluster.clock import SystemClock


def main() -> None:
    file = Path(sys.argv.pop(1))
    monotonic, wall = SystemClock.monotonic, SystemClock.wall

    def moved() -> tuple[float, float]:
        try:
            skew_seconds, slept_seconds = file.read_text("utf-8").split()
        except (OSError, ValueError):  # not there yet, or being written
            return 0.0, 0.0
        return float(skew_seconds), float(slept_seconds)

    def jumping_monotonic(clock: SystemClock) -> float:
        return monotonic(clock) + moved()[1]

    def jumping_wall(clock: SystemClock) -> datetime:
        return wall(clock) + timedelta(seconds=sum(moved()))

    SystemClock.monotonic = jumping_monotonic  # type: ignore[method-assign]
    SystemClock.wall = jumping_wall  # type: ignore[method-assign]
    from engine.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
