"""`engine functions`: what the rule language can call.

Prints the registry; an example's value there is the one that a test computed.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from engine.cli.command import Command
from engine.cli.documents import json_text
from engine.cli.exits import Exit
from engine.errors import UsageError
from engine.lang.diagnostics import nearest
from engine.lang.functions.registry import FUNCTIONS, Function


@click.command(
    "functions",
    cls=Command,
    examples=(
        "engine functions",
        "engine functions lookup",
    ),
)
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Also those that JMESPath has and packs may not call.")
def command(name: str | None, every: bool) -> int:
    """List the functions of the rule language, or describe one."""
    if name is None:
        click.echo("\n".join(_listing(every=every)))
        return Exit.CLEAN
    if name not in FUNCTIONS:
        near = nearest(name, FUNCTIONS)
        raise UsageError(
            f"there is no function {name}",
            remedy=f"did you mean {near}?" if near else "engine functions lists them",
        )
    click.echo("\n".join(_description(FUNCTIONS[name])))
    return Exit.CLEAN


def _listing(*, every: bool) -> Iterator[str]:
    shown = [function for function in FUNCTIONS.values() if function.in_profile or every]
    width = max(len(function.name) for function in shown) + 3
    for group in dict.fromkeys(function.group for function in shown):
        yield f"{group}:"
        yield from (f"  {each.name:<{width}}{each.help}" for each in shown if each.group == group)
        yield ""
    yield "engine functions NAME shows signature and example"


def _description(function: Function) -> Iterator[str]:
    expression, value = function.example
    yield function.signature
    yield f"  {function.help}"
    yield f"  example: {expression}  gives  {' '.join(json_text(value).split())}"
    if not function.in_profile:
        yield f"  packs may not call it{f': use {function.instead}' if function.instead else ''}"
    yield f"  since {function.since}"
