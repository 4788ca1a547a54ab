"""The rule language: packs in, a Program out, decisions from a Program.

The public face. Names are imported when first used, so that a process which only loads a compiled Program never imports a
YAML reader or a model. Knows nothing of accelerators; reads no files, clock or environment.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.lang.diagnostics import Diagnostic, Diagnostics, Severity
    from engine.lang.linking import Linked, link
    from engine.lang.memo import Memo
    from engine.lang.outcome import Outcome, OutcomeKind
    from engine.lang.packs import PackFiles
    from engine.lang.packtest import run_tests
    from engine.lang.parser import parse
    from engine.lang.program import LinkedPack, Program
    from engine.lang.section import Catalogue, Combine, Owner, Section
    from engine.lang.source import Place, Position, Source, Span

_HOMES: Final = {
    "Catalogue": "section",
    "Combine": "section",
    "Diagnostic": "diagnostics",
    "Diagnostics": "diagnostics",
    "Linked": "linking",
    "LinkedPack": "program",
    "Memo": "memo",
    "Outcome": "outcome",
    "OutcomeKind": "outcome",
    "Owner": "section",
    "PackFiles": "packs",
    "Place": "source",
    "Position": "source",
    "Program": "program",
    "Section": "section",
    "Severity": "diagnostics",
    "Source": "source",
    "Span": "source",
    "link": "linking",
    "parse": "parser",
    "run_tests": "packtest",
}

__all__ = [
    "Catalogue",
    "Combine",
    "Diagnostic",
    "Diagnostics",
    "Linked",
    "LinkedPack",
    "Memo",
    "Outcome",
    "OutcomeKind",
    "Owner",
    "PackFiles",
    "Place",
    "Position",
    "Program",
    "Section",
    "Severity",
    "Source",
    "Span",
    "link",
    "parse",
    "run_tests",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
