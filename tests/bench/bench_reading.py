"""Reading YAML, apart from everything else: packs and machine documents a file, in milliseconds."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from engine.lang.reader import read
from engine.lang.source import Source
from engine.rulefiles import shipped_rules

RUNS = 5


def milliseconds(source: Source) -> float:
    """Median time to read one file to a tree."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        read(source)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def main() -> None:
    """Print the table."""
    print("READING YAML TO TREES WITH POSITIONS")
    machines = Path(__file__).parents[1] / "machines"
    for name, folder in (("packs and their tests", shipped_rules()), ("machine documents", machines)):
        sources = [Source(str(path), path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))]
        times = [milliseconds(source) for source in sources]
        kib = sum(len(source.data) for source in sources) / 1024
        print(
            f"  {name:24} {len(sources):3} files {kib:7.0f} KiB {sum(times):8.1f} ms   {sum(times) / kib:5.2f} ms a KiB"
        )


if __name__ == "__main__":
    main()
