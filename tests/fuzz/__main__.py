"""`python -m tests.fuzz --count 100000 --seed 7`: many broken expressions, and a pack for every nine of them."""

from __future__ import annotations

import argparse
import secrets
import sys

from .fuzzing import Tally, faults_of, fuzz_expressions, fuzz_packs

ONE_IN = 10
STEP = 1000


def main() -> int:
    """Run, print what broke, and fail if anything did."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=100_000, help="how many tries; one in ten is a pack")
    options.add_argument("--seed", type=int, default=None, help="where to start; chosen and printed if not given")
    chosen = options.parse_args()
    seed = secrets.randbelow(1_000_000) if chosen.seed is None else chosen.seed
    print(f"fuzzing {chosen.count} texts from seed {seed}", flush=True)
    broken = 0
    for number, done in enumerate(range(0, chosen.count, STEP)):
        step = min(STEP, chosen.count - done)
        packs = step // ONE_IN
        for what, tally in _step(step - packs, packs, seed + number):
            broken += len(tally.faults)
            for fault in faults_of(tally):
                print(f"{what}, seed {seed + number}: {fault}", flush=True)
        print(f"  {done + step} tried, {broken} broke something", flush=True)
    return 1 if broken else 0


def _step(expressions: int, packs: int, seed: int) -> list[tuple[str, Tally]]:
    return [("expression", fuzz_expressions(expressions, seed)), ("pack", fuzz_packs(packs, seed))]


if __name__ == "__main__":
    sys.exit(main())
