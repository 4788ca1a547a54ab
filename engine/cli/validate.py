"""`engine validate`: everything that can be said of packs without running them.

Runs no in-pack test (that is `engine test`). Every expression is also parsed by the jmespath package: two readings of one
text are a finding.
"""

from __future__ import annotations

import click

from engine.cli.command import Command
from engine.cli.exits import Exit
from engine.cli.findings import counted, fails, print_findings
from engine.cli.packs import Chosen, Rules, choose, rules_options
from engine.lang.diagnostics import Diagnostics
from engine.lang.oracle import matches_oracle


@click.command(
    "validate",
    cls=Command,
    examples=(
        "engine validate",
        "engine validate rules/manufacturers --fail-on warning",
        "engine validate rules/derive/topology --format json",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print findings.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="The least severity that makes the exit code 1.",
)
@rules_options
def command(paths: tuple[str, ...], form: str, fail_on: str, rules: Rules) -> int:
    """Check packs without running them.

    A PATH is a pack file, a folder that holds packs, or - for standard input; without one the shipped packs are checked.
    Packs are linked beside the shipped ones, so one maker's pack can be checked alone.
    """
    chosen = choose(paths, rules)
    second_opinion(chosen)
    found = chosen.linked.diagnostics.sorted()
    if not chosen.packs and not found:
        click.echo("engine: nothing to check: there is no pack there; packs are .yaml files", err=True)
        return Exit.NOTHING
    print_findings(found, form, [counted(len(chosen.packs), "pack")], packs=len(chosen.packs))
    return Exit.FINDINGS if fails(found, fail_on) else Exit.CLEAN


def second_opinion(chosen: Chosen) -> None:
    """Add a finding for each expression that the jmespath package reads otherwise than this engine."""
    found = Diagnostics()
    for expressions in chosen.linked.expressions:
        for text, node, place in expressions.texts:
            difference = matches_oracle(text, node)
            if difference is not None:
                found.error(
                    "RP301",
                    f"the jmespath package reads this expression differently: {difference}",
                    place,
                    help="say it in another way, with brackets where the order matters; and report it: one of the two is wrong",
                )
    chosen.linked.diagnostics.extend(found)
