"""Every behaviour test starts at the top of the checkout, as examples do, and without colours or debugging.

Linking is the greater part of most commands, and packs that are equal byte for byte link to equal programs: what was linked
once in a test process is kept, with findings of its own for each command, since those are added to. A pack made by a test is
linked beside the shipped derivations and libraries; the nine makers beside it would cost most of the time and say nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from engine.cli import packs
from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from tests.behaviour.running import TOP

_linked: dict[Any, Linked] = {}


@pytest.fixture(autouse=True)
def _at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    monkeypatch.delenv("ENGINE_DEBUG", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(packs, "link", _linked_once)


def _linked_once(files: Iterable[PackFiles], catalogue: Any, **options: Any) -> Linked:
    groups = [tuple(files), tuple(options["context"]), tuple(options["overlays"])]
    if not groups[2] and not any(s.path.startswith(("rules", str(TOP))) for one in groups[0] for s in one.sources):
        groups[1] = tuple(one for one in groups[1] if "/manufacturers/" not in one.name and "/overlays/" not in one.name)
    key = (*(_bytes(group) for group in groups), tuple(sorted(options["overrides"].items())))
    if key not in _linked:
        _linked[key] = link(
            groups[0], catalogue, context=groups[1], overlays=groups[2], overrides=options["overrides"]
        )
    made = _linked[key]
    return replace(made, diagnostics=Diagnostics(made.diagnostics))


def _bytes(groups: tuple[PackFiles, ...]) -> tuple[Any, ...]:
    return tuple((one.name, one.directory, tuple((s.path, s.data) for s in one.sources)) for one in groups)
