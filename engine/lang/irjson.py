"""Compiled sections as plain JSON and back.

The format is what leaves a process: arrays for expressions and emits, objects for rules. It holds no source text; `at`
(file and line of a rule) can be left out, because a digest is over meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import InputError
from engine.lang import ir
from engine.lang.ast import Node
from engine.lang.astjson import from_json as node_from_json
from engine.lang.astjson import to_json as node_to_json
from engine.lang.section import Combine

Json = Any


def section_to_json(section: ir.CompiledSection, *, positions: bool = True) -> dict[str, Json]:
    """A section as JSON. `positions=False` leaves out where rules stand."""
    made: dict[str, Json] = {
        "select": section.combine.value,
        "must": section.must,
        "let": _lets_to_json(section.lets),
        "rules": [_rule_to_json(rule, positions=positions) for rule in section.rules],
        "required": [list(names) for names in section.required],
        "reads": [list(path) for path in section.reads],
        "message": ("late" if section.message_late else "early") if section.has_message else None,
        "owns": list(section.owns),
    }
    if section.filler is not None:
        made["defaults"] = _filler_to_json(section.filler)
    return made


def section_from_json(name: str, data: Mapping[str, Json]) -> ir.CompiledSection:
    """The section that `section_to_json` wrote. Raises InputError when the JSON is no compiled section."""
    try:
        return ir.CompiledSection(
            name=name,
            combine=Combine(data["select"]),
            must=bool(data["must"]),
            lets=_lets_from_json(data["let"]),
            rules=tuple(_rule_from_json(rule) for rule in data["rules"]),
            required=tuple(tuple(names) for names in data["required"]),
            filler=_filler_from_json(data["defaults"]) if "defaults" in data else None,
            reads=tuple(tuple(path) for path in data["reads"]),
            has_message=data["message"] is not None,
            message_late=data["message"] == "late",
            owns=tuple(data["owns"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"section {name} of a compiled program cannot be read", why=repr(error), remedy="compile the packs again"
        ) from error


def lets_to_json(lets: Sequence[ir.Let]) -> Json:
    """Named expressions as JSON."""
    return _lets_to_json(tuple(lets))


def lets_from_json(data: Json) -> tuple[ir.Let, ...]:
    """Named expressions read back."""
    return _lets_from_json(data)


def _lets_to_json(lets: tuple[ir.Let, ...]) -> Json:
    return [[let.name, node_to_json(let.node)] for let in lets]


def _lets_from_json(data: Json) -> tuple[ir.Let, ...]:
    return tuple(ir.Let(name, node_from_json(node)) for name, node in data)


def _rule_to_json(rule: ir.Rule | ir.Group, *, positions: bool) -> dict[str, Json]:
    made: dict[str, Json] = {}
    if isinstance(rule, ir.Rule):
        made["id"] = rule.id
        if positions:
            made["at"] = rule.at
    if rule.when is not None:
        made["when"] = node_to_json(rule.when)
    if rule.lets:
        made["let"] = _lets_to_json(rule.lets)
    if rule.for_each is not None:
        made["forEach"] = [node_to_json(rule.for_each.over), rule.for_each.item, rule.for_each.index]
    if isinstance(rule, ir.Group):
        made["rules"] = [_rule_to_json(child, positions=positions) for child in rule.rules]
        return made
    if rule.emit is not None:
        made["emit"] = emit_to_json(rule.emit)
    if rule.unknown is not None:
        made["unknown"] = emit_to_json(rule.unknown)
    if rule.messages:
        made["message"] = {state: emit_to_json(text) for state, text in rule.messages}
    return made


def _rule_from_json(data: Mapping[str, Json]) -> ir.Rule | ir.Group:
    when = node_from_json(data["when"]) if "when" in data else None
    lets = _lets_from_json(data.get("let", ()))
    for_each = None
    if "forEach" in data:
        over, item, index = data["forEach"]
        for_each = ir.ForEach(node_from_json(over), item, index)
    if "rules" in data:
        return ir.Group(tuple(_rule_from_json(child) for child in data["rules"]), when, lets, for_each)
    messages = tuple((state, _text_from_json(text)) for state, text in data.get("message", {}).items())
    return ir.Rule(
        id=data["id"],
        at=data.get("at", ""),
        when=when,
        lets=lets,
        for_each=for_each,
        emit=emit_from_json(data["emit"]) if "emit" in data else None,
        unknown=_text_from_json(data["unknown"]) if "unknown" in data else None,
        messages=messages,
    )


def emit_to_json(emit: ir.Emit) -> list[Json]:
    """One emit as an array: kind first."""
    match emit:
        case ir.Constant(value):
            return ["value", value]
        case ir.Computed(node, as_text):
            return ["print" if as_text else "expr", node_to_json(node)]
        case ir.Text(parts):
            return ["text", [part if isinstance(part, str) else [node_to_json(part)] for part in parts]]
        case ir.Items(items):
            return ["list", [emit_to_json(item) for item in items]]
        case ir.Entries(entries):
            return ["object", [[_key_to_json(e.key), e.optional, emit_to_json(e.value), e.written] for e in entries]]


def emit_from_json(data: Sequence[Json]) -> ir.Emit:
    """One emit read back."""
    kind, body = data
    if kind == "list":
        return ir.Items(tuple(emit_from_json(item) for item in body))
    if kind == "object":
        return ir.Entries(
            tuple(ir.Entry(_key_from_json(k), optional, emit_from_json(v), w) for k, optional, v, w in body)
        )
    return _text_from_json(data)


def _text_from_json(data: Sequence[Json]) -> ir.TextEmit:
    kind, body = data
    if kind == "value":
        return ir.Constant(body)
    if kind in ("expr", "print"):
        return ir.Computed(node_from_json(body), as_text=kind == "print")
    if kind == "text":
        return ir.Text(tuple(part if isinstance(part, str) else node_from_json(part[0]) for part in body))
    raise ValueError(f"no emit is called {kind!r}")


def _key_to_json(key: str | ir.Text) -> Json:
    return key if isinstance(key, str) else emit_to_json(key)[1]


def _key_from_json(data: Json) -> str | ir.Text:
    if isinstance(data, str):
        return data
    parts: tuple[str | Node, ...] = tuple(part if isinstance(part, str) else node_from_json(part[0]) for part in data)
    return ir.Text(parts)


def _filler_to_json(filler: ir.Filler) -> dict[str, Json]:
    made: dict[str, Json] = {}
    if filler.defaults:
        made["defaults"] = dict(filler.defaults)
    if filler.members:
        made["members"] = {name: _filler_to_json(member) for name, member in filler.members}
    if filler.element is not None:
        made["element"] = _filler_to_json(filler.element)
    return made


def _filler_from_json(data: Mapping[str, Json]) -> ir.Filler:
    return ir.Filler(
        defaults=tuple(data.get("defaults", {}).items()),
        members=tuple((name, _filler_from_json(member)) for name, member in data.get("members", {}).items()),
        element=_filler_from_json(data["element"]) if "element" in data else None,
    )
