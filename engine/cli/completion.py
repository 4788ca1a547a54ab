"""`engine completion`: the script that makes a shell complete commands, options and files.

The script asks Engine itself each time, so it never grows old; click writes it.
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from engine.cli.command import Command
from engine.cli.commands import PROGRAM
from engine.cli.exits import Exit
from engine.cli.main import COMPLETION_VARIABLE
from engine.errors import UsageError

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=Command,
    examples=(
        "engine completion bash",
        "engine completion zsh",
        "engine completion fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script of a shell.

    Load it from the shell's start file, for bash `source <(engine completion bash)`.
    """
    made = get_completion_class(shell)
    if made is None:
        raise UsageError(f"there is no completion for {shell}", remedy=f"one of {', '.join(SHELLS)}")
    # The class's own source() runs the shell to learn its version; the script itself needs no shell.
    script = made(ctx.find_root().command, {}, PROGRAM, COMPLETION_VARIABLE)
    click.echo(script.source_template % script.source_vars())
    return Exit.CLEAN
