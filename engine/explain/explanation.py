"""An explanation of one field: the section, its rules with file and line, and the inputs they read; or what else made it.

Finds the field and words nothing for a terminal: commands print what this gives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.chain.chain import Chain
from engine.chain.node import NodePlan
from engine.explain import kinds, nodes
from engine.explain.origins import ABSENT, FromRules, Given, InCode, Origin, Steps, at, origin_of
from engine.explain.reads import read_value, reads_of
from engine.explain.recording import Asked, Recording
from engine.lang import ir

_CHAIN_KINDS: Final[Mapping[str, Callable[[Any, Recording, Chain], Iterator[Origin]]]] = {
    "ResourceFlavor": kinds.flavor_origins,
    "Topology": kinds.topology_origins,
    "InstanceTypeFlavor": kinds.row_origins,
    "InstanceType": kinds.type_origins,
    "ClusterQueue": kinds.queue_origins,
    "LocalQueue": kinds.entrance_origins,
}
_NODE_KINDS: Final[Mapping[str, Callable[[Any, Recording, NodePlan], Iterator[Origin]]]] = {
    "Node": nodes.node_origins,
    "NodeFeature": nodes.feature_origins,
    "Devices": nodes.devices_origins,
}
_STEP: Final = re.compile(r"\[(\d{1,6})\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that had a part in a field. Shape: `at` is `file:line`; `reads` input paths with their values."""

    id: str
    at: str
    reads: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where one field comes from.

    Shape: either `section` and `rules` are set, or `given` (what it was read from), or `code` and `module`.
    """

    field: str
    value: Any
    section: str = ""
    maker: str | None = None
    rules: tuple[Rule, ...] = ()
    given: str = ""
    code: str = ""
    module: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, absent parts left out."""
        made: dict[str, Any] = {"field": self.field, "value": self.value}
        if self.section:
            rules = [{"id": rule.id, "at": rule.at, "reads": dict(rule.reads)} for rule in self.rules]
            return {**made, "section": self.section, **({"maker": self.maker} if self.maker else {}), "rules": rules}
        if self.given:
            return {**made, "given": self.given}
        return {**made, "code": self.code, "module": self.module}


def explain(
    kind: str, made: Mapping[str, Any], fields: Iterable[Steps], chain: Chain, recording: Recording, managed: str | None
) -> list[Explanation]:
    """Explanations of fields of an object of a kind.

    Shape: `recording` is what the chain asked; `managed` the label that the node of the object was given, if any.
    """
    if kind in _NODE_KINDS:
        plan = _node_of(made, chain)
        asked = nodes.recorded_node(plan, recording.program, chain.settings.values, managed)
        origins = [*_NODE_KINDS[kind](made, asked, plan)]
    else:
        origins = [*_CHAIN_KINDS[kind](made, recording, chain)]
    origins.append(InCode((), "the object's skeleton", f"engine/worker/render/{kind.lower()}.py"))
    return [_explained(origins, steps, at(made, steps), recording) for steps in fields]


def leaves(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """Every field of a value that holds no further fields, in order."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, (*steps, key))
    elif isinstance(value, list) and value:
        for number, item in enumerate(value):
            yield from leaves(item, (*steps, number))
    else:
        yield steps


def field_steps(made: Mapping[str, Any], text: str) -> Steps | None:
    """The steps that a written field stands for in an object; None when it has none such.

    Shape: keys joined by dots, list positions in brackets; a key may hold dots itself, as label keys do.
    """
    return _steps(made, text, ())


def shown(steps: Steps) -> str:
    """Steps as a person writes them."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def _steps(value: Any, text: str, done: Steps) -> Steps | None:
    if not text:
        return done
    if isinstance(value, list):
        matched = _STEP.match(text)
        if matched is None or int(matched.group(1)) >= len(value):
            return None
        number = int(matched.group(1))
        return _steps(value[number], text[matched.end() :].removeprefix("."), (*done, number))
    if isinstance(value, Mapping):
        for key in sorted(value, key=len, reverse=True):
            rest = text.removeprefix(key)
            if text.startswith(key) and (not rest or rest[0] in ".["):
                found = _steps(value[key], rest.removeprefix("."), (*done, key))
                if found is not None:
                    return found
    return None


def _node_of(made: Mapping[str, Any], chain: Chain) -> NodePlan:
    name = made["metadata"]["name"]
    labels = made["metadata"].get("labels", {})
    plan = chain.objects("Node").get(labels.get("nfd.node.kubernetes.io/node-name", name))
    assert isinstance(plan, NodePlan)
    return plan


def _explained(origins: list[Origin], steps: Steps, value: Any, recording: Recording) -> Explanation:
    found = origin_of(origins, steps, value)
    assert found is not None, "the skeleton covers every field"
    origin, rest = found
    match origin:
        case FromRules(_, asked, _):
            compiled = recording.program.section(asked.section, asked.maker)
            assert compiled is not None
            rules = tuple(_rules(asked, compiled, rest))
            return Explanation(shown(steps), value, section=asked.section, maker=asked.maker, rules=rules)
        case Given(_, what, _):
            return Explanation(shown(steps), value, given=what)
        case InCode(_, name, module):
            return Explanation(shown(steps), value, code=name, module=module)


def _rules(asked: Asked, section: ir.CompiledSection, path: Steps) -> Iterator[Rule]:
    places = {rule.id: rule.at for rule in ir.leaves(section.rules)}
    parts = asked.parts
    if section.combine == "list" and path and isinstance(path[0], int):
        parts, path = parts[path[0] : path[0] + 1], path[1:]
    giving = [rule_id for rule_id, part in parts if at(part, path) is not ABSENT]
    # A field that no rule gave has its shape's default: every rule that fired let it stand.
    for rule_id in dict.fromkeys(giving or [rule_id for rule_id, _ in parts]):
        paths = sorted(reads_of(section, rule_id, path))
        reads = {".".join(each): read_value(asked.inputs, each) for each in paths}
        yield Rule(rule_id, places[rule_id], reads)
