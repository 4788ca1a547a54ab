"""`engine validate`: everything that can be said of packs without running them.

Runs no in-pack test (that is `engine test`). Every expression is also parsed by the jmespath package: two readings of one
text are a finding.
"""

from __future__ import annotations

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.findings import FORMS, counted, fails, print_findings
from engine.cli.packs import Chosen, Rules, link_files, read_files, rules_options
from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.library import LIBRARY
from engine.lang.oracle import matches_oracle
from engine.sections.packlint import lint_packs


@click.command(
    "validate",
    cls=Command,
    examples=(
        "engine validate",
        "engine validate rules/derive docs/examples/acme.yaml --fail-on warning",
        "engine validate rules/derive/topology --format json",
        "engine validate rules/derive/topology --format sarif",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", show_default=True, help="How to print findings."
)
@click.option("--fix", "fixed", is_flag=True, help="Mend what has one sure fix, in the files; report the rest.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="The least severity that makes the exit code 1.",
)
@rules_options
def command(paths: tuple[str, ...], form: str, fixed: bool, fail_on: str, rules: Rules) -> int:
    """Check packs without running them.

    A PATH is a pack file, a folder that holds packs, or - for standard input; without one the shipped packs are checked.
    Packs are linked beside the shipped ones, so one maker's pack can be checked alone.

    With --fix files are changed only where a finding has a sure fix; every other byte stays. What was changed is printed
    to standard error. Of standard input the mended text is printed, and the findings go to standard error.
    """
    files = read_files(paths, rules)
    if fixed:
        from engine.cli.fixing import fix_files

        files = fix_files(files, findings)
    chosen = link_files(files)
    found = findings(chosen)
    if fixed and files.is_standard_input:
        from engine.cli.fixing import print_mended

        print_mended(files, found)
        return Exit.FINDINGS if fails(found, fail_on) else Exit.CLEAN
    if not chosen.packs and not found:
        click.echo("engine: nothing to check: there is no pack there; packs are .yaml files", err=True)
        return Exit.NOTHING
    print_findings(found, form, [counted(len(chosen.packs), "pack")], packs=len(chosen.packs))
    return Exit.FINDINGS if fails(found, fail_on) else Exit.CLEAN


def findings(chosen: Chosen) -> list[Diagnostic]:
    """All findings about packs: of linking, of the second parser and of lint."""
    found = Diagnostics(chosen.linked.diagnostics)
    found.extend(_second_opinion(chosen))
    if any(pack.kind == LIBRARY for pack in chosen.packs):
        # What is wrong in a library shows only in the packs that use it.
        mine = {path for pack in chosen.packs for path in pack.files}
        found.extend(one for one in lint_packs(chosen.linked) if one.file in mine)
    else:
        found.extend(lint_packs(chosen.linked, only=chosen.names))
    return found.sorted()


def _second_opinion(chosen: Chosen) -> Diagnostics:
    """A finding for each expression that the jmespath package reads otherwise than this engine."""
    found = Diagnostics()
    told: dict[str, str | None] = {}
    for expressions in chosen.linked.expressions:
        for text, node, place in expressions.texts:
            if text not in told:
                told[text] = matches_oracle(text, node)
            difference = told[text]
            if difference is not None:
                found.error(
                    "RP301",
                    f"the jmespath package reads this expression differently: {difference}",
                    place,
                    help="say it in another way, with brackets where the order matters; and report it: one of the two is wrong",
                )
    return found
