"""Lint of `prepare` and `claims` against what the pack says of its driver: calls, arguments, outcomes, what is held.

Judges what is written as a constant; a call or an argument that is computed is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.lang import ir
from engine.lang.diagnostics import Diagnostic, Severity, nearest
from engine.lang.lint import LintedPack
from engine.lang.lint_logic import Condition, can_hold
from engine.lang.lint_scope import Leaf
from engine.lang.parser import parse
from engine.lang.source import Place

_ACCEPTED = ("ok",)


def check_prepare(one: LintedPack) -> Iterator[Diagnostic]:
    """Calls of `prepare` that `facts.intents` does not declare like that (RP540), and intents that nothing calls (RP541)."""
    intents = _intents(one)
    called: set[str] = set()
    for leaf in _leaves(one, "prepare"):
        call = _constant(leaf, "call")
        if not isinstance(call, str):
            called |= set(intents)
            continue
        called.add(call)
        undo = _constant(leaf, "undo")
        if isinstance(undo, str):
            called.add(undo)
        yield from _call(one, leaf, call, intents)
    for name in sorted(set(intents) - called):
        yield _warning(f"the intent `{name}` is called by no rule", _block_place(one, "intents", name), "remove it")


def check_claims(one: LintedPack) -> Iterator[Diagnostic]:
    """A claim whose `live` names no fact of the card (RP540)."""
    extras = _facts(one).get("extras") or {}
    for leaf in _leaves(one, "claims"):
        live = _constant(leaf, "live")
        if isinstance(live, str) and live not in extras:
            yield _error(
                f"there is no fact `{live}`", one.place(leaf.rule.id, "emit", "live"), _known(live, sorted(extras))
            )


def check_hold(one: LintedPack) -> Iterator[Diagnostic]:
    """A slice that holds something as long as its Pod is there, in a pack that releases slices before (RP542), or none."""
    holders = [leaf for leaf in _leaves(one, "prepare") if _constant(leaf, "hold") == "pod" and _of_slices(leaf)]
    kept = [leaf for leaf in _leaves(one, "features") if _constant(leaf, "sliceReleasedOnTermination") is False]
    if holders and not kept:
        leaf = holders[0]
        yield Diagnostic(
            "RP542",
            f"rule `{leaf.rule.id}` holds a slice until its Pod is gone, and `features` says that it is released before",
            Severity.ERROR,
            one.place(leaf.rule.id, "emit", "hold"),
            help="emit `sliceReleasedOnTermination: false` in `features`, or hold nothing",
        )
    if kept and not holders:
        leaf = kept[0]
        yield Diagnostic(
            "RP542",
            f"rule `{leaf.rule.id}` says that slices outlive their containers, and no rule of `prepare` holds one",
            Severity.ERROR,
            one.place(leaf.rule.id, "emit", "sliceReleasedOnTermination"),
            help="emit `hold: pod` where a slice is made, or leave the field out",
        )


def _of_slices(leaf: Leaf) -> bool:
    """Whether a rule can fire for a slice."""
    return can_hold([*leaf.conditions, Condition(parse("alloc.grant == 'slice'"), leaf.names)])


def _call(one: LintedPack, leaf: Leaf, call: str, intents: Mapping[str, Any]) -> Iterator[Diagnostic]:
    def at(*steps: str) -> Place | None:
        return one.place(leaf.rule.id, "emit", *steps)

    intent = intents.get(call)
    if intent is None:
        yield _error(f"`facts.intents` declares no call `{call}`", at("call"), _known(call, sorted(intents)))
        return
    declared = intent.get("args") or {}
    given = _keys(leaf, "args")
    for name in sorted(given - set(declared)):
        yield _error(f"`{call}` takes no argument `{name}`", at("args", name), _known(name, sorted(declared)))
    missing = sorted(set(declared) - given)
    if missing:
        yield _error(f"`{call}` is not given {', '.join(missing)}", at("args"), f"it takes {', '.join(declared)}")
    undo = _constant(leaf, "undo")
    if isinstance(undo, str) and undo != "none" and undo not in intents:
        yield _error(
            f"`facts.intents` declares no call `{undo}` to undo this", at("undo"), _known(undo, sorted(intents))
        )
    yield from _outcomes(one, leaf, call, tuple(intent.get("outcomes") or _ACCEPTED))


def _outcomes(one: LintedPack, leaf: Leaf, call: str, outcomes: tuple[str, ...]) -> Iterator[Diagnostic]:
    accepted = _texts(leaf, "accept") or _ACCEPTED
    for outcome in accepted:
        if outcome not in outcomes:
            yield _error(
                f"`{call}` never ends in `{outcome}`",
                one.place(leaf.rule.id, "emit", "accept"),
                _known(outcome, outcomes),
            )
    worded = [state for state, _ in leaf.rule.messages]
    for outcome in worded:
        if outcome and outcome not in outcomes:
            place = one.place(leaf.rule.id, "message", outcome)
            yield _error(f"`{call}` never ends in `{outcome}`", place, _known(outcome, outcomes))
        elif outcome in accepted:
            place = one.place(leaf.rule.id, "message", outcome)
            yield _warning(f"`{outcome}` is accepted, so its message is never shown", place, "remove it")
    silent = [outcome for outcome in outcomes if outcome not in accepted and outcome not in worded]
    if silent and "" not in worded:
        place = one.place(leaf.rule.id, "message")
        yield _warning(
            f"`{call}` may end in {', '.join(silent)}, which is refused with a fixed text",
            place,
            "word it under `message`, or accept it",
        )


def _leaves(one: LintedPack, section: str) -> Iterator[Leaf]:
    for declared, _, leaves in one.sections():
        if declared.name == section:
            yield from leaves


def _facts(one: LintedPack) -> Mapping[str, Any]:
    facts = one.compiled.blocks.get("facts")
    return facts if isinstance(facts, Mapping) else {}


def _intents(one: LintedPack) -> Mapping[str, Any]:
    return {str(name): intent or {} for name, intent in (_facts(one).get("intents") or {}).items()}


def _entry(leaf: Leaf, name: str) -> ir.Emit | None:
    emit = leaf.rule.emit
    entries = emit.entries if isinstance(emit, ir.Entries) else ()
    return next((entry.value for entry in entries if entry.key == name), None)


def _constant(leaf: Leaf, name: str) -> Any:
    value = _entry(leaf, name)
    return value.value if isinstance(value, ir.Constant) else None


def _keys(leaf: Leaf, name: str) -> set[str]:
    value = _entry(leaf, name)
    return {entry.written for entry in value.entries} if isinstance(value, ir.Entries) else set()


def _texts(leaf: Leaf, name: str) -> tuple[str, ...]:
    value = _entry(leaf, name)
    items = value.items if isinstance(value, ir.Items) else ()
    return tuple(str(item.value) for item in items if isinstance(item, ir.Constant))


def _block_place(one: LintedPack, *steps: str) -> Place | None:
    facts = one.pack.spec.get("facts")
    node = None if facts is None else facts.value
    for step in steps[:-1]:
        node = node.get(step) if node is not None and hasattr(node, "get") else None
    entry = node.entry(steps[-1]) if node is not None and hasattr(node, "entry") else None
    return None if entry is None else entry.key.place


def _known(word: str, known: tuple[str, ...] | list[str]) -> str:
    meant = nearest(word, known)
    return f"did you mean `{meant}`?" if meant else f"known: {', '.join(known) or 'none'}"


def _error(message: str, place: Place | None, remedy: str) -> Diagnostic:
    return Diagnostic("RP540", message, Severity.ERROR, place, help=remedy)


def _warning(message: str, place: Place | None, remedy: str) -> Diagnostic:
    return Diagnostic("RP541", message, Severity.WARNING, place, help=remedy)
