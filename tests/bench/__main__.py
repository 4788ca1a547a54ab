"""`python -m tests.bench [NAME…]`: the benchmarks; each prints figures and ratios measured in one run."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

BENCHES: Final = ("start", "reading", "expressions", "chain", "diff", "cluster", "verdict", "fleet", "live", "worker")


def main() -> int:
    """Run the benchmarks named, or all."""
    names = sys.argv[1:] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    for name in names:
        sys.argv = [f"bench_{name}"]
        import_module(f"tests.bench.bench_{name}").main()
        print(flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
