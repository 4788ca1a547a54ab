"""Explanations of one allocation: what gave each edit, claim and call, or which rule refused it and from what.

Decides nothing: the allocation is made by the same function as everywhere, with a program that remembers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.explain.explanation import Explanation, Rule
from engine.explain.reads import read_value, reads_of
from engine.explain.recording import Asked, Recording
from engine.lang import ir
from engine.lang.program import Program
from engine.sections.allocation import Circumstances, allocate
from engine.sections.allocation_outcome import AllocationOutcome, Refusal

_MODULE: Final = "engine/sections/allocation.py"


def explain_allocation(
    program: Program, maker: str, alloc: Mapping[str, Any], circumstances: Circumstances
) -> tuple[AllocationOutcome, list[Explanation]]:
    """One allocation, and where each part of its outcome comes from.

    Shape: an edit is explained key by key, a list item by item (`env.X`, `mounts[0]`); a refusal is the field `refuse`.
    """
    recording = Recording(program)
    outcome = allocate(recording, maker, alloc, circumstances)
    asked = {each.section: each for each in recording.everything()}
    return outcome, list(_explained(outcome, asked, program))


def _explained(outcome: AllocationOutcome, asked: Mapping[str, Asked], program: Program) -> Iterator[Explanation]:
    if outcome.refusal is not None:
        yield _refusal(outcome.refusal, asked, program)
        return
    for claim in outcome.claims:
        name = f"claims.{claim.pool}"
        yield _by_rule(name, list(claim.ids), asked["claims"], program, claim.rule, ())
    prepared = asked.get("prepare")
    for call in outcome.calls if prepared is not None else ():
        for rule, part in prepared.parts if prepared is not None else ():
            if part.get("call") == call.call and (part.get("card") or "") == call.card:
                assert prepared is not None
                yield _by_rule(f"calls.{call.label}", call.outcome, prepared, program, rule, ())
    injected = asked["inject"]
    for key, value in (outcome.edits or {}).items():
        for step, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            name = f"{key}.{step}" if isinstance(step, str) else f"{key}[{step}]"
            for rule in _givers(injected, key, step):
                yield _by_rule(name, item, injected, program, rule, (key, step) if isinstance(step, str) else (key,))


def _givers(injected: Asked, key: str, step: str | int) -> Iterator[str]:
    """The rule that gave one entry of a map, or one item of a list: lists of several rules are joined in order."""
    start = 0
    for rule, part in injected.parts:
        there = part.get(key)
        if there is None:
            continue
        if isinstance(step, str):
            if step in there:
                yield rule
                return
        elif start <= step < start + len(there):
            yield rule
            return
        start += len(there)


def _refusal(refusal: Refusal, asked: Mapping[str, Asked], program: Program) -> Explanation:
    if refusal.rule:
        return _by_rule("refuse", refusal.text, asked[refusal.stage], program, refusal.rule, ())
    where = "could not tell" if refusal.stage in asked else "an allocation has cards"
    return Explanation("refuse", refusal.text, code=where, module=_MODULE)


def _by_rule(name: str, value: Any, asked: Asked, program: Program, rule: str, path: tuple[str, ...]) -> Explanation:
    compiled = program.section(asked.section, asked.maker)
    assert compiled is not None
    places = {each.id: each.at for each in ir.leaves(compiled.rules)}
    reads = {".".join(each): _read(asked.inputs, each) for each in sorted(reads_of(compiled, rule, path))}
    return Explanation(name, value, section=asked.section, maker=asked.maker, rules=(Rule(rule, places[rule], reads),))


def _read(inputs: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    return _plain(read_value(inputs, path))


def _plain(value: Any) -> Any:
    """A value without what is only computed when looked at: nobody did."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if key != "derived"}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
