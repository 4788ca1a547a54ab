"""Whether the running Kueue charges what the rules say: its resource transformations against the makers' own.

A request for a resource without one is admitted and costs nothing. Only told: Kueue's configuration is an admin's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.cluster.actions import EmitEvent, ObjectReference
from engine.errors import EvaluationError
from engine.lang.reader import read
from engine.lang.source import Source
from engine.lang.tree import Map, Node, Scalar, Seq, lookup
from engine.sections.resources import Transformation
from engine.values.quantities import canonical, parse_quantity

CONFIG: Final = "kueue-manager-config"
CONFIG_KEY: Final = "controller_manager_config.yaml"
KUEUE_SYSTEM: Final = "kueue-system"
"""Where Kueue's chart and its manifests keep the configuration. Source: Kueue 0.19.1, charts/kueue and config/."""

_REMEDY: Final = "add it to resources.transformations of Kueue's configuration, and restart Kueue"


@dataclass(frozen=True, slots=True)
class Running:
    """A transformation as the running Kueue has it; amounts are texts."""

    outputs: tuple[tuple[str, str], ...]
    multiply_by: str | None = None


@dataclass(frozen=True, slots=True)
class Uncharged:
    """A maker's resource that Kueue charges otherwise than the rules say, or not at all."""

    maker: str
    input: str
    why: str

    @property
    def note(self) -> str:
        return f'requests of "{self.input}" would be admitted {self.why}; {_REMEDY}'


def running_transformations(text: str) -> dict[str, Running]:
    """By input, of a configuration's text. Raises: EvaluationError: it cannot be read without doubt."""
    documents, diagnostics = read(Source(CONFIG_KEY, text.encode()))
    wrong = next((each for each in diagnostics.sorted() if each.severity == "error"), None)
    if wrong is not None or len(documents) != 1:
        raise EvaluationError(
            "Kueue's configuration cannot be read", why=wrong.message if wrong else "it is not one document"
        )
    listed = lookup(documents[0].root, ("resources", "transformations"))
    items: Sequence[Node] = listed.items if isinstance(listed, Seq) else ()
    found: dict[str, Running] = {}
    for each in items:
        if isinstance(each, Map):
            outputs = each.get("outputs")
            pairs = outputs.entries if isinstance(outputs, Map) else ()
            found[_text(each.get("input")) or ""] = Running(
                tuple((pair.key.text, _text(pair.value) or "") for pair in pairs), _text(each.get("multiplyBy"))
            )
    return found


def uncharged(running: Mapping[str, Running], wanted: Mapping[str, Iterable[Transformation]]) -> tuple[Uncharged, ...]:
    """What differs, sorted. Shape: `wanted` by maker; entries for others are nobody's concern."""
    found = []
    for maker, transformations in wanted.items():
        for each in transformations:
            why = _difference(running.get(each.input), each)
            if why:
                found.append(Uncharged(maker, each.input, why))
    return tuple(sorted(found, key=lambda each: (each.maker, each.input)))


def plan(found: Iterable[Uncharged], subjects: Mapping[str, Sequence[ObjectReference]]) -> list[EmitEvent]:
    """Tells each maker's trouble at the types of its pools, which are the `subjects` by maker."""
    return [
        EmitEvent(subject, "Uncharged", each.note, "CheckKueue", "Warning")
        for each in found
        for subject in subjects.get(each.maker, ())
    ]


def _difference(running: Running | None, wanted: Transformation) -> str:
    if running is None:
        return "uncharged: the running Kueue has no transformation for it"
    if running.multiply_by != wanted.multiply_by:
        return (
            f"at another price: multiplied by {running.multiply_by or 'nothing'}, not {wanted.multiply_by or 'nothing'}"
        )
    is_same = {name: _amount(text) for name, text in running.outputs} == dict(wanted.outputs)
    return "" if is_same else f"at another price: {_priced(running.outputs)} instead of {_priced(wanted.outputs)}"


def _priced(outputs: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{amount} {name}" for name, amount in outputs) or "nothing"


def _amount(text: str) -> object:
    try:
        return parse_quantity(canonical(text))
    except EvaluationError:
        return text


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Scalar) else None
