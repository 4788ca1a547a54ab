"""What one plan calls things, in the words of the other: so that one renaming is told once and not in every field.

Translates texts only; which name became which is the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from engine.diff.difference import Renamed

_RUN: Final = re.compile(r"[A-Za-z0-9-]+")
_JOINT: Final = "--"
"""Between the parts of a name. Source: specification 20, names of flavors and types."""


class Words:
    """Old names to new ones, where one name became one. Cost: linear in a text, however many words there are."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)
        self._known: dict[str, str] = {}  # labels and fields repeat the same few texts on every node

    @classmethod
    def of(cls, renamed: Iterable[Renamed]) -> Words:
        """The words of renamings; a name that became several has no translation."""
        return cls({one.old: one.new[0] for one in renamed if len(one.new) == 1})

    def text(self, text: str) -> str:
        """A text in the new words: runs of letters, digits and `-` that are a name, or whose parts are."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = _RUN.sub(self._run, text) if self._words else text
        return known

    def _run(self, found: re.Match[str]) -> str:
        run, words = found[0], self._words
        return words.get(run) or _JOINT.join(words.get(part, part) for part in run.split(_JOINT))

    def keys(self, labels: Mapping[str, str]) -> dict[str, str]:
        """A map with its keys in the new words, values too."""
        return {self.text(key): self.text(value) for key, value in labels.items()}

    def value(self, value: Any) -> Any:
        """A plain value, keys and texts in it in the new words."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value
