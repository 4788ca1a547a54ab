"""What to do with delivered packs: link them beside those that serve, test them, re-plan the cluster, and judge.

Reads no file and no clock, and changes nothing: the program that serves goes on until the caller swaps it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from engine.delivery.blame import Blame, records
from engine.delivery.candidate import Candidate
from engine.delivery.lost import Replan, lost_names
from engine.delivery.verdict import InForce, Lost, PackVerdict, Snapshot, State, Verdict
from engine.errors import EngineError
from engine.lang.linking import Linked, link
from engine.lang.packtest import run_pack_tests
from engine.lang.program import Program
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT
from engine.values.canonical_json import canonical_json

MAX_COMPILED_BYTES: Final = 480 * 1024
"""Of one linked pack: two of them, the old and the new, stand in one ConfigMap of 1 MiB while one replaces the other."""

LOST_SHOWN: Final = 3
"""Names told in a message before the rest are counted. Ours."""

NO_OVERRIDES: Final[Mapping[str, str]] = MappingProxyType({})


def consider(
    candidate: Candidate,
    serving: InForce | None,
    snapshot: Snapshot | Replan,
    approved: Collection[str] = (),
    *,
    overrides: Mapping[str, str] = NO_OVERRIDES,
) -> Verdict:
    """The verdict on a candidate; with nothing serving there is nothing to compare with, and nothing is held.

    Shape: `snapshot` is all of the cluster, or asks whoever knows it; `approved` are digests of programs. Cost: a link, all in-pack tests and two plans: seconds, so never on the loop.
    """
    blame = Blame(candidate)
    try:
        linked = _linked(candidate, overrides, blame)
        program = None if linked is None else linked.program
        if linked is not None and program is not None:
            _weigh(program, blame)
            if not blame:
                _run_tests(program, candidate, overrides, blame)
            if not blame:
                return _judged(candidate, linked, program, serving, snapshot, approved)
    except (EngineError, RecursionError) as error:
        blame.all(f"the cluster cannot be planned with these packs: {error}")
        linked = None
    return _failed(candidate, serving, blame, linked)


def refused(candidate: Candidate, serving: InForce | None, why: str) -> Verdict:
    """The verdict on a delivery that could not be judged, for a fault of nobody's pack."""
    blame = Blame(candidate)
    blame.all(why)
    return _failed(candidate, serving, blame, None)


def _linked(candidate: Candidate, overrides: Mapping[str, str], blame: Blame) -> Linked | None:
    blame.add(candidate.faults)
    if candidate.awaited:
        blame.all(f"RP911: not as announced, or not there: {', '.join(candidate.awaited)}")
    if not candidate.packs:
        blame.all("RP911: no pack was delivered")
    if blame:
        return None
    linked = link(candidate.packs, CATALOGUE, overlays=candidate.overlays, overrides=overrides)
    blame.add(linked.diagnostics)
    return linked


def _weigh(program: Program, blame: Blame) -> None:
    for pack in program.packs:
        size = len(canonical_json(pack.to_json()).encode())
        if size > MAX_COMPILED_BYTES:
            text = f"RP801: compiled it holds {size} bytes, {MAX_COMPILED_BYTES} are the limit; split it"
            blame.pack(pack.kind, pack.name, text)


def _run_tests(program: Program, candidate: Candidate, overrides: Mapping[str, str], blame: Blame) -> None:
    if candidate.overlays or overrides:
        # A pack's tests are tests of the pack: what an overlay changes may rightly fail them.
        bare = link(candidate.packs, CATALOGUE).program
        if bare is None:
            return  # an overlay may mend a pack; then there is nothing that could be tested by itself
        program = bare
    for pack in program.packs:
        for failure in run_pack_tests(program, pack, CATALOGUE, JOINT).failures:
            blame.pack(pack.kind, pack.name, f"{failure.code}: test {failure.test}: {failure.message}")


def _judged(
    candidate: Candidate,
    linked: Linked,
    program: Program,
    serving: InForce | None,
    snapshot: Snapshot | Replan,
    approved: Collection[str],
) -> Verdict:
    offered = InForce(program, records(candidate, linked))
    lost = () if serving is None else lost_names(serving.program, program, snapshot)
    findings = tuple(linked.diagnostics)
    if serving is None or not lost or program.digest in approved:
        return loaded(Verdict(State.LOADED, candidate.digest, offered=offered, lost=lost, findings=findings))
    return _held(candidate, serving, offered, lost)


def loaded(verdict: Verdict) -> Verdict:
    """The same delivery, in force: what becomes of a held one once its digest is approved."""
    offered = verdict.offered
    assert offered is not None
    digest = offered.program.digest
    packs = tuple(PackVerdict(record, State.LOADED, program=digest) for record in offered.packs)
    return replace(verdict, state=State.LOADED, message="", packs=packs)


def _held(candidate: Candidate, serving: InForce, offered: InForce, lost: tuple[Lost, ...]) -> Verdict:
    digest = offered.program.digest
    shown = "; ".join(str(one) for one in lost[:LOST_SHOWN])
    more = f" and {len(lost) - LOST_SHOWN} more" if len(lost) > LOST_SHOWN else ""
    message = f"would rename {shown}{more}: engine rules approve {digest}"
    before = {record.id: record for record in serving.packs}
    meant = {(pack.kind, pack.name): pack.digest for pack in serving.program.packs}
    packs = []
    for record in offered.packs:
        old = before.get(record.id)
        digest_before = meant.get((record.kind, record.name), old.digest if old else "")
        if digest_before == record.digest:
            packs.append(PackVerdict(record, State.LOADED, program=serving.program.digest))
        else:
            packs.append(PackVerdict(record, State.HELD, message, digest))
    there = {record.id for record in offered.packs}
    packs += [
        PackVerdict(record, State.HELD, f"would be taken out; {message}", digest)
        for record in serving.packs
        if record.id not in there
    ]
    return Verdict(State.HELD, candidate.digest, message, offered, _sorted(packs), lost)


def _failed(candidate: Candidate, serving: InForce | None, blame: Blame, linked: Linked | None) -> Verdict:
    before = {record.id: record for record in serving.packs} if serving else {}
    serves = serving.program.digest if serving else ""
    known = records(candidate, linked, known=before)
    refused = [str(record) for record in known if blame.of(record)]
    message = blame.message(refused)
    packs = []
    for record in known:
        reason, old = blame.of(record), before.get(record.id)
        if reason:
            packs.append(PackVerdict(record, State.FAILED, reason))
        elif old is not None and old.content == record.content:
            told = "" if refused else f"still in force: {message}"
            packs.append(PackVerdict(old, State.LOADED, told, serves))
        else:
            packs.append(PackVerdict(record, State.FAILED, f"not taken: {message}"))
    there = {record.id for record in known}
    packs += [
        PackVerdict(record, State.LOADED, f"not delivered any more, still in force: {message}", serves)
        for record in before.values()
        if record.id not in there
    ]
    return Verdict(State.FAILED, candidate.digest, message, None, _sorted(packs), findings=tuple(blame.findings))


def _sorted(packs: list[PackVerdict]) -> tuple[PackVerdict, ...]:
    return tuple(sorted(packs, key=lambda one: (one.record.kind, one.record.name)))
