"""Runs the steps of the Dockerfile's first stage in a folder, where there is no container engine, and tries what comes out.

`python charts/image.py [FOLDER]`. It is no container: steps run as whoever calls this, with this machine's Python and network. Only
the instructions that our Dockerfile has are known; another one stops it.
"""

# ruff: noqa: INP001  (a script, run by its path)

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = "/src"
TARGET: Final = "/opt/engine"
TRIED: Final = (("version",), ("validate", "--help"), ("worker", "--check"))
"""Commands that have to work with the result."""


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Name and argument of each, in order; comments gone, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


def stages(text: str) -> list[list[tuple[str, str]]]:
    """The instructions of each stage, its FROM first; what stands before the first is in none."""
    found: list[list[tuple[str, str]]] = []
    for name, rest in instructions(text):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


def run_build(folder: Path) -> Path:
    """The first stage, below a folder. Returns what the last stage would copy. Raises: CalledProcessError: a step failed."""
    source, target = folder / "src", folder / "opt" / "engine"
    source.mkdir(parents=True)
    target.parent.mkdir(parents=True)
    tools = folder / "tools"
    subprocess.run([sys.executable, "-m", "venv", str(tools)], check=True)  # noqa: S603
    environment = {**os.environ, "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    for name, rest in stages((REPOSITORY / "Dockerfile").read_text("utf-8"))[0]:
        match name:
            case "FROM" | "WORKDIR":
                pass
            case "ENV":
                environment.update(word.split("=", 1) for word in shlex.split(rest))
            case "COPY":
                *what, where = rest.split()
                for each in what:
                    _copy(REPOSITORY / each, source / where / each if where == "./" else source / where)
            case "RUN":
                step = rest.replace(TARGET, str(target)).replace(SOURCE, str(source))
                print(f"RUN {rest[:100]}", flush=True)  # noqa: T201
                subprocess.run(["/bin/sh", "-ec", step], check=True, cwd=source, env=environment)  # noqa: S603
            case _:
                raise SystemExit(f"Dockerfile: {name} is not known here")
    return target


def main() -> int:
    """Returns the exit code."""
    if len(sys.argv) > 1:
        return _try(run_build(Path(sys.argv[1]).resolve()))
    with tempfile.TemporaryDirectory() as folder:
        return _try(run_build(Path(folder)))


def _try(target: Path) -> int:
    # As in the image: without rights to write bytecode, and from a folder that is not the checkout.
    environment = {"PATH": f"{target / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"}
    for arguments in TRIED:
        print(f"engine {' '.join(arguments)}", flush=True)  # noqa: T201
        subprocess.run(  # noqa: S603
            [str(target / "bin" / "engine"), *arguments],
            check=True,
            cwd=target,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
    return 0


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    else:
        shutil.copy2(source, target)


if __name__ == "__main__":
    raise SystemExit(main())
