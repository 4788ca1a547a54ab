"""Running the tests inside packs: cases in, a report of what passed, failed and was never tried out.

Knows no section by name: what a section looks like is the catalogue's, and test kinds that run more than one section
(`section: allocation`) are handed in. Reads no files and prints nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.errors import InputError
from engine.lang import ir
from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.notation import parse_shape
from engine.lang.observe import Observer
from engine.lang.packtest_cases import Case, expand
from engine.lang.packtest_compare import Difference
from engine.lang.packtest_coverage import Gap, Recorder, rule_shapes
from engine.lang.packtest_inputs import filled_settings, fitted, input_type, misfits, pack_types
from engine.lang.packtest_verdict import Ran, ran_as, verdict
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue, Owner, Section
from engine.lang.source import Place
from engine.lang.types import Type
from engine.values.canonical_json import canonical_json


class Scenario(Struct, frozen=True):
    """A test kind of its own: several sections run as one story.

    Shape: `input` and `emit` in the catalogue's notation; `covers` are the sections it runs.
    """

    name: str
    input: str
    emit: str
    covers: tuple[str, ...]
    run: Callable[[Program, str, Mapping[str, Any], Observer], Ran]


class Joint(Struct, frozen=True):
    """What the sections' side knows about testing them.

    Shape: `ready(program, section, maker, inputs)` completes a section's input before it is evaluated; `never_empty` are
    input lists that always have an element; `golden(pack, cases)` words what else a pack's tests have to show.
    """

    scenarios: Mapping[str, Scenario] = {}
    ready: Callable[[Program, str, str | None, Mapping[str, Any]], Mapping[str, Any]] = lambda _p, _s, _m, inputs: (
        inputs
    )
    never_empty: frozenset[str] = frozenset()
    golden: Callable[[LinkedPack, Sequence[Case]], Iterable[str]] = lambda _pack, _cases: ()


class Failure(Struct, frozen=True):
    """A test that failed (RP720) or could not be run (RP701, RP720)."""

    code: str
    pack: str
    test: str
    message: str
    place: Any = None
    differences: tuple[Difference, ...] = ()

    def __str__(self) -> str:
        at = f"{self.place}: " if self.place else ""
        return f"{at}{self.pack}: {self.test}: {self.message}"


class TestReport(Struct, frozen=True):
    """The result of all tests of a program. `coverage` lists what no test showed; empty unless it was asked for."""

    __test__ = False  # pytest would collect it

    passed: int
    failures: tuple[Failure, ...]
    coverage: tuple[tuple[str, Gap], ...] = ()

    @property
    def is_green(self) -> bool:
        """Whether nothing failed and nothing asked for is missing."""
        return not self.failures and not self.coverage

    def diagnostics(self) -> Diagnostics:
        """The report as diagnostics, failures first."""
        found = Diagnostics()
        for failure in self.failures:
            _add(found, failure.code, f"{failure.pack}: {failure.test}: {failure.message}", failure.place)
        for pack, gap in self.coverage:
            _add(found, gap.code, f"{pack}: {gap.section}: {gap.message}", gap.at)
        return found


def _add(found: Diagnostics, code: str, message: str, place: Any) -> None:
    if isinstance(place, Place):
        found.error(code, message, place)
    else:
        found.error(code, message, path=str(place or ""))


def run_tests(program: Program, catalogue: Catalogue, joint: Joint, *, coverage: bool = False) -> TestReport:
    """Run the tests of every pack of a program, in the packs' order.

    Shape: a section with rules and no test is a gap of `coverage`'s (RP702), and so is a missing golden test.
    """
    reports = [run_pack_tests(program, pack, catalogue, joint, coverage=coverage) for pack in program.packs]
    return TestReport(
        sum(report.passed for report in reports),
        tuple(failure for report in reports for failure in report.failures),
        tuple(gap for report in reports for gap in report.coverage),
    )


def run_pack_tests(
    program: Program, pack: LinkedPack, catalogue: Catalogue, joint: Joint, *, coverage: bool = False
) -> TestReport:
    """Run the tests of one pack of a program."""
    run = _PackRun(program, pack, catalogue, joint)
    run.go()
    gaps = tuple((pack.name, gap) for gap in run.gaps()) if coverage else ()
    return TestReport(run.passed, tuple(run.failures), gaps)


class _PackRun:
    """The tests of one pack."""

    def __init__(self, program: Program, pack: LinkedPack, catalogue: Catalogue, joint: Joint) -> None:
        self.program, self.pack, self.catalogue, self.joint = program, pack, catalogue, joint
        self.maker = pack.name if pack.kind == Owner.MANUFACTURER else None
        self.named: Mapping[str, Type] = pack_types(pack, catalogue)
        self.recorder = Recorder()
        self.passed = 0
        self.failures: list[Failure] = []
        self.cases: list[Case] = []
        self._variants: dict[str, Program] = {}
        self._unknown_to: dict[str, set[str]] = {}
        self._inputs: dict[str, Type | None] = {}

    def go(self) -> None:
        for test in self.pack.tests:
            name, place = str(test.get("name", "")), test.get("place")
            try:
                cases = list(expand(test, self.pack.bases, self._fit))
            except InputError as error:
                self.failures.append(Failure("RP720", self.pack.name, name, str(error), place))
                continue
            unknown = [fault for case in cases for fault in self._unknown_names(case)]
            if unknown:
                self.failures.append(Failure("RP701", self.pack.name, name, unknown[0], place))
                continue
            for case in cases:
                self.cases.append(case)
                self._run(case)
        for base, paths in self._unknown_to.items():
            for path in sorted(paths):
                message = f"no section that a test puts it under knows its field {path}"
                self.failures.append(Failure("RP701", self.pack.name, f"base {base}", message))

    def gaps(self) -> Iterator[Gap]:
        """What no test of the pack showed."""
        tested = {case.section for case in self.cases}
        for scenario in self.joint.scenarios.values():
            if scenario.name in tested:
                tested |= set(scenario.covers)
        for section in self.pack.sections.values():
            if section.rules and section.name not in tested:
                at = next(iter(rule_shapes(section))).at
                yield Gap("RP702", section.name, "", at, "it has rules and no test")
        reached = {name: section for name, section in self.pack.sections.items() if name in tested}
        yield from self.recorder.gaps(reached, never_empty=self.joint.never_empty)
        for missing in self.joint.golden(self.pack, self.cases):
            yield Gap("RP702", "tests", "", "", missing)

    def _unknown_names(self, case: Case) -> Iterator[str]:
        scenario = self.joint.scenarios.get(case.section)
        if scenario is None and case.section not in self.pack.sections:
            known = [*self.pack.sections, *(self.joint.scenarios if self.maker else ())]
            yield f"section `{case.section}` has no rules in this pack{_meant(case.section, known)}"
            return
        covered = (case.section,) if scenario is None else scenario.covers
        named = (*case.fires, *case.silent)
        ids = {
            rule.id
            for name in covered
            if named and name in self.pack.sections
            for rule in ir.leaves(self.pack.sections[name].rules)
        }
        for rule_id in named:
            if rule_id not in ids:
                yield f"no rule `{rule_id}` in {' or '.join(covered)}{_meant(rule_id, ids)}"

    def _run(self, case: Case) -> None:
        scenario = self.joint.scenarios.get(case.section)
        section = self.catalogue.section(case.section)
        faults = self._faults(case)
        if faults:
            self._fail(case, f"the input does not fit: {'; '.join(faults)}")
            return
        try:
            ran = self._evaluate(case, scenario, section)
        except InputError as error:
            self._fail(case, f"the input cannot be used: {error}")
            return
        shapes = parse_shape(scenario.emit, self.named) if scenario else _shapes(section, self.named)
        found = verdict(case, ran, shapes)
        if found is None:
            self.passed += 1
        else:
            self._fail(case, *found)

    def _fit(self, section: str, name: str, base: Any) -> Any:
        """A base as far as a section knows its fields; a field that no section knows is told at the end."""
        declared = self._declared(section)
        if declared is None:
            return base
        made, dropped = fitted(base, declared)
        self._unknown_to[name] = self._unknown_to.get(name, dropped) & dropped
        return made

    def _declared(self, section: str) -> Type | None:
        """The type of what a test of a section gives, settings included; None for no such section."""
        if section not in self._inputs:
            scenario, known = self.joint.scenarios.get(section), self.catalogue.section(section)
            made = None
            if scenario is not None:
                made = input_type(scenario.input, self.named, settings=None)
            elif known is not None:
                settings = self.program.block("settings") if known.settings else None
                made = input_type(known.input, self.named, settings=settings)
            self._inputs[section] = made
        return self._inputs[section]

    def _faults(self, case: Case) -> list[str]:
        declared = self._declared(case.section)
        if declared is None:  # a section the catalogue lacks cannot be linked
            return [f"the catalogue has no section {case.section}"]
        return misfits(case.given, declared)

    def _with(self, params: Mapping[str, Any]) -> Program:
        """The program, or one in which some parameters of the pack have other values. Cost: a link of the pack, once."""
        if not params:
            return self.program
        key = canonical_json(params)
        if key not in self._variants:
            if self.pack.variant is None:
                raise InputError("its parameters cannot be changed", why="the pack was not linked from its files")
            made = self.pack.variant(params)
            packs = [made if one is self.pack else one for one in self.program.packs]
            self._variants[key] = Program(packs, vocabulary=self.program.vocabulary)
        return self._variants[key]

    def _evaluate(self, case: Case, scenario: Scenario | None, section: Section | None) -> Ran:
        program = self._with(case.params)
        if scenario is not None:
            return scenario.run(program, self.maker or "", case.given, self.recorder)
        assert section is not None
        given = case.given
        if section.settings:
            given = {**given, "settings": filled_settings(program.block("settings"), given.get("settings") or {})}
        inputs = self.joint.ready(program, section.name, self.maker, given)
        outcome = program.evaluate(section.name, inputs, self.maker, observer=self.recorder)
        return ran_as(outcome, section)

    def _fail(self, case: Case, message: str, found: tuple[Difference, ...] = ()) -> None:
        self.failures.append(Failure("RP720", self.pack.name, case.name, message, case.place, found))


def _shapes(section: Section | None, named: Mapping[str, Type]) -> tuple[Type, ...]:
    return () if section is None else section.emit_types(named)


def _meant(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return f"; did you mean `{near}`?" if near else ""
