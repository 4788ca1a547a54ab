"""The Program: linked packs, ready to evaluate.

Immutable. Loads from its own canonical JSON without a YAML reader, a model or a parser, so a node agent stays small.
Where packs come from, and what their sections are about, is not known here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from engine.errors import ContractError, InputError
from engine.lang import ir
from engine.lang.compile import compile_node
from engine.lang.evaluate import LateOutput, Outcome, OutcomeKind, SectionEvaluator
from engine.lang.functions import FUNCTIONS
from engine.lang.irjson import lets_from_json, lets_to_json, section_from_json, section_to_json
from engine.lang.observe import Observer
from engine.lang.section import Owner
from engine.values.canonical_json import canonical_json

LANGUAGE: Final = "rules.gpustack.ai/v1alpha1"
DEFAULT_REFUSAL: Final = "refused ({state}); the rule has no text for it"


@dataclass(frozen=True)
class LinkedPack:
    """One pack with its libraries and overlays in it. Not slotted: its digest is made on first use and kept.

    Shape: `blocks` is plain JSON by block name (`constants`, `identity`, `presets` …); `derived` the lazy values by scope
    (`card`, `alloc`); `tests` and `bases` are kept beside the program and never leave the process, nor does `variant`: the
    pack linked again with other values of some parameters, which its tests ask for (None for a pack read back).
    """

    kind: str
    name: str
    version: str
    sections: Mapping[str, ir.CompiledSection]
    blocks: Mapping[str, Any]
    derived: Mapping[str, tuple[ir.Let, ...]] = field(default_factory=dict)
    tests: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    bases: Mapping[str, Any] = field(default_factory=dict, compare=False)
    variant: Callable[[Mapping[str, Any]], LinkedPack] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def digest(self) -> str:
        """Of the pack's meaning: where its rules stand is no part of it."""
        meaning = canonical_json(self.to_json(positions=False))
        return hashlib.sha256(meaning.encode()).hexdigest()

    def to_json(self, *, positions: bool = True) -> dict[str, Any]:
        """The pack as plain JSON, `digest` included when positions are (a digest is over meaning alone)."""
        made: dict[str, Any] = {
            "language": LANGUAGE,
            "pack": {"kind": self.kind, "name": self.name, "version": self.version},
            "sections": {n: section_to_json(s, positions=positions) for n, s in self.sections.items()},
            "derived": {scope: lets_to_json(lets) for scope, lets in self.derived.items()},
            "blocks": dict(self.blocks),
        }
        if positions:
            made["digest"] = self.digest
        return made

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkedPack:
        """A pack read back. Raises InputError: another language, a broken document, a digest that does not hold."""
        try:
            if data["language"] != LANGUAGE:
                raise InputError(
                    f"the compiled pack speaks {data['language']}",
                    why=f"this engine reads {LANGUAGE}",
                    remedy="upgrade",
                )
            head = data["pack"]
            pack = cls(
                kind=head["kind"],
                name=head["name"],
                version=head["version"],
                sections={name: section_from_json(name, body) for name, body in data["sections"].items()},
                blocks=data["blocks"],
                derived={scope: lets_from_json(lets) for scope, lets in data["derived"].items()},
            )
            wanted = data["digest"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError("the compiled pack cannot be read", why=repr(error), remedy="compile it again") from error
        if pack.digest != wanted:
            raise InputError(
                f"compiled pack {pack.name} was changed after it was made",
                why=f"its digest is {pack.digest}, it claims {wanted}",
                remedy="compile it again",
            )
        return pack


class Program:
    """Everything rules can answer. Cheap to make: a section's closures are built when it is first asked."""

    def __init__(self, packs: Iterable[LinkedPack], *, vocabulary: str) -> None:
        self.packs: tuple[LinkedPack, ...] = tuple(sorted(packs, key=lambda pack: (pack.kind, pack.name)))
        self.vocabulary = vocabulary
        self._makers = {p.name: p for p in self.packs if p.kind == Owner.MANUFACTURER}
        self._derivations = {name: p for p in self.packs if p.kind == Owner.DERIVATION for name in p.sections}
        self._evaluators: dict[tuple[str, str], SectionEvaluator] = {}
        self._derived: dict[str, Mapping[str, tuple[tuple[str, Any], ...]]] = {}

    @cached_property
    def digest(self) -> str:
        """Of the vocabulary and all packs."""
        text = "\n".join([LANGUAGE, self.vocabulary, *(f"{p.kind}/{p.name} {p.digest}" for p in self.packs)])
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def makers(self) -> tuple[str, ...]:
        """Names of the manufacturers, sorted."""
        return tuple(sorted(self._makers))

    def pack(self, section: str, maker: str | None = None) -> LinkedPack | None:
        """The pack that defines a section, or None."""
        if maker is None:
            return self._derivations.get(section)
        pack = self._makers.get(maker)
        return pack if pack is not None and section in pack.sections else None

    def section(self, section: str, maker: str | None = None) -> ir.CompiledSection | None:
        """The compiled section, or None when no pack defines it."""
        pack = self.pack(section, maker)
        return None if pack is None else pack.sections[section]

    def block(self, name: str, maker: str | None = None) -> Any:
        """A block as plain JSON; None when there is none.

        Without a maker it is the one derivation's that has it; with one, that maker's.
        """
        if maker is not None:
            pack = self._makers.get(maker)
            return None if pack is None else pack.blocks.get(name)
        for pack in self.packs:
            if pack.kind == Owner.DERIVATION and name in pack.blocks:
                return pack.blocks[name]
        return None

    def evaluate(
        self,
        section: str,
        inputs: Mapping[str, Any],
        maker: str | None = None,
        *,
        observer: Observer | None = None,
        parts: list[tuple[str, Any]] | None = None,
    ) -> Outcome:
        """Answer of a section for one input. A section that no pack defines answers nothing."""
        evaluator = self._evaluators.get((section, maker or ""))
        if evaluator is None:
            compiled = self.section(section, maker)
            if compiled is None:
                return Outcome(OutcomeKind.NOTHING)
            evaluator = self._evaluators[section, maker or ""] = SectionEvaluator(compiled)
        return evaluator.evaluate(inputs, observer, parts)

    def message(
        self, section: str, rule_id: str, output: Mapping[str, Any], answer: Mapping[str, Any], maker: str | None = None
    ) -> str | None:
        """The late message of a rule that gave `output`, with `answer` in scope; None when it has no text for the state.

        Raises ContractError: `output` is not one that this section gave.
        """
        evaluator = self._evaluators.get((section, maker or ""))
        if evaluator is None or not isinstance(output, LateOutput):
            raise ContractError(f"{section} gave no such output")
        state = str(answer.get("state", answer.get("outcome", "")))
        return evaluator.message(rule_id, output.scope, answer, state)

    def with_derived(self, maker: str, alloc: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of an allocation whose cards, and itself, carry the pack's lazy `derived` values."""
        pack = self._makers.get(maker)
        if pack is None:
            raise ContractError(f"no pack of maker {maker}")
        made = dict(alloc)
        made["cards"] = [dict(card) for card in alloc.get("cards", ())]
        for card in made["cards"]:
            card["derived"] = Lazy(self._closures(pack, "card"), {"card": card, "alloc": made})
        made["derived"] = Lazy(self._closures(pack, "alloc"), {"alloc": made})
        return made

    def _closures(self, pack: LinkedPack, scope: str) -> Mapping[str, Any]:
        key = f"{pack.name}/{scope}"
        if key not in self._derived:
            names: dict[str, Any] = {}
            for let in pack.derived.get(scope, ()):
                names[let.name] = _sibling(let.name, compile_node(let.node, FUNCTIONS, names=names.copy()))
            self._derived[key] = names
        return self._derived[key]

    def to_json(self) -> str:
        """The whole program as canonical JSON."""
        return canonical_json({"vocabulary": self.vocabulary, "packs": [pack.to_json() for pack in self.packs]})

    @classmethod
    def from_json(cls, text: str, *, vocabulary: str | None = None) -> Program:
        """A program read back.

        Raises: InputError: not a program, changed after it was made, or of a vocabulary with another major version.
        """
        try:
            data = json.loads(text)
            written, packs = str(data["vocabulary"]), list(data["packs"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError("this is no compiled program", why=str(error), remedy="compile the packs again") from error
        if vocabulary is not None and written.split(".", maxsplit=1)[0] != vocabulary.split(".")[0]:
            raise InputError(
                f"the program speaks vocabulary {written}",
                why=f"this engine speaks {vocabulary}",
                remedy="upgrade the older",
            )
        return cls([LinkedPack.from_json(pack) for pack in packs], vocabulary=written)


class Lazy(dict[str, Any]):
    """An object whose values are computed when first read: looks like a dict to expressions."""

    __slots__ = ("_closures", "_scope")

    def __init__(self, closures: Mapping[str, Any], scope: dict[str, Any]) -> None:
        super().__init__()
        self._closures = closures
        self._scope = scope

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, computed at most once."""
        closure = self._closures.get(key)
        return default if closure is None else closure(self._scope)

    def __getitem__(self, key: str) -> Any:
        return self._closures[key](self._scope)

    def __contains__(self, key: object) -> bool:
        return key in self._closures


def _sibling(name: str, body: Any) -> Any:
    key = f"derived.{name}"

    def read(scope: dict[str, Any]) -> Any:
        try:
            return scope[key]
        except KeyError:
            value = scope[key] = body(scope)
            return value

    return read
