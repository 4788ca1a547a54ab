"""Reading and linking once a test process: packs that are equal byte for byte link to equal programs.

Linking is the greater part of most commands. Findings are each command's own, since those are added to. A pack made by a test
is linked beside the shipped derivations and libraries; the nine makers beside it would cost most of the time and say nothing
of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.reader import Document, read
from engine.lang.source import Source
from tests.behaviour.running import TOP

_linked: dict[Any, Linked] = {}


@cache
def _read(source: Source) -> tuple[list[Document], Diagnostics]:
    return read(source)


def read_once(source: Source) -> tuple[list[Document], Diagnostics]:
    """What `read` gives: trees never change, findings are the caller's own."""
    documents, found = _read(source)
    return list(documents), Diagnostics(found)


def linked_once(files: Iterable[PackFiles], catalogue: Any, **options: Any) -> Linked:
    """What `link` gives, kept for the next command."""
    packs, context, overlays = tuple(files), tuple(options["context"]), tuple(options["overlays"])
    if not overlays and not any(s.path.startswith(("rules", str(TOP))) for one in packs for s in one.sources):
        context = tuple(one for one in context if "/manufacturers/" not in one.name and "/overlays/" not in one.name)
    key = (_bytes(packs), _bytes(context), _bytes(overlays), tuple(sorted(options["overrides"].items())))
    if key not in _linked:
        _linked[key] = link(packs, catalogue, context=context, overlays=overlays, overrides=options["overrides"])
    made = _linked[key]
    return replace(made, diagnostics=Diagnostics(made.diagnostics))


def _bytes(groups: tuple[PackFiles, ...]) -> tuple[Any, ...]:
    return tuple((one.name, one.directory, tuple((s.path, s.data) for s in one.sources)) for one in groups)
