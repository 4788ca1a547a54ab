"""Putting the outputs of a section's firing rules together: first, merge, list, sum.

Defaults of the emit shape are filled in here, so that callers always see them. Which rules fired is `evaluate`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import EvaluationError
from engine.lang import ir
from engine.lang.limits import MAX_OUTPUT_KEYS
from engine.lang.outcome import Outcome, OutcomeKind
from engine.lang.section import Combine

Outputs = list[tuple[str, Any]]
"""What each firing rule gave, in firing order."""


def combine(section: ir.CompiledSection, outputs: Outputs) -> Outcome:
    """The section's answer. Raises EvaluationError: rules that contradict each other, or a field that none gave."""
    fired = tuple(rule_id for rule_id, _ in outputs)
    if section.combine is Combine.LIST:
        return Outcome(OutcomeKind.VALUE, [_filled(section, output) for _, output in outputs], fired)
    if not outputs:
        if section.must:
            return Outcome(OutcomeKind.UNKNOWN, reason=f"{section.name}: no rule fired, and one has to")
        return Outcome(OutcomeKind.NOTHING)
    value = _combined(section, outputs)
    if section.must:
        _require(section, value)
    if len(value) > MAX_OUTPUT_KEYS:
        raise EvaluationError(f"more than {MAX_OUTPUT_KEYS} keys", where=section.name)
    return Outcome(OutcomeKind.VALUE, _filled(section, value), fired)


def _combined(section: ir.CompiledSection, outputs: Outputs) -> Any:
    if section.combine is Combine.FIRST:
        return outputs[0][1]
    if section.combine is Combine.SUM:
        return _sum(section.name, outputs)
    value: dict[str, Any] = {}
    for _, output in outputs:
        _merge(value, output, (), section.name, outputs)
    return value


def _require(section: ir.CompiledSection, value: Mapping[str, Any]) -> None:
    missing: list[str] = []
    for alternative in section.required:
        missing = [name for name in alternative if name not in value]
        if not missing:
            return
    if missing:
        raise EvaluationError(f"no rule gave {', '.join(missing)}", where=section.name)


def _filled(section: ir.CompiledSection, value: Any) -> Any:
    return value if section.filler is None else fill_defaults(value, section.filler)


def fill_defaults(value: Any, filler: ir.Filler) -> Any:
    """A value with the defaults of its shape filled in: the outermost object in place, what lies deeper as copies."""
    if isinstance(value, dict):
        for name, default in filler.defaults:
            if name not in value:
                value[name] = default.copy() if isinstance(default, list | dict) else default
        for name, member in filler.members:
            if name in value:
                value[name] = _deeper(value[name], member)
    elif isinstance(value, list) and filler.element is not None:
        return _deeper(value, filler)
    return value


def _deeper(value: Any, filler: ir.Filler) -> Any:
    if isinstance(value, list) and filler.element is not None:
        return [_deeper(item, filler.element) for item in value]
    return fill_defaults(dict(value), filler) if isinstance(value, dict) else value


def _merge(
    target: dict[str, Any],
    output: Mapping[str, Any],
    path: tuple[str, ...],
    section: str,
    outputs: list[tuple[str, Any]],
) -> None:
    for key, value in output.items():
        if key not in target:
            target[key] = _copied(value)
            continue
        held = target[key]
        if isinstance(held, dict) and isinstance(value, dict):
            _merge(held, value, (*path, key), section, outputs)
        elif isinstance(held, list) and isinstance(value, list):
            held.extend(value)
        else:
            where = (*path, key)
            first, second = _emitters(where, outputs)
            raise EvaluationError(
                f"`{'.'.join(where)}` comes from {first} and from {second}",
                where=section,
                remedy="a scalar may come from one rule only",
            )


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return list(value) if isinstance(value, list) else value


def _emitters(path: tuple[str, ...], outputs: list[tuple[str, Any]]) -> tuple[str, str]:
    """The first two rules that emitted a path (the same one twice when its items clash)."""
    found: list[str] = []
    for rule_id, output in outputs:
        value: Any = output
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            found.append(rule_id)
    return found[0], found[1] if len(found) > 1 else found[0]


def _sum(section: str, outputs: list[tuple[str, Any]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for rule_id, output in outputs:
        for key, value in output.items():
            if value.__class__ is not int:
                raise EvaluationError(f"`{key}` is no integer", where=f"{section}/{rule_id}", why=f"it is {value!r}")
            total[key] = total.get(key, 0) + value
    return total
