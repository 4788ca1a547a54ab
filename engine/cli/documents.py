"""Objects as YAML and JSON text, the way `kubectl get -o yaml` and `-o json` print them.

Writes plain JSON values only. Reading is `engine.lang.reader`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

# Plain in YAML 1.1 and 1.2 alike, and for every reader a text: letters first, nothing that ends or starts a construct.
_PLAIN: Final = re.compile(r"[A-Za-z_/.(][A-Za-z0-9_./()@+-]*(?:[: ][A-Za-z0-9_./()@+-]+)*", re.ASCII)
_AMOUNT: Final = re.compile(r"[1-9][0-9]*(?:[KMGTPE]i|[kMGTm])", re.ASCII)
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))


def json_text(value: Any) -> str:
    """Two blanks a level, keys as they come."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def yaml_text(value: Any) -> str:
    """One document, every line ended. Lists stand at their key's own column, as kubectl prints them."""
    return "".join(f"{line}\n" for line in _lines(value))


def yaml_stream(objects: Iterable[Any]) -> str:
    """Documents with `---` between."""
    return "---\n".join(yaml_text(each) for each in objects)


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _entry(f"{_scalar(str(key))}:", item)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            first, *rest = _lines(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _entry(head: str, item: Any) -> Iterator[str]:
    if isinstance(item, Mapping) and item:
        yield head
        yield from (f"  {line}" for line in _lines(item))
    elif isinstance(item, (list, tuple)) and item:
        yield head
        yield from _lines(item)
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    text = str(value)
    return text if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    if _AMOUNT.fullmatch(text):
        return True
    lower = text.lower()
    if lower in _WORDS or lower.lstrip("+-.") in _WORDS or not _PLAIN.fullmatch(text):
        return False
    # `.5` and `.e3` are numbers to some readers, `...` ends a document.
    return not text.startswith(".") or text[1:2].isalpha()


def _quoted(text: str) -> str:
    """In double quotes: JSON's escapes are YAML's, and what a terminal would act on is escaped too."""
    return "".join(
        c if c.isprintable() else f"\\U{ord(c):08x}" if ord(c) >= 0x7F else c
        for c in json.dumps(text, ensure_ascii=False)
    )
