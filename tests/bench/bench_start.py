"""Starting the command line, in units of a bare interpreter start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from typing import Final

RUNS: Final = 9
# Command, what a unit is, how many units it may cost.
ROWS: Final = (
    (["--help"], "pass", 6),
    (["validate", "rules"], "import pydantic, jmespath", 8),
    (["test", "rules"], "import pydantic, jmespath", 8),
)


def median_seconds(arguments: list[str]) -> float:
    """Median wall time of a command, its output thrown away."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print the table."""
    print("STARTING")
    units: dict[str, float] = {}
    for arguments, unit, wanted in ROWS:
        if unit not in units:
            units[unit] = median_seconds(["-c", unit])
            print(f"  python -c {unit!r:40} {units[unit] * 1e3:7.0f} ms   (one unit)")
        seconds = median_seconds(["-m", "engine", *arguments])
        ratio = seconds / units[unit]
        print(
            f"  engine {' '.join(arguments):43} {seconds * 1e3:7.0f} ms   {ratio:5.1f} units (wanted: at most {wanted})"
        )


if __name__ == "__main__":
    main()
