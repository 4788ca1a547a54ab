"""`engine diff` at scale: two plans of 1,000 machines and their comparison, against one plan.

Every node has a product of its own, and the second side calls every product otherwise: the worst case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from engine.chain.changes import NodeSet
from engine.chain.plan import plan
from engine.diff.compare import compare
from engine.diff.injections import injected
from engine.diff.pairing import Pairing
from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.program import Program
from engine.lang.source import Source
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE
from tests.bench.bench_chain import MAKER, machine

MACHINES = 1_000
RUNS = 3
MAX_RATIO = 3.0
RENAMED = (b"product: $(card.name)", b"product: $(card.name) B")


def program(*, renamed: bool) -> Program:
    """The shipped packs with one maker; that maker's products called otherwise."""
    others = ("manufacturers", "overlays")
    wanted = [p for p in shipped_packs() if not any(one in p.name for one in others) or p.name.endswith(MAKER)]
    if renamed:
        wanted = [
            PackFiles(
                pack.name,
                tuple(Source(s.path, s.data.replace(*RENAMED)) for s in pack.sources),
                directory=pack.directory,
            )
            for pack in wanted
        ]
    made = link(wanted, CATALOGUE).program
    assert made is not None
    return made


def main() -> int:
    """Measure and print; 1 when the ratio is above the bar."""
    old, new = program(renamed=False), program(renamed=True)
    changes = [NodeSet(machine(number)) for number in range(MACHINES)]
    one = min(_seconds(lambda: plan(changes, old)) for _ in range(RUNS))
    both = min(_seconds(lambda: _diff(changes, old, new)) for _ in range(RUNS))
    found = _diff(changes, old, new)
    ratio = both / one
    print(
        f"diff of {MACHINES} machines, {len(found.renamed)} renamed: {both:.2f} s; one plan: {one:.2f} s; {ratio:.2f}x"
    )
    print(f"  bar: {MAX_RATIO}x")
    return int(ratio > MAX_RATIO)


def _diff(changes: list[NodeSet], old: Program, new: Program) -> Any:
    pairing = Pairing.of(plan(changes, old), plan(changes, new))
    return compare(pairing, injected(pairing, old, new))


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    raise SystemExit(main())
