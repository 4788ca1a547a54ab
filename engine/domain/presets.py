"""Which unit-resource tier a product belongs to: the token matcher over a maker's preset table, and its load rules.

What a tier is worth is the derivation's to say. The product's key (a slug) is made by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SPLIT = re.compile(r"[-_.]")

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PresetEntry:
    """One product family: leading tokens, its tier, and the tokens anywhere in the key that refine it."""

    prefix: Tokens
    tier: str
    by: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Presets:
    """A maker's table, ready to match: words that may lead a key without meaning, and the families in any order."""

    strip: tuple[Tokens, ...]
    entries: tuple[PresetEntry, ...]


def tokens(text: str) -> Tokens:
    """The words between `-`, `_` and `.`; empty ones are dropped."""
    return tuple(token for token in _SPLIT.split(text) if token)


def load_presets(table: Mapping[str, Any]) -> Presets:
    """The table of a pack's `presets` block.

    Shape: `{strip: [words], tiers: {tier: [entry]}}`, an entry `a-b` or `{prefix, by: {token: tier}}`. What is wrong
    with a table is `check_presets`' to say; this takes a checked one.
    """
    entries = [_entry(tier, raw) for tier, listed in table.get("tiers", {}).items() for raw in listed]
    return Presets(tuple(tokens(word) for word in table.get("strip", ())), tuple(entries))


def tier_of(presets: Presets, key: str) -> str | None:
    """The tier of a product key, None when no family matches (the caller falls back).

    Shape: whole tokens (`a10` does not match `a100`); within the family the first `by` token present anywhere wins.
    Source: specification 20 §9.
    """
    words = _stripped(tokens(key), presets.strip)
    for entry in presets.entries:
        if _leads(entry.prefix, words):
            return next((tier for token, tier in entry.by if token in words), entry.tier)
    return None


def check_presets(manufacturer: str, table: Mapping[str, Any], tiers: Iterable[str]) -> list[str]:
    """Everything wrong with one maker's table, as messages; empty when it may be loaded.

    Source: specification 20 §9, "table load rules".
    """
    known_tiers = sorted(tiers)
    problems = [f'unknown key "{name}" in presets' for name in table if name not in {"strip", "tiers"}]
    problems += [f'unknown tier "{tier}"' for tier in table.get("tiers", {}) if tier not in known_tiers]
    problems += _malformed(table)
    if problems:
        return problems
    presets = load_presets(table)
    problems += _check_strip(presets.strip)
    for position, entry in enumerate(presets.entries):
        problems += _check_entry(manufacturer, entry, presets.strip, known_tiers)
        problems += _check_prefixes(entry.prefix, [other.prefix for other in presets.entries[position + 1 :]])
    return problems


def check_families(tables: Mapping[str, Presets]) -> list[str]:
    """Product families that two makers' tables both name, as messages sorted by family."""
    owners: dict[Tokens, list[str]] = {}
    for manufacturer in sorted(tables):
        for entry in tables[manufacturer].entries:
            owners.setdefault(entry.prefix, []).append(manufacturer)
    return [
        f'product family "{_text(prefix)}" is listed by {" and ".join(makers)}'
        for prefix, makers in sorted(owners.items())
        if len(makers) > 1
    ]


def _entry(tier: str, raw: str | Mapping[str, Any]) -> PresetEntry:
    if isinstance(raw, str):
        return PresetEntry(tokens(raw), tier)
    return PresetEntry(tokens(raw["prefix"]), tier, tuple(raw.get("by", {}).items()))


def _malformed(table: Mapping[str, Any]) -> list[str]:
    problems = []
    for tier, listed in table.get("tiers", {}).items():
        for raw in listed:
            is_refined = (
                isinstance(raw, Mapping) and isinstance(raw.get("prefix"), str) and set(raw) <= {"prefix", "by"}
            )
            if not (isinstance(raw, str) or is_refined):
                problems.append(f"entry {raw!r} of tier {tier} is neither a text nor {{prefix, by}}")
    return problems


def _check_strip(strip: Sequence[Tokens]) -> list[str]:
    problems = ["a strip word has no letter or digit" for words in strip if not words]
    for position, words in enumerate(strip):
        problems += _check_prefixes(words, strip[position + 1 :], what="strip word")
    return problems


def _check_entry(manufacturer: str, entry: PresetEntry, strip: Sequence[Tokens], tiers: Sequence[str]) -> list[str]:
    name = _text(entry.prefix)
    if not entry.prefix:
        return [f"a prefix of tier {entry.tier} has no letter or digit"]
    problems = [
        f'prefix "{name}" begins with "{_text(words)}", which is removed before matching'
        for words in (*strip, (manufacturer,))
        if words and _leads(words, entry.prefix)
    ]
    problems += [
        f'"{token}" refines prefix "{name}", which already holds it' for token, _ in entry.by if token in entry.prefix
    ]
    problems += [
        f'"{token}" refines prefix "{name}" but is not one token' for token, _ in entry.by if len(tokens(token)) != 1
    ]
    problems += [f'unknown tier "{tier}" under prefix "{name}"' for _, tier in entry.by if tier not in tiers]
    return problems


def _check_prefixes(prefix: Tokens, others: Iterable[Tokens], *, what: str = "prefix") -> list[str]:
    return [
        f'{what} "{_text(prefix)}" and {what} "{_text(other)}" match the same names'
        for other in others
        if prefix and other and (_leads(prefix, other) or _leads(other, prefix))
    ]


def _stripped(words: Tokens, strip: Sequence[Tokens]) -> Tokens:
    while lead := next((candidate for candidate in strip if candidate and _leads(candidate, words)), ()):
        words = words[len(lead) :]
    return words


def _leads(prefix: Tokens, words: Tokens) -> bool:
    return words[: len(prefix)] == prefix


def _text(words: Tokens) -> str:
    return "-".join(words)
