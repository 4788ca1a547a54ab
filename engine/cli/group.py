"""The click group: finds a command when it is asked for, and runs it under guard.

Imports no command until then. What a command does, and which options it has, is its own module's.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from engine.cli.commands import BY_NAME, COMMANDS, PROGRAM, overview
from engine.cli.exits import ClosedPipeError, guarded

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class EngineGroup(click.Group):
    """The commands of the list, each imported when first named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names, in the order of the list."""
        return [listed.name for listed in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name, or None."""
        listed = BY_NAME.get(cmd_name)
        if listed is None:
            return None
        command = import_module(listed.module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name.

        Raises: click.UsageError: there is none; the message names the nearest.
        """
        name = args[0]
        if name not in BY_NAME and not name.startswith("-"):
            from engine.lang.diagnostics import nearest

            near = nearest(name, BY_NAME)
            meant = f"did you mean {near}?" if near else f"{PROGRAM} --help lists them"
            raise click.UsageError(f"There is no command {name!r}; {meant}", ctx)
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        """The overview: the same text that the entry point prints without click."""
        return overview()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A closed pipe gets through click, which would make it an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ClosedPipeError from error

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run with guard. Never raises but SystemExit; returns the exit code where not standalone."""
        # A path or a message may hold what the terminal's encoding lacks: print a substitute rather than fail.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        run = super().main
        code = guarded(lambda: run(args, prog_name or PROGRAM, complete_var, standalone_mode=False, **extra))
        if standalone_mode:
            sys.exit(code)
        return code


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from engine.cli.version import version_text

        click.echo(version_text())
        ctx.exit()


@click.group(name=PROGRAM, cls=EngineGroup, context_settings=SETTINGS)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
def cli() -> None:
    """Accelerators on Kubernetes from YAML rules: machines in, the Kueue scheduling chain out."""
