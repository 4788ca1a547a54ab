"""The tests of one pack, made ready to be run again and again against changed rules.

Runs only those that come near a change: a rule that no evaluation of a test looked at cannot change its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.errors import InputError
from engine.lang import ir
from engine.lang.evaluate import SectionEvaluator
from engine.lang.notation import parse_shape
from engine.lang.observe import Observer
from engine.lang.packtest import Joint, Scenario
from engine.lang.packtest_cases import Case, expand
from engine.lang.packtest_inputs import filled_settings, pack_types
from engine.lang.packtest_verdict import Ran, ran_as, verdict
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue, Owner, Section
from engine.lang.types import Type


class TrialProgram(Program):
    """A program in which one section at a time is exchanged."""

    def __init__(self, packs: Iterable[LinkedPack], *, vocabulary: str) -> None:
        super().__init__(packs, vocabulary=vocabulary)
        self._held: tuple[tuple[str, str], SectionEvaluator | None] | None = None

    def exchange(self, section: str, maker: str | None, evaluator: SectionEvaluator) -> None:
        """Answer with another evaluator until `restore`."""
        key = (section, maker or "")
        self._held = (key, self._evaluators.get(key))
        self._evaluators[key] = evaluator

    def restore(self) -> None:
        """Answer as linked again."""
        if self._held is None:
            return
        key, evaluator = self._held
        self._held = None
        if evaluator is None:
            del self._evaluators[key]
        else:
            self._evaluators[key] = evaluator

    def with_pack(self, pack: LinkedPack) -> TrialProgram:
        """The program with another version of one pack whose sections are the same."""
        others = [one for one in self.packs if (one.kind, one.name) != (pack.kind, pack.name)]
        made = TrialProgram([*others, pack], vocabulary=self.vocabulary)
        made._evaluators = dict(self._evaluators)
        return made

    def with_variant(self, pack: LinkedPack) -> TrialProgram:
        """The program with another version of one pack whose sections differ."""
        others = [one for one in self.packs if (one.kind, one.name) != (pack.kind, pack.name)]
        return TrialProgram([*others, pack], vocabulary=self.vocabulary)


@dataclass(frozen=True, slots=True)
class Trial:
    """One case of a pack's tests, its input complete.

    Shape: `reached` are the rules (section and id) that its evaluation looked at, `fired` those among them that fired;
    `whole` that it may depend on more than them, because it ended in "could not tell".
    """

    case: Case
    sections: tuple[str, ...]
    inputs: Callable[[Program], Mapping[str, Any]]
    scenario: Scenario | None
    section: Section | None
    shapes: tuple[Type, ...]
    reached: frozenset[tuple[str, str]] = frozenset()
    fired: frozenset[tuple[str, str]] = frozenset()
    whole: bool = False

    def passes(self, program: Program, maker: str | None, observer: Observer | None = None) -> bool:
        """Whether the case passes with that program."""
        try:
            return verdict(self.case, self._run(program, maker, observer), self.shapes) is None
        except InputError:
            return False

    def _run(self, program: Program, maker: str | None, observer: Observer | None) -> Ran:
        if self.scenario is not None:
            return self.scenario.run(program, maker or "", self.inputs(program), observer or _Nobody())
        assert self.section is not None
        return ran_as(program.evaluate(self.section.name, self.inputs(program), maker, observer=observer), self.section)


class Trials:
    """All cases of one pack that give its parameters the same values, and pass with its rules as they are."""

    def __init__(
        self, program: TrialProgram, pack: LinkedPack, catalogue: Catalogue, joint: Joint, params: Mapping[str, Any]
    ) -> None:
        self.pack, self._params = pack, params
        self.maker = pack.name if pack.kind == Owner.MANUFACTURER else None
        self._program, self._catalogue, self._joint = program, catalogue, joint
        self._named = pack_types(pack, catalogue)
        self._trials = [made for made in self._all() if made is not None]

    def near(self, section: str, rules: Sequence[str]) -> list[Trial]:
        """The cases that a change of some rules of a section may fail, those in which one fired first.

        Shape: no rules means the whole section.
        """
        keys = {(section, rule) for rule in rules}
        found = [
            one
            for one in self._trials
            if section in one.sections and (one.whole or not keys or not keys.isdisjoint(one.reached))
        ]
        return sorted(found, key=lambda one: keys.isdisjoint(one.fired))

    def of_maker(self) -> list[Trial]:
        """Every case: what is derived may be read anywhere."""
        return list(self._trials)

    def _all(self) -> Iterator[Trial | None]:
        for test in self.pack.tests:
            try:
                cases = list(expand(test, self.pack.bases))
            except InputError:
                continue
            yield from (self._trial(case) for case in cases if case.params == self._params)

    def _trial(self, case: Case) -> Trial | None:
        scenario = self._joint.scenarios.get(case.section)
        section = self._catalogue.section(case.section)
        try:
            made = self._ready(case, scenario, section)
        except InputError:
            return None
        seen = _Seen()
        if made is None or not made.passes(self._program, self.maker, seen):
            return None
        whole = case.unknown is not None
        return replace(made, reached=frozenset(seen.reached), fired=frozenset(seen.fired), whole=whole)

    def _ready(self, case: Case, scenario: Scenario | None, section: Section | None) -> Trial | None:
        if scenario is not None:
            shapes = parse_shape(scenario.emit, self._named)
            return Trial(case, scenario.covers, lambda _program: case.given, scenario, None, shapes)
        if section is None or section.name not in self.pack.sections:
            return None
        given = case.given
        if section.settings:
            settings = filled_settings(self._program.block("settings"), given.get("settings") or {})
            given = {**given, "settings": settings}
        name, ready, maker = section.name, self._joint.ready, self.maker

        def inputs(program: Program) -> Mapping[str, Any]:
            return ready(program, name, maker, given)

        return Trial(case, (name,), inputs, None, section, section.emit_types(self._named))


class _Seen:
    """An observer that remembers which rules were looked at, and which fired."""

    def __init__(self) -> None:
        self.reached: set[tuple[str, str]] = set()
        self.fired: set[tuple[str, str]] = set()

    def rule_fired(self, section: str, rule_id: str) -> None:
        self.reached.add((section, rule_id))
        self.fired.add((section, rule_id))

    def rule_silent(self, section: str, rule_id: str) -> None:
        self.reached.add((section, rule_id))

    def items(self, section: str, rule_id: str, count: int) -> None:  # noqa: ARG002 - the observer's protocol
        self.reached.add((section, rule_id))

    def optional_key(self, section: str, rule_id: str, path: str, *, present: bool) -> None:
        """Nothing to remember: which keys were there is coverage's business."""


class _Nobody:
    """An observer that looks away."""

    def rule_fired(self, section: str, rule_id: str) -> None:
        """Nothing."""

    def rule_silent(self, section: str, rule_id: str) -> None:
        """Nothing."""

    def items(self, section: str, rule_id: str, count: int) -> None:
        """Nothing."""

    def optional_key(self, section: str, rule_id: str, path: str, *, present: bool) -> None:
        """Nothing."""


def parameter_sets(pack: LinkedPack) -> list[Mapping[str, Any]]:
    """The values that tests of a pack give its parameters, each set once; the pack's own first."""
    made: list[Mapping[str, Any]] = [{}]
    for test in pack.tests:
        try:
            made += [case.params for case in expand(test, pack.bases) if case.params not in made]
        except InputError:
            continue
    return made


def changed_pack(pack: LinkedPack, scope: str, lets: tuple[ir.Let, ...]) -> LinkedPack:
    """A pack with other derived values in one scope."""
    return replace(pack, derived={**pack.derived, scope: lets})
