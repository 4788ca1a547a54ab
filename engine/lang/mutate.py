"""Mutation testing of packs: every rule changed in one place, and the pack's own tests asked whether they notice.

Answers with values: what was made, killed, accepted and survived. Runs nothing in parallel and prints nothing; which changes
there are is `mutate_text`'s and `mutate_rules`'.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from engine.errors import InputError
from engine.lang.library import Used
from engine.lang.linking import SHARED_BLOCKS, Linked
from engine.lang.mutate_accept import Acceptances
from engine.lang.mutate_build import DerivedMutant, MutantBuilder
from engine.lang.mutate_report import MutationReport, PackMutation
from engine.lang.mutate_rules import Mutant
from engine.lang.mutate_trials import Trial, TrialProgram, Trials, changed_pack, parameter_sets
from engine.lang.packs import Pack
from engine.lang.packtest import Joint
from engine.lang.program import LinkedPack
from engine.lang.section import Catalogue
from engine.lang.tree import plain

__all__ = ["MutationReport", "PackMutation", "mutate"]

_KILLED: Final = "killed"
_SURVIVED: Final = "survived"
_NOT_LOADED: Final = "not loaded"
_BEST: Final = (_KILLED, _SURVIVED, _NOT_LOADED)


def mutate(
    linked: Linked, catalogue: Catalogue, joint: Joint, *, only: Collection[tuple[str, str]] | None = None
) -> MutationReport:
    """Mutate the rules of packs and run their tests against each mutant.

    Shape: `only` are kinds and names; all packs without it. A mutant of a library's rule survives when the tests of no pack
    that uses it notice. Packs that did not link give an empty report.
    Cost: about a millisecond a mutant.
    """
    if linked.program is None:
        return MutationReport(())
    program = TrialProgram(linked.program.packs, vocabulary=linked.program.vocabulary)
    shared = _shared(linked.packs, catalogue)
    trees = {(pack.kind, pack.name): pack for pack in linked.packs}
    made: list[_PackRun] = []
    for compiled in program.packs:
        key = (compiled.kind, compiled.name)
        if only is None or key in only:
            run = _PackRun(program, compiled, trees[key], linked.used.get(key, ()), catalogue, shared, joint)
            for params in parameter_sets(compiled):
                run.go(params)
            made.append(run)
    killed = {key for run in made for key, fate in run.fates.items() if fate == _KILLED}
    return MutationReport(tuple(run.result(killed) for run in made))


class _PackRun:
    """The mutants of one pack."""

    def __init__(
        self,
        program: TrialProgram,
        compiled: LinkedPack,
        pack: Pack,
        used: tuple[Used, ...],
        catalogue: Catalogue,
        shared: Mapping[str, Any],
        joint: Joint,
    ) -> None:
        self.compiled = compiled
        self._own = program
        self._given = (pack, used, catalogue, shared)
        self._joint = joint
        self.mutants: list[Mutant] = []
        self.fates: dict[tuple[str, int, int, str], str] = {}

    def go(self, params: Mapping[str, Any]) -> None:
        """Find out what the tests that give the parameters these values make of every mutant."""
        variant, compiled = self.compiled.variant, self.compiled
        if params and variant is not None:
            try:
                compiled = variant(params)
            except InputError:  # the test itself fails: nothing is learned from it
                return
        self.linked = compiled
        self.program = self._own.with_variant(compiled) if params else self._own
        pack, used, catalogue, shared = self._given
        self.trials = Trials(self.program, compiled, catalogue, self._joint, params)
        self.builder = MutantBuilder(pack, used, catalogue, shared, compiled.sections, params)
        for mutant, build in self.builder.mutants():
            evaluator = build()
            if evaluator is None:
                self._note(mutant, _NOT_LOADED)
                continue
            self.program.exchange(mutant.section, self.trials.maker, evaluator)
            near = self.trials.near(mutant.section, mutant.rules)
            self._note(mutant, self._fate(near, self.program))
            self.program.restore()
        for derived in self.builder.derived_mutants():
            self._note(derived.mutant, self._derived_fate(derived))

    def result(self, killed: Collection[tuple[str, int, int, str]]) -> PackMutation:
        """The counts, once it is known what the tests of other packs killed."""
        survived = [one for one in self.mutants if self.fates[one.key] == _SURVIVED and one.key not in killed]
        acceptances = Acceptances(self._sources())
        accepted = [one for one in survived if acceptances.accepts(one)]
        return PackMutation(
            kind=self.compiled.kind,
            name=self.compiled.name,
            killed=sum(1 for one in self.mutants if self.fates[one.key] == _KILLED or one.key in killed),
            not_loaded=sum(1 for one in self.mutants if self.fates[one.key] == _NOT_LOADED),
            survived=tuple(one for one in survived if one not in accepted),
            accepted=tuple((one, acceptances.reason(one)) for one in accepted),
            faults=tuple(acceptances.faults()),
        )

    def _note(self, mutant: Mutant, fate: str) -> None:
        if mutant.key not in self.fates:
            self.mutants.append(mutant)
        # With several sets of parameters the best of them counts: killed, else survived, else not loaded.
        self.fates[mutant.key] = min(fate, self.fates.get(mutant.key, fate), key=_BEST.index)

    def _derived_fate(self, derived: DerivedMutant) -> str:
        lets = derived.build()
        if lets is None:
            return _NOT_LOADED
        program = self.program.with_pack(changed_pack(self.linked, derived.scope, lets))
        return self._fate(self.trials.of_maker(), program)

    def _fate(self, near: list[Trial], program: TrialProgram) -> str:
        return _SURVIVED if all(one.passes(program, self.trials.maker) for one in near) else _KILLED

    def _sources(self) -> Iterator[Any]:
        pack, used = self.builder.pack, self.builder.used
        seen: dict[int, Any] = {}
        for one in (pack, *(each.library for each in used)):
            for source in (one.place.source, *(entry.key.source for entry in one.spec.values())):
                seen[id(source)] = source
        yield from seen.values()


def _shared(packs: list[Pack], catalogue: Catalogue) -> dict[str, Any]:
    """The blocks that one derivation gives and every pack sees, as the linker puts them together."""
    made: dict[str, Any] = {}
    for pack in packs:
        for name in SHARED_BLOCKS:
            if name in pack.spec:
                made[name] = plain(pack.spec[name].value)
    if isinstance(made.get("constants"), dict):
        made["constants"] = {**made["constants"], **catalogue.constants}
    return made
