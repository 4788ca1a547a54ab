"""The chain at scale: first plans of 100, 1,000 and 10,000 nodes, and what an unchanged or a changed node costs after.

Every node has an accelerator product of its own, and so a pool, a type and a queue of its own: the worst case. Loading
documents is not measured; it costs milliseconds a machine and has nothing to do with the chain.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from engine.chain.chain import Chain
from engine.chain.changes import NodeSet
from engine.chain.node import NodeProgram
from engine.domain.facts import CardFacts, CpuFacts, LibraryFacts, NodeFacts
from engine.domain.units import DriverIndex, Mib
from engine.lang.linking import link
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE

SIZES = (100, 1_000, 10_000)
KINDS_OF_CPU = 60
RUNS = 5
UNCHANGED_NODES = 1_000
MAKER = "nvidia"

MAX_GROWTH = 1.5
MAX_MEMORY_MIB = 400
MAX_UNCHANGED_PERCENT = 3.0
MAX_CHANGED_PERCENT = 1.0


def shipped_program() -> NodeProgram:
    """The packs that come with Engine, linked; of the makers only the one whose cards are planned."""
    others = ("manufacturers", "overlays")
    wanted = [p for p in shipped_packs() if p.name.endswith(MAKER) or not any(each in p.name for each in others)]
    linked = link(wanted, CATALOGUE)
    if linked.program is None:
        raise SystemExit("\n".join(f"{each.place}: {each.code} {each.message}" for each in linked.diagnostics.sorted()))
    return linked.program


def machine(number: int) -> NodeFacts:
    """One node with a card that no other node has, and one of a few dozen CPUs."""
    kind = number % KINDS_OF_CPU
    cores = 8 + 8 * (kind % 8)
    return NodeFacts(
        name=f"node-{number:05d}",
        os="linux",
        arch="amd64",
        capacity={"cpu": str(cores), "memory": "256Gi", "pods": "110"},
        labels={"kubernetes.io/hostname": f"node-{number:05d}"},
        cpu=CpuFacts(
            vendor_id="AMD",
            family="25",
            model_id="1",
            name=f"AMD EPYC {7000 + kind} Processor",
            physical_cores=cores // 2,
            threads_per_core=2,
            logical_cores=cores,
        ),
        pci=(),
        libraries=(
            LibraryFacts(
                MAKER,
                "580.159.03",
                "13.0",
                cards=(
                    CardFacts(
                        uuid=f"GPU-{number:08d}",
                        driver_index=DriverIndex(0),
                        name=f"Accelerator {number:05d}",
                        memory_mib=Mib(24564),
                        cores=10240,
                        compute_capability="8.6",
                        slots={"minor": 0},
                    ),
                ),
            ),
        ),
    )


def snapshot(nodes: int) -> list[NodeSet]:
    """That many nodes."""
    return [NodeSet(machine(number)) for number in range(nodes)]


def first_plan(program: NodeProgram, changes: Iterable[NodeSet]) -> Chain:
    """A chain of these nodes from nothing."""
    chain = Chain(program)
    chain.apply(changes)
    return chain


def seconds(work: Callable[[], object], runs: int) -> float:
    """The median processor time of some runs: the chain never waits, so what else the machine does is left out."""
    taken = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def peak_mib(nodes: int) -> float:
    """The most resident memory of a process that plans so many nodes: interpreter, program and facts included."""
    command = [sys.executable, "-m", "tests.bench.bench_chain", "--peak-of", str(nodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(argv: list[str] | None = None) -> int:
    """Print the tables. Returns 1 when a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out sizes above this")
    parser.add_argument("--peak-of", type=int, default=0, help="plan so many nodes and print the peak memory in MiB")
    options = parser.parse_args(argv)
    program = shipped_program()
    if options.peak_of:
        first_plan(program, snapshot(options.peak_of))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return 0
    sizes = [size for size in SIZES if size <= options.largest]
    verdicts = [*_growth(program, sizes, options.runs), *_memory(sizes[-1]), *_second(program, sizes[-1], options.runs)]
    for text, holds in verdicts:
        print(f"{'ok  ' if holds else 'MISS'}  {text}")
    return 0 if all(holds for _, holds in verdicts) else 1


def _growth(program: NodeProgram, sizes: list[int], runs: int) -> list[tuple[str, bool]]:
    print(f"{'NODES':>7}  {'FIRST PLAN':>12}  {'PER NODE':>12}")
    per_node = []
    for size in sizes:
        changes = snapshot(size)
        taken = seconds(lambda changes=changes: first_plan(program, changes), runs)  # type: ignore[misc]
        per_node.append(taken / size)
        print(f"{size:>7}  {taken:>10.3f} s  {taken / size * 1e6:>9.0f} us")
    growth = per_node[-1] / per_node[0]
    print()
    return [
        (
            f"time a node, {sizes[-1]} against {sizes[0]} nodes: {growth:.2f}x, at most {MAX_GROWTH}x",
            growth <= MAX_GROWTH,
        )
    ]


def _memory(size: int) -> list[tuple[str, bool]]:
    peak = peak_mib(size)
    return [(f"peak memory of {size} nodes: {peak:.0f} MiB, at most {MAX_MEMORY_MIB} MiB", peak <= MAX_MEMORY_MIB)]


def _second(program: NodeProgram, size: int, runs: int) -> list[tuple[str, bool]]:
    some = snapshot(min(UNCHANGED_NODES, size))
    first = seconds(lambda: first_plan(program, some), runs)
    chain = first_plan(program, some)
    again = [snapshot(len(some)) for _ in range(runs)]
    unchanged = seconds(lambda: chain.apply(again.pop()), runs) / first * 100

    changes = snapshot(size)
    start = time.process_time()
    chain = first_plan(program, changes)
    whole = time.process_time() - start
    node = changes[size // 2].facts
    flips = [replace(node, capacity=dict(node.capacity) | {"cpu": str(8 + 8 * turn)}) for turn in range(runs)]
    changed = seconds(lambda: chain.apply([NodeSet(flips.pop())]), runs) / whole * 100
    return [
        (
            f"{len(some)} unchanged nodes: {unchanged:.2f} % of their first plan, at most {MAX_UNCHANGED_PERCENT} %",
            unchanged <= MAX_UNCHANGED_PERCENT,
        ),
        (
            f"one changed node in {size}: {changed:.3f} % of the first plan, at most {MAX_CHANGED_PERCENT} %",
            changed <= MAX_CHANGED_PERCENT,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
