"""What becomes of a command: its exit code, and one line for every error.

The only place that decides exit codes of errors. Prints to standard error and knows no command.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, TextIO

import click

from engine.cli.commands import PROGRAM
from engine.errors import ContractError, EngineError, InputError, UsageError

DEBUG_VARIABLE: Final = "ENGINE_DEBUG"


class Exit(IntEnum):
    """Exit codes; 130 is what shells give a program that was interrupted."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    INTERNAL = 3
    NOTHING = 4
    TESTS_FAILED = 5
    INTERRUPTED = 130


class ClosedPipeError(Exception):
    """Whoever read the output has gone: no error, and nothing left to do."""


def guarded(run: Callable[[], Any]) -> int:
    """Run a command; its exit code. No exception but SystemExit comes out."""
    debug = bool(os.environ.get(DEBUG_VARIABLE))
    try:
        code = run()
        _flush(sys.stdout)
        return int(code or Exit.CLEAN)
    except (ClosedPipeError, BrokenPipeError):
        _let_go_of_output()
        return Exit.CLEAN
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (UsageError, InputError) as error:
        if debug:
            traceback.print_exc()
        _say(f"error: {error}")
        return Exit.USAGE
    except OSError as error:  # of a file that no door re-wrapped, such as a folder that may not be listed
        if debug:
            traceback.print_exc()
        about = f"{error.filename} cannot be used: " if error.filename else ""
        _say(f"error: {about}{error.strerror or error}; check the path and its rights")
        return Exit.USAGE
    except Exception as error:  # noqa: BLE001 - the last line of defence: a user never sees a traceback
        if debug:
            traceback.print_exc()
        _say(f"internal error: {_shown(error)}; {_how_to_report(debug=debug)}")
        return Exit.INTERNAL


def _flush(stream: TextIO | None) -> None:
    if stream is not None:  # as after `>&-`
        stream.flush()


def _say(text: str) -> None:
    line = " ".join(text.split("\n"))
    click.echo(f"{PROGRAM}: {line}", err=True)


def _shown(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    at = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    name = (
        "" if isinstance(error, EngineError) and not isinstance(error, ContractError) else f"{type(error).__name__}: "
    )
    return f"{name}{error}{at}"


def _how_to_report(*, debug: bool) -> str:
    fault = "this is a fault of Engine, not of your files"
    if debug:
        return f"{fault}: please report it with the traceback above"
    return f"{fault}: run the command again with {DEBUG_VARIABLE}=1 and report it with the traceback that prints"


def _let_go_of_output() -> None:
    """Point standard output at nothing, so that the interpreter's own last flush does not complain."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
