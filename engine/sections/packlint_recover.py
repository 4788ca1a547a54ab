"""Lint of `recover`: what blocks say of old files against the cards, claims and calls that the pack has (RP543).

A block is used when a node starts with files of an earlier version, long after the pack was written: what is wrong in it has
to be found here. Reads no file; `engine.sections.recover` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from engine.lang import ir
from engine.lang.diagnostics import Diagnostic, Related, Severity, nearest
from engine.lang.lint import LintedPack
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, Seq
from engine.sections import claims
from engine.sections.recover import ALL, ARGS_PREFIX, CARD_FIELDS, CARD_PREFIX, HEX_WORDS, INT, OWNER

_SLOTS: Final = "slots."


def check_recover(one: LintedPack) -> Iterator[Diagnostic]:
    """Blocks that could read no file, or whose answers the pack has no use for."""
    entry = one.pack.spec.get("recover")
    blocks = (
        [item for item in entry.value.items if isinstance(item, Map)] if entry and isinstance(entry.value, Seq) else []
    )
    seen: dict[str, Place] = {}
    for block in blocks:
        yield from _files(block, seen)
        yield from _card(block, _slots(one))
        yield from _claims(block, _claim_names(one))
        yield from _intent(block, _intents(one))


def _files(block: Map, seen: dict[str, Place]) -> Iterator[Diagnostic]:
    files = block.get("files")
    if not isinstance(files, Scalar):
        return
    first = seen.setdefault(files.text, files.place)
    if first != files.place:
        related = (Related("the one that reads them", first),)
        yield _error("an earlier block reads these files", files.place, "make one block of the two", related)
    separator, form = block.entry("separator"), block.get("format")
    if separator is not None and isinstance(form, Scalar) and form.text == "json":
        yield _error("a JSON file has no separator", separator.key.place, "remove it, or write `format: lines`")


def _card(block: Map, slots: Sequence[str]) -> Iterator[Diagnostic]:
    """The fields that say which card a file is about: under `card`, and as `card.<field>` under `match`."""
    fields = [(entry.key.text, entry) for entry in _entries(block, "card")]
    for entry in _entries(block, "match"):
        name = entry.key.text
        if name.startswith(CARD_PREFIX):
            fields.append((name.removeprefix(CARD_PREFIX), entry))
        elif name not in OWNER and not name.startswith(ARGS_PREFIX):
            allowed = [*OWNER, f"{CARD_PREFIX}<field>", f"{ARGS_PREFIX}<argument>"]
            yield _error(f"nothing is matched with `{name}`", entry.key.place, _meant(name, allowed))
    fields_known = [*CARD_FIELDS, *(f"{_SLOTS}{slot}" for slot in slots)]
    for name, entry in fields:
        if name not in fields_known:
            yield _error(f"no card has a field `{name}`", entry.key.place, _meant(name, fields_known))
    if not fields:
        yield _error(
            "the block does not say which card a file is about",
            _head(block),
            f"add `card:`, or `{CARD_PREFIX}<field>` under `match`: one of {', '.join(fields_known)}",
        )


def _claims(block: Map, names: Sequence[str] | None) -> Iterator[Diagnostic]:
    for entry in _entries(block, "claims"):
        name, how = entry.key.text, entry.value
        if names is not None and name not in names:
            yield _error(f"no rule claims `{name}`", entry.key.place, _meant(name, names))
        keys = [each.key.text for each in how.entries] if isinstance(how, Map) else []
        if keys not in ([HEX_WORDS], [INT], [INT, ALL], [ALL, INT]):
            yield _error(
                f"`{name}` is read in no known way",
                entry.key.place,
                f"write `{{{HEX_WORDS}: KEY}}` or `{{{INT}: KEY, {ALL}: NUMBER}}`",
            )


def _intent(block: Map, intents: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The call that made what a file tells of, so that it can be undone as if it had been made today."""
    named = block.get("intent")
    args = [entry for entry in _entries(block, "match") if entry.key.text.startswith(ARGS_PREFIX)]
    answer = _entries(block, "answer")
    if not isinstance(named, Scalar):
        for entry in [*args[:1], *answer[:1]]:
            yield _error(
                f"`{entry.key.text}` belongs to a call, and the block names none", entry.key.place, "add `intent:`"
            )
        return
    intent = intents.get(named.text)
    if intent is None:
        yield _error(
            f"`facts.intents` declares no call `{named.text}`", named.place, _meant(named.text, sorted(intents))
        )
        return
    for what, part, given in (("takes no argument", "args", args), ("answers no", "answer", answer)):
        declared = sorted(intent.get(part) or {})
        for entry in given:
            name = entry.key.text.removeprefix(ARGS_PREFIX) if part == "args" else entry.key.text
            if name not in declared:
                yield _error(f"`{named.text}` {what} `{name}`", entry.key.place, _meant(name, declared))


def _entries(block: Map, name: str) -> tuple[Entry, ...]:
    node: Node | None = block.get(name)
    return node.entries if isinstance(node, Map) else ()


def _slots(one: LintedPack) -> list[str]:
    identity = one.compiled.blocks.get("identity")
    return [str(slot) for slot in identity.get("slots") or ()] if isinstance(identity, Mapping) else []


def _intents(one: LintedPack) -> Mapping[str, Any]:
    facts = one.compiled.blocks.get("facts")
    found = facts.get("intents") if isinstance(facts, Mapping) else None
    return {str(name): intent or {} for name, intent in (found or {}).items()}


def _claim_names(one: LintedPack) -> list[str] | None:
    """The names that rules claim under; None when one of them is computed."""
    section = one.compiled.sections.get(claims.SECTION.name)
    names: list[str] = []
    for rule in ir.leaves(section.rules) if section is not None else ():
        entries = rule.emit.entries if isinstance(rule.emit, ir.Entries) else ()
        for value in (entry.value for entry in entries if entry.key == "name"):
            if not isinstance(value, ir.Constant):
                return None
            names.append(str(value.value))
    return sorted(set(names))


def _head(block: Map) -> Place:
    return block.entries[0].key.place if block.entries else block.place


def _meant(word: str, known: Sequence[str]) -> str:
    near = nearest(word, known)
    return f"did you mean `{near}`?" if near else f"known: {', '.join(known) or 'none'}"


def _error(message: str, place: Place, remedy: str, related: tuple[Related, ...] = ()) -> Diagnostic:
    return Diagnostic("RP543", message, Severity.ERROR, place, help=remedy, related=related)
