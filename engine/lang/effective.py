"""The effective pack: every value that counts after overlays, overrides and libraries, with who gave it and where.

Reads trees; evaluates nothing. How it is printed is the command's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from engine.lang.library import Used
from engine.lang.packs import Pack
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, Seq
from engine.lang.tree_edit import path_text

OWN: Final = "pack"


class EffectiveValue(Struct, frozen=True):
    """One value.

    Shape: `text` as written; an empty list or map is `[]` or `{}`. `layer` is `pack`, `library <name>`,
    `overlay <name> (<layer>)` or `override`.
    """

    path: str
    text: str
    layer: str
    place: Place


def effective(pack: Pack, used: tuple[Used, ...] = ()) -> list[EffectiveValue]:
    """Every value of a pack, in the order of its blocks; a library's after them, as they count in this pack.

    Shape: a rule is named by its id (`sections.inject.rules.inject-whole.when`), a group by its position. A library's
    parameters are under `use.<library>.with`, its lets under `use.<library>.let`, its tables under `tables` and its rules
    in their section.
    """
    made = [value for entry in pack.spec.values() if entry.key.text != "use" for value in _block(pack, entry)]
    for one in used:
        made.extend(_of_library(pack, one))
    return made


def why(values: list[EffectiveValue], path: str) -> list[EffectiveValue]:
    """The values at a path and under it."""
    return [one for one in values if one.path == path or one.path.startswith((f"{path}.", f"{path}["))]


def _block(pack: Pack, entry: Entry) -> Iterator[EffectiveValue]:
    if entry.key.text != "sections" or not isinstance(entry.value, Map):
        yield from _values(entry.value, (entry.key.text,), pack, OWN)
        return
    for section in entry.value.entries:
        body = section.value
        if isinstance(body, Seq):  # written as a bare list: the rules are where they would stand in a body
            yield from _values(body, ("sections", section.key.text, "rules"), pack, OWN)
        else:
            yield from _values(body, ("sections", section.key.text), pack, OWN)


def _of_library(pack: Pack, one: Used) -> Iterator[EffectiveValue]:
    layer = f"library {one.name}"
    for name, node in one.values.items():
        whose, home = (pack, OWN) if name in one.given else (one.library, layer)
        yield from _values(node, ("use", one.name, "with", name), whose, home)
    for let in one.lets:
        yield from _values(let.value, ("use", one.name, "let", let.key.text), one.library, layer)
    tables = one.library.spec.get("tables")
    if tables is not None:
        yield from _values(tables.value, ("tables",), one.library, layer)
    for section, entry in one.rules.items():
        yield from _values(entry.value, ("sections", section, "rules"), one.library, layer)


def _values(node: Node, path: tuple[str | int, ...], pack: Pack, layer: str) -> Iterator[EffectiveValue]:
    if isinstance(node, Map) and node.entries:
        for entry in node.entries:
            yield from _values(entry.value, (*path, entry.key.text), pack, layer)
    elif isinstance(node, Seq) and node.items:
        for number, item in enumerate(node.items):
            rule_id = item.get("id") if path[-1] == "rules" and isinstance(item, Map) else None
            step = rule_id.text if isinstance(rule_id, Scalar) else number
            yield from _values(item, (*path, step), pack, layer)
    else:
        text = node.text if isinstance(node, Scalar) else "[]" if isinstance(node, Seq) else "{}"
        given_by = pack.origins.get(node.place.source.path, layer)
        yield EffectiveValue(path_text(path), text, given_by, node.place)
