"""Lint of `inject`: mounts with exactly one source, and a visible key for every way a card can be granted.

Knows no maker: what makes a card visible is an environment variable, an annotation, a CDI name or, where no runtime does it,
a device node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.lang import ir
from engine.lang.diagnostics import Diagnostic, Severity
from engine.lang.lint import LintedPack
from engine.lang.lint_logic import Condition, can_hold
from engine.lang.lint_scope import Leaf
from engine.lang.parser import parse
from engine.sections import inject
from engine.sections.served_modes import served_modes

_GRANTS: Final = {
    "exclusive": ("whole",),
    "shared": ("whole",),
    "sliced": ("slice",),
    "partitioned": ("partition",),
    "visibility": ("whole", "partition"),
}
_CHANNELS: Final = ("envvar", "cdi")
_VISIBLE: Final = frozenset({"env", "envIfUnset", "annotations", "cdi"})
_NODES: Final = "deviceNodes"


def check_mounts(one: LintedPack) -> Iterator[Diagnostic]:
    """Mounts that name no source, or more than one (RP423)."""
    for leaf in _leaves(one):
        for mount in _items(leaf, "mounts"):
            named = [name for name in inject.MOUNT_SOURCES if name in mount]
            if len(named) != 1:
                yield Diagnostic(
                    "RP423",
                    f"a mount has one of {', '.join(inject.MOUNT_SOURCES)}; this one has {' and '.join(named) or 'none'}",
                    Severity.ERROR,
                    one.place(leaf.rule.id, "emit", "mounts"),
                    help="make two mounts of it" if named else "say where it comes from",
                )


def check_visible(one: LintedPack) -> Iterator[Diagnostic]:
    """Served modes in which nothing that a container gets shows it its card (RP530)."""
    leaves = list(_leaves(one))
    if not leaves:
        return
    identity = one.compiled.blocks.get("identity") or {}
    runtime = identity.get("runtimeInjects") or {}
    visible = _VISIBLE if runtime.get("devices") or runtime.get("libraries") else _VISIBLE | {_NODES}
    partitioned = "partitioned" in set(served_modes(one.compiled))
    for mode in served_modes(one.compiled):
        for grant in _GRANTS[mode]:
            if grant == "partition" and not partitioned:
                continue
            for channel in _CHANNELS:
                if not any(_shows(leaf, visible) and _may_fire(leaf, mode, grant, channel) for leaf in leaves):
                    entry = one.pack.spec["sections"]
                    node = getattr(entry.value, "entry", lambda _name: None)(inject.SECTION.name)
                    yield Diagnostic(
                        "RP530",
                        f"mode {mode} ({grant}, by {channel}) injects nothing that makes the card visible",
                        Severity.WARNING,
                        None if node is None else node.key.place,
                        help=f"give one of {', '.join(sorted(visible))} there",
                    )
                    return


def _may_fire(leaf: Leaf, mode: str, grant: str, channel: str) -> bool:
    wanted = [f"alloc.mode == '{mode}'", f"alloc.grant == '{grant}'", f"alloc.channel == '{channel}'"]
    return can_hold([*leaf.conditions, *(Condition(parse(text), leaf.names) for text in wanted)])


def _shows(leaf: Leaf, visible: frozenset[str]) -> bool:
    emit = leaf.rule.emit
    return isinstance(emit, ir.Entries) and any(entry.key in visible for entry in emit.entries)


def _leaves(one: LintedPack) -> Iterator[Leaf]:
    for declared, _, leaves in one.sections():
        if declared.name == inject.SECTION.name:
            yield from leaves


def _items(leaf: Leaf, name: str) -> Iterator[set[str]]:
    """The keys of each object of a list a rule gives."""
    emit = leaf.rule.emit
    for entry in emit.entries if isinstance(emit, ir.Entries) else ():
        if entry.key == name and isinstance(entry.value, ir.Items):
            for item in entry.value.items:
                if isinstance(item, ir.Entries):
                    yield {each.written for each in item.entries}
