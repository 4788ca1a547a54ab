"""`engine test`: the tests inside packs.

What a test means is `engine.lang.packtest`'s; packs that do not link are not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.findings import counted, print_findings, wants_colour
from engine.cli.forked import Told, cores, shared_out
from engine.cli.packs import Chosen, Rules, choose, rules_options
from engine.lang.packtest import TestReport, run_pack_tests
from engine.lang.program import LinkedPack, Program
from engine.lang.render import render_text
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT


@dataclass(frozen=True, slots=True)
class _Tested:
    pack: LinkedPack
    report: TestReport

    @property
    def line(self) -> str:
        """What the summary says of the pack."""
        parts = [counted(self.report.passed, "test") + " passed"]
        if self.report.failures:
            parts.append(f"{len(self.report.failures)} FAILED")
        if self.report.coverage:
            parts.append(counted(len(self.report.coverage), "coverage gap"))
        if parts == ["0 tests passed"]:
            parts = ["no tests"]
        return f"{self.pack.kind} {self.pack.name}: {', '.join(parts)}"


@click.command(
    "test",
    cls=Command,
    examples=(
        "engine test",
        "engine test rules/derive --coverage",
        "engine test rules/derive/topology --mutate",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--coverage", is_flag=True, help="Also fail on rules that no test makes fire, or shows silent.")
@click.option("--mutate", "mutated", is_flag=True, help="Also fail on changes of a rule that no test notices.")
@rules_options
def command(paths: tuple[str, ...], coverage: bool, mutated: bool, rules: Rules) -> int:
    """Run the tests inside packs.

    A PATH is a pack file, a folder that holds packs, or - for standard input; without one the shipped packs are tested.
    """
    chosen = choose(paths, rules)
    program, found = chosen.linked.program, chosen.linked.diagnostics
    if program is None or found.has_errors:
        print_findings(found.sorted(), "text", [counted(len(chosen.packs), "pack") + " not tested"])
        return Exit.FINDINGS
    tested = _run(
        program, [pack for pack in program.packs if (pack.kind, pack.name) in chosen.names], coverage=coverage
    )
    if not any(one.report.passed or one.report.failures for one in tested):
        click.echo("engine: nothing to test: no pack there has tests", err=True)
        return Exit.NOTHING
    for one in tested:
        click.echo(render_text(one.report.diagnostics(), colour=wants_colour()), nl=False)
    for one in tested:
        click.echo(one.line)
    failed = sum(len(one.report.failures) for one in tested)
    passed = sum(one.report.passed for one in tested)
    gaps = sum(len(one.report.coverage) for one in tested)
    head = f"{counted(len(tested), 'pack')}, {passed} passed, {failed} failed"
    click.echo(f"{head}, {counted(gaps, 'coverage gap')}" if coverage else head)
    green = all(one.report.is_green for one in tested)
    if mutated and green:  # mutants of failing tests say nothing
        green = _mutate(chosen)
    return Exit.CLEAN if green else Exit.TESTS_FAILED


def _run(program: Program, packs: Sequence[LinkedPack], *, coverage: bool) -> list[_Tested]:
    """The tests of some packs, shared out over the cores."""

    def reports(part: Sequence[LinkedPack]) -> list[TestReport]:
        return [run_pack_tests(program, pack, CATALOGUE, JOINT, coverage=coverage) for pack in part]

    parts = _parts(packs, cores())
    made = shared_out([partial(reports, part) for part in parts], Told(_passed, _green))
    by_name = {
        (one.kind, one.name): report
        for part, told in zip(parts, made, strict=True)
        for one, report in zip(part, told, strict=True)
    }
    return [_Tested(pack, by_name[pack.kind, pack.name]) for pack in packs]


def _passed(reports: Sequence[TestReport]) -> list[int] | None:
    """Green reports as numbers; one that is not green names places, and is made where they are known."""
    return [report.passed for report in reports] if all(report.is_green for report in reports) else None


def _green(passed: Sequence[int]) -> list[TestReport]:
    return [TestReport(number, ()) for number in passed]


def _parts(packs: Sequence[LinkedPack], count: int) -> list[list[LinkedPack]]:
    """Packs in so many parts with about as many tests in each: the largest first, always to the smallest part."""
    parts: list[list[LinkedPack]] = [[] for _ in range(count)]
    sizes = [0] * count
    for pack in sorted(packs, key=lambda one: -len(one.tests)):
        at = sizes.index(min(sizes))
        parts[at].append(pack)
        sizes[at] += len(pack.tests)
    return [part for part in parts if part]


def _mutate(chosen: Chosen) -> bool:
    """Print how many changes of the packs' rules their tests notice; whether that is all of them."""
    from engine.lang.mutate import mutate

    report = mutate(chosen.linked, CATALOGUE, JOINT, only=chosen.names)
    click.echo(render_text(report.diagnostics().sorted(), colour=wants_colour()), nl=False)
    for pack in report.packs:
        if pack.made or pack.not_loaded:
            click.echo(str(pack))
    for pack in report.packs:
        for mutant, reason in pack.accepted:
            click.echo(f"accepted: {mutant.place}: {mutant.operator}: {mutant.what}: {reason}")
    survived = sum(len(pack.survived) for pack in report.packs)
    lost = sum(pack.not_loaded for pack in report.packs)
    percent = f" ({report.accepted * 100 // report.made} %)" if report.made else ""
    click.echo(
        f"{counted(report.made, 'mutant')}, {report.killed} killed, {survived} survived, {report.accepted} accepted{percent}; "
        f"{lost} more did not load"
    )
    return report.is_green
