"""A page that is walked through: files are written and commands run in the order in which they stand.

A fence of YAML after `<!-- file: PATH -->` is a file. In a fence of `console` lines that start with `$ ` are commands, what
follows is their output. `python -m tests.docs.walked PAGE` writes the outputs into the page anew.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.behaviour.running import run

_BLOCK = re.compile(
    r"<!-- file: (?P<path>\S+) -->\n```yaml\n(?P<file>.*?)^```$|^```console\n(?P<console>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_COMMAND = re.compile(r"^\$ (?P<line>.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ran:
    """One command of a page: what the page says it prints, and what it printed."""

    line: str
    said: str
    printed: str


def walk(page: str) -> Iterator[Ran]:
    """Do what a page says, in the current folder."""
    for block in _BLOCK.finditer(page):
        if block["path"]:
            path = Path(block["path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["file"], encoding="utf-8")
            continue
        for found in _COMMAND.finditer(block["console"]):
            program, *args = shlex.split(found["line"])
            assert program == "engine", found["line"]
            yield Ran(found["line"], found["output"], run(*args).output)


def main() -> None:
    """Write what the commands print into a page."""
    file = Path(sys.argv[1]).resolve()
    page = file.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for ran in walk(page):
            page = page.replace(f"$ {ran.line}\n{ran.said}", f"$ {ran.line}\n{ran.printed}", 1)
    file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
