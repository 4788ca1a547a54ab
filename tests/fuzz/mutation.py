"""Broken texts from good ones: a seed and a random generator in, a text out.

Knows no language: it cuts, doubles, swaps and splices pieces, and takes words from the texts themselves.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_PIECE = re.compile(r"\w+|\s+|\W")
_NASTY = (
    "$(", ")", "(", "[", "]", "[?", "{", "}", "`", "'", '"', "&&", "||", "!", "@", "&", "|", ".", "*", "[]", "[0]",
    "[::0]", "[-1]", "`1`", "`-1`", "`null`", "`[]`", "`{}`", "`1e400`", "9" * 20, "\\", "\0", "\t", "\r\n", "\ufeff", "é",
    "\U0001f600", "&a", "*a", "<<: ", "!!int ", "---\n", "...\n", ": ", "- ", "# ", "? ", "| ", "> ", "~", "no", "0x1f",
    "1_000", ".inf", "null", "true", " ", "\n", "  ",
)  # fmt: skip


def mutated(text: str, words: Sequence[str], random_: random.Random, *, most: int = 4) -> str:
    """A text changed in one to `most` places."""
    for _ in range(random_.randint(1, most)):
        text = _once(text, words, random_)
    return text


def words_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The pieces of some texts, each once, in a fixed order."""
    return tuple(sorted({piece for text in texts for piece in _PIECE.findall(text)}))


def _once(text: str, words: Sequence[str], random_: random.Random) -> str:
    at = random_.randint(0, len(text))
    end = min(len(text), at + random_.choice((1, 1, 2, 5, 20)))
    match random_.randrange(7):
        case 0:
            return text[:at] + text[end:]
        case 1:
            return text[:at] + text[at:end] * random_.choice((2, 3, 30)) + text[end:]
        case 2:
            return text[:at] + random_.choice(_NASTY) + text[at:]
        case 3:
            return text[:at] + random_.choice(words) + text[end:]
        case 4:
            return _swapped(text, random_)
        case 5:
            nasty = random_.choice(_NASTY)
            return text[:at] + nasty * random_.choice((2, 40)) + text[at:]
        case _:
            start = random_.randint(0, len(text))
            return text[:at] + text[start : start + random_.randint(1, 40)] + text[at:]


def _swapped(text: str, random_: random.Random) -> str:
    pieces = _PIECE.findall(text)
    if len(pieces) < 2:
        return text
    one, other = random_.randrange(len(pieces)), random_.randrange(len(pieces))
    pieces[one], pieces[other] = pieces[other], pieces[one]
    return "".join(pieces)
