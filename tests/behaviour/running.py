"""Running the command line: in process for most tests, as a process of its own where that is what is tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from engine.cli.group import cli

TOP = Path(__file__).resolve().parents[2]
WALKTHROUGH = "tests/machines/walkthrough"


def run(*args: str, stdin: str | bytes | None = None) -> Result:
    """Run a command in process, from the current folder; no exception but an exit may come out."""
    result = CliRunner().invoke(cli, args, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def start(*args: str, folder: Path = TOP, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command as a process, from the top of the checkout."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TOP), **environment},
        capture_output=True,
        timeout=100,
        check=False,
    )
