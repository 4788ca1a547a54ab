"""Starting the command line, in units of a bare interpreter start.

A unit and a command are run in turn, and their ratio is taken pair by pair: what else the machine does then slows both. Byte
code is written first, as an installer does; a process that has to compile 170 modules before it starts measures that.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import engine

PAIRS: Final = 9
# Command, what a unit is, how many units it may cost.
ROWS: Final = (
    (["--help"], "pass", 6),
    (["validate", "rules"], "import pydantic, jmespath", 8),
    (["test", "rules"], "import pydantic, jmespath", 8),
)


@dataclass(frozen=True, slots=True)
class Took:
    """What one process took: on the clock, and of processors (its children's share included)."""

    seconds: float
    processor_seconds: float


def took(arguments: list[str]) -> Took:
    """Run a command, its output thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return Took(seconds, usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Print the table."""
    print("STARTING")
    compileall.compile_dir(Path(engine.__file__).parent, quiet=2)
    for arguments, unit, wanted in ROWS:
        took(["-m", "engine", *arguments])  # files into the system's cache
        pairs = [(took(["-c", unit]), took(["-m", "engine", *arguments])) for _ in range(PAIRS)]
        unit_ms, command_ms = (statistics.median(pair[at].seconds for pair in pairs) * 1e3 for at in (0, 1))
        ratio = statistics.median(command.seconds / one.seconds for one, command in pairs)
        of_processor = statistics.median(command.processor_seconds / one.processor_seconds for one, command in pairs)
        print(f"  python -c {unit!r:40} {unit_ms:7.0f} ms   (one unit)")
        print(
            f"  engine {' '.join(arguments):43} {command_ms:7.0f} ms   {ratio:5.1f} units (wanted: at most {wanted}), "
            f"{of_processor:.1f} of processor time"
        )


if __name__ == "__main__":
    main()
