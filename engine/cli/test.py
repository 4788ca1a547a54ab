"""`engine test`: the tests inside packs.

What a test means is `engine.lang.packtest`'s; packs that do not link are not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.findings import counted, print_findings, wants_colour
from engine.cli.packs import choose, rules_option
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
        "engine test rules/manufacturers --coverage",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--coverage", is_flag=True, help="Also fail on rules that no test makes fire, or shows silent.")
@rules_option
def command(paths: tuple[str, ...], coverage: bool, rules: Path | None) -> int:
    """Run the tests inside packs.

    A PATH is a pack file, a folder that holds packs, or - for standard input; without one the shipped packs are tested.
    """
    chosen = choose(paths, rules)
    program, found = chosen.linked.program, chosen.linked.diagnostics
    if program is None or found.has_errors:
        print_findings(found.sorted(), "text", [counted(len(chosen.packs), "pack") + " not tested"])
        return Exit.FINDINGS
    tested = [
        _run(program, pack, coverage=coverage) for pack in program.packs if (pack.kind, pack.name) in chosen.names
    ]
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
    return Exit.CLEAN if all(one.report.is_green for one in tested) else Exit.TESTS_FAILED


def _run(program: Program, pack: LinkedPack, *, coverage: bool) -> _Tested:
    return _Tested(pack, run_pack_tests(program, pack, CATALOGUE, JOINT, coverage=coverage))
