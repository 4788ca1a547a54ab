"""The door to packs on disk: folders walked, files read, shipped rules found.

The only place where pack files are opened by commands. A folder with a `pack.yaml` is one pack with all YAML below it; in any
other folder every YAML file is a pack of its own. What is in the files is `engine.lang`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from engine.errors import InputError
from engine.lang.diagnostics import Diagnostics
from engine.lang.limits import MAX_PACK_BYTES
from engine.lang.packs import PackFiles
from engine.lang.source import Source

YAML_ENDINGS: Final = (".yaml", ".yml")
PACK_FILE: Final = "pack.yaml"
SHIPPED: Final = Path("rules")
_PROSE: Final = (".md", ".txt")


def shipped_rules() -> Path:
    """The folder of the packs that come with Engine: beside the package in a checkout, inside it once installed."""
    here = Path(__file__).resolve().parent
    for candidate in (here / "_data" / "rules", here.parent / "rules"):
        if candidate.is_dir():
            return candidate
    raise InputError(
        "the shipped rules are not there", where=str(here), remedy="install Engine again, or give --rules DIR"
    )


@cache
def shipped_packs() -> tuple[PackFiles, ...]:
    """The packs that come with Engine, their files named `rules/…` wherever they lie.

    Raises: InputError: they cannot be read.
    """
    folder = shipped_rules()

    def named(path: str) -> str:
        return (SHIPPED / Path(path).relative_to(folder)).as_posix()

    return tuple(
        PackFiles(named(found.name), tuple(Source(named(one.path), one.data) for one in found.sources), found.directory)
        for found in find_packs([folder], Diagnostics())
    )


def find_packs(paths: Iterable[Path], diagnostics: Diagnostics) -> list[PackFiles]:
    """Packs below some paths, in the order of their names.

    Raises: InputError: a path is not there or cannot be read. A file with another ending than YAML's is a diagnostic.
    """
    found: list[PackFiles] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} is not there", remedy="give a pack file, or a folder that holds packs")
        if path.is_dir():
            found.extend(_walk(path, diagnostics))
        else:
            found.append(PackFiles(str(path), (read_source(path),)))
    return found


def read_source(path: Path) -> Source:
    """The bytes of a file. Raises InputError. Reads little more than the limit of a file, however large it is."""
    try:
        with path.open("rb") as file:
            return Source(str(path), file.read(MAX_PACK_BYTES + 1))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read", why=error.strerror or str(error), remedy="check the path and its rights"
        ) from error


def _walk(folder: Path, diagnostics: Diagnostics) -> Iterator[PackFiles]:
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    if any(entry.name.lower() == PACK_FILE for entry in entries):
        files = sorted(_yaml_below(folder, diagnostics), key=lambda file: (file.name != PACK_FILE, str(file)))
        yield PackFiles(str(folder), tuple(read_source(file) for file in files), directory=True)
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(entry, diagnostics)
        elif _is_yaml(entry, diagnostics):
            yield PackFiles(str(entry), (read_source(entry),))


def _yaml_below(folder: Path, diagnostics: Diagnostics) -> Iterator[Path]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _yaml_below(entry, diagnostics)
        elif _is_yaml(entry, diagnostics):
            yield entry


def _is_yaml(file: Path, diagnostics: Diagnostics) -> bool:
    ending = file.suffix.lower()
    if ending in YAML_ENDINGS:
        return True
    if ending not in _PROSE:
        diagnostics.error(
            "RP001",
            f"{file.name} is no YAML file",
            path=str(file),
            help="packs end in .yaml or .yml; move other files elsewhere",
        )
    return False
