"""The memo: answers kept by the values a section can look at.

Its entry (fired rules, values read, output) is the decision record that explanations print. It is no cache for speed at
scale: a hit costs about what an evaluation does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.lang.outcome import Outcome
from engine.lang.program import Program
from engine.lang.readset import PRESENCE

DEFAULT_ENTRIES: Final = 4096


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer with what it rests on: `read` maps each input path looked at to its value there."""

    section: str
    maker: str | None
    program_digest: str
    read: Mapping[str, Any]
    outcome: Outcome


class Memo:
    """A program that remembers its answers; the least recently used go first.

    Shape: answers are shared, so callers must not change them. Sections evaluated per allocation are not kept.
    """

    def __init__(self, program: Program, *, entries: int = DEFAULT_ENTRIES, skip: frozenset[str] = frozenset()) -> None:
        self.program = program
        self._entries = entries
        self._skip = skip
        self._kept: OrderedDict[tuple[Any, ...], Decision] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def decide(self, section: str, inputs: Mapping[str, Any], maker: str | None = None) -> Decision:
        """The decision for an input: from memory when every value its section can look at is one seen before."""
        compiled = self.program.section(section, maker)
        read = {} if compiled is None else {".".join(path): _at(inputs, path) for path in compiled.reads}
        key = (section, maker, self.program.digest, *(_frozen(value) for value in read.values()))
        kept = self._kept.get(key)
        if kept is not None:
            self.hits += 1
            self._kept.move_to_end(key)
            return kept
        self.misses += 1
        made = Decision(section, maker, self.program.digest, read, self.program.evaluate(section, inputs, maker))
        if section not in self._skip:
            self._kept[key] = made
            if len(self._kept) > self._entries:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if step == PRESENCE:
            return value is not None
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _frozen(value: Any) -> Any:
    """A value as something hashable that differs whenever the value does: 1 and true, a list and an object of its items."""
    if isinstance(value, Mapping):
        return ("{", *((key, _frozen(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("[", *(_frozen(item) for item in value))
    return ("?", value) if isinstance(value, bool) else value
