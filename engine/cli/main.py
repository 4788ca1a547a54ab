"""The entry point of the `engine` command.

Answers `engine --help` by itself, so that it costs little more than starting Python; everything else is the group's.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading

from engine.cli.commands import BY_NAME, PROGRAM, overview

INTERRUPTED = 130  # what shells give a program that was interrupted
COLLECT_AFTER = 1_000_000  # objects made and not yet freed: a hundred MiB of them at most
COLLECT_AFTER_IN_SERVICES = 200_000  # they live on, with what was not collected
COMPLETION_VARIABLE = f"_{PROGRAM.upper()}_COMPLETE"


def main() -> None:
    """Run the command line; never returns."""
    if sys.argv[1:] in ([], ["--help"], ["-h"]) and COMPLETION_VARIABLE not in os.environ:
        sys.exit(_print_overview())
    # A command lives for seconds and makes few cycles: collecting its trees again and again costs a fifth of its time.
    listed = BY_NAME.get("".join(sys.argv[1:2]))  # nothing is named while a shell completes
    gc.set_threshold(COLLECT_AFTER_IN_SERVICES if listed is not None and listed.is_service else COLLECT_AFTER)
    try:
        from engine.cli.group import cli

        cli()
    except KeyboardInterrupt:  # while importing: the group itself answers interrupts
        sys.exit(INTERRUPTED)
    except SystemExit as end:
        _leave(end.code)
        raise


def _leave(code: object) -> None:
    """End the process at once when all is said.

    Taking a command's trees apart, object by object, costs a tenth of its time, and the system takes the memory back anyway.
    """
    if not isinstance(code, int) or threading.active_count() > 1:
        return  # a message to print, or somebody to wait for: the interpreter's own way out does both
    atexit._run_exitfuncs()  # noqa: SLF001 - the only way to run them and go on
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        return
    os._exit(code)


def _print_overview() -> int:
    try:
        sys.stdout.write(overview() + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
