"""Linking and testing packs takes a second; what was linked in one test is not linked again in the next.

No assertions here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engine.delivery import decide
from engine.delivery.candidate import content_digest
from engine.lang.linking import Linked, link
from engine.lang.packs import PackFiles
from engine.lang.packtest import TestReport, run_pack_tests
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue

_LINKED: dict[Any, Linked] = {}
_TESTED: dict[Any, TestReport] = {}


def judge_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, equal packs are linked and tested once in this process."""
    monkeypatch.setattr(decide, "link", _linked_once)
    monkeypatch.setattr(decide, "run_pack_tests", _tested_once)


def _linked_once(
    files: Sequence[PackFiles],
    catalogue: Catalogue,
    *,
    overlays: Sequence[PackFiles] = (),
    overrides: Mapping[str, str] | None = None,
) -> Linked:
    contents = tuple(tuple(content_digest(group) for group in groups) for groups in (files, overlays))
    key = (contents, tuple(sorted((overrides or {}).items())))
    if key not in _LINKED:
        _LINKED[key] = link(files, catalogue, overlays=overlays, overrides=overrides or {})
    return _LINKED[key]


def _tested_once(program: Program, pack: LinkedPack, catalogue: Catalogue, joint: Any) -> TestReport:
    # By identity: a pack's digest does not cover its tests. What was linked once stays, and so does its id.
    key = (id(program), pack.kind, pack.name)
    if key not in _TESTED:
        _TESTED[key] = run_pack_tests(program, pack, catalogue, joint)
    return _TESTED[key]
