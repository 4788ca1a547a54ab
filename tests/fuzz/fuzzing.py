"""Fuzzing of expressions and packs: whatever is in them, the answer is a value or a finding, soon, and in little memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.lang.check import Scope, check_expression
from engine.lang.compile import compile_node
from engine.lang.diagnostics import Diagnostics
from engine.lang.fold import fold
from engine.lang.functions import FUNCTIONS
from engine.lang.linking import link
from engine.lang.notation import parse_type
from engine.lang.packs import PackFiles
from engine.lang.parser import parse
from engine.lang.render import render_text
from engine.lang.source import Place, Source, Span
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE
from engine.sections.packlint import lint_packs

from .guard import HangError, peak_mb, within_a_second
from .mutation import mutated, words_of

INPUT = {
    "card": {"name": "Acme One", "memoryMib": 24563, "index": 0, "cores": None, "slots": {"minor": 3}},
    "alloc": {"mode": "sliced", "grant": "slice", "cards": [{"uuid": "a", "sliceMib": 5}, {"uuid": "b", "sliceMib": None}]},
    "node": {"cores": 4, "arch": "amd64", "levels": ["a", "b"]},
    "item": {"a": [1, 2], "b": {"c": "x"}, "t": True},
}  # fmt: skip
TYPES = {
    "card": "{name?: str, memoryMib?: int, index: int, cores?: int, slots: map<int?>}",
    "alloc": "{mode: 'sliced'|'exclusive', grant: 'slice'|'whole', cards: {uuid: str, sliceMib?: int}[]}",
    "node": "{cores: int, arch: str, levels: str[]}",
    "item": "any",
}
CONSTANTS: dict[str, Any] = {"params": {"most": 4}, "tables": {"t": [{"match": "a*", "value": "x"}], "m": {"a": "b"}}}


@dataclass
class Tally:
    """What a run came to. `faults` hold the text that broke something, and what it broke."""

    tried: int = 0
    accepted: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)

    def note(self, text: str, attempt: Callable[[str], bool]) -> None:
        """Try one text."""
        self.tried += 1
        try:
            with within_a_second():
                self.accepted += attempt(text)
        except HangError as error:
            self.faults.append((text, f"a hang: {error}"))
        except EngineError:
            pass  # a finding with what, where and why
        except Exception as error:
            self.faults.append((text, repr(error)))


def fuzz_expressions(count: int, seed: int) -> Tally:
    """Try mutated expressions of the shipped rules: parse, check, fold, compile, evaluate."""
    return _fuzz(count, seed, expressions(), _expression, most=4)


def fuzz_packs(count: int, seed: int) -> Tally:
    """Try mutated packs: read, link, lint, print what is found."""
    return _fuzz(count, seed, packs(), _pack, most=2)


def _fuzz(count: int, seed: int, seeds: tuple[str, ...], attempt: Callable[[str], bool], *, most: int) -> Tally:
    random_, words = random.Random(seed), words_of(seeds)
    tally = Tally()
    before = peak_mb()
    for _ in range(count):
        text = mutated(random_.choice(seeds), words, random_, most=most)
        tally.note(text, attempt)
        if peak_mb() - before > 200:
            tally.faults.append((text, f"memory grew by {peak_mb() - before:.0f} MB"))
            break
    return tally


def _expression(text: str) -> bool:
    node = parse(text)
    found = Diagnostics()
    source = Source("expression", text.encode("utf-8", "replace"))

    def where(start: int, end: int) -> Place:
        return Place(source, Span(start, end))

    names = {name: parse_type(notation) for name, notation in TYPES.items()}
    check_expression(node, Scope(names), where=where, diagnostics=found)
    render_text(found)
    folded = fold(node, CONSTANTS, FUNCTIONS)
    for tree in (node, folded):
        try:
            compile_node(tree, FUNCTIONS)(INPUT)
        except EngineError:
            continue
    return not found.has_errors


def _pack(text: str) -> bool:
    files = PackFiles("pack.yaml", (Source("pack.yaml", text.encode("utf-8", "surrogatepass")),))
    linked = link([files], CATALOGUE, context=_shared())
    render_text(linked.diagnostics.sorted())
    render_text(lint_packs(linked).sorted())
    return linked.program is not None


@cache
def _shared() -> tuple[PackFiles, ...]:
    """The packs that give constants, tiers and settings; they have no rules."""
    return tuple(pack for pack in shipped_packs() if Path(pack.name).name in ("constants", "settings"))


@cache
def expressions() -> tuple[str, ...]:
    """The expressions of the shipped rules, and some that they have no need of."""
    found = {text for made in link(shipped_packs(), CATALOGUE).expressions for text, _, _ in made.texts}
    found |= {function.example[0] for function in FUNCTIONS.values()}
    found |= {
        "a.*.b | [0]",
        "a[1:3:-1]",
        "{a: b, c: `1`}",
        "[a, b][]",
        "a[?b == `1`].c",
        "sort_by(a, &b)",
        "map(&c, a)",
    }
    return tuple(sorted(found))


@cache
def packs() -> tuple[str, ...]:
    """Small packs, one a kind, and the shipped ones that are not long."""
    here = Path(__file__).parents[1]
    files = [
        *sorted((here / "corpus" / "link").glob("*/*.yaml")),
        *sorted((here / "corpus" / "structure").glob("7*.yaml")),
    ]
    found = [file.read_text() for file in files]
    found += [source.data.decode() for pack in shipped_packs() for source in pack.sources if len(source.data) < 8_000]
    return tuple(found)


def faults_of(tally: Tally) -> Iterator[str]:
    """The faults of a run, the text that caused each shortened."""
    for text, what in tally.faults[:5]:
        yield f"{what}\n    {text[:2000]!r}"
