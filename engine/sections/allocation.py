"""One allocation as a pure function: guards, claims, prepare, inject, with the reference picker and given answers.

Reserves, records and calls nothing: what a node's agent does at each step is stated in the outcome, so that tests of
packs, `plan` and the agent tell the same story. Room of cards and modes is refused before this by code of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from engine.lang.observe import Observer
from engine.lang.outcome import Outcome, OutcomeKind
from engine.sections.allocation_outcome import (
    AllocationOutcome,
    Called,
    Claimed,
    Refusal,
    claim_key,
    pool_key,
)
from engine.sections.inject import MOUNT_SOURCES
from engine.sections.picker import Overlap, Refused, Shape, Want, pick

COULD_NOT_TELL: Final = "COULD_NOT_TELL"
NO_CARDS: Final = "NO_CARDS"
_NOT_YET: Final = ("uuid", "ids")
"""What of a partition is known only once code has made it, after prepare was asked."""


class AllocationProgram(Protocol):
    """What an allocation needs of a linked program."""

    def evaluate(
        self, section: str, inputs: Mapping[str, Any], maker: str | None = None, *, observer: Observer | None = None
    ) -> Outcome:
        """The outcome of a section; nothing when the maker's pack has no such section."""

    def message(
        self, section: str, rule_id: str, output: Mapping[str, Any], answer: Mapping[str, Any], maker: str | None = None
    ) -> str | None:
        """The late message of the rule that gave `output`; None when it has no words for this answer."""

    def with_derived(self, maker: str, alloc: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of `alloc` whose `derived` values, its own and its cards', are computed when they are looked at."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What an allocation meets on the node.

    Shape: `occupied` by pool (`name@uuid` of a card's pool, `name` of the node's), a list of ids a holder; `prior` the ids
    this owner took before, by `name@uuid`; `answers` of the driver by `call@uuid` or `call`:
    `{outcome: ok, cause: "", answer: {…}}`, each part optional.
    """

    occupied: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    prior: Mapping[str, Sequence[int]] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class _StopError(Exception):
    """Unwinds an allocation with the refusal that ends it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def allocate(
    program: AllocationProgram,
    maker: str,
    alloc: Mapping[str, Any],
    circumstances: Circumstances | None = None,
    *,
    observer: Observer | None = None,
) -> AllocationOutcome:
    """Decide one allocation. Visibility claims nothing and records nothing; every other mode goes through all stages.

    Shape: after a refusal `claims` is empty (they were given back) and `undone` names what the driver was asked to undo,
    last call first. `alloc` is not changed.
    """
    run = _Run(program, maker, circumstances or Circumstances(), observer)
    try:
        run.go(alloc)
    except _StopError as stop:
        undone = tuple(f"{call.undo}{call.at}" for call in reversed(run.calls) if call.done and call.undo != "none")
        return AllocationOutcome(refusal=stop.refusal, calls=tuple(run.calls), undone=undone, fired=tuple(run.fired))
    return AllocationOutcome(
        edits=run.edits,
        claims=tuple(run.claims),
        calls=tuple(run.calls),
        fired=tuple(run.fired),
        is_rendered_before_record=run.is_rendered_before_record,
    )


class _Run:
    """One allocation under way; a value per step, thrown away with it."""

    def __init__(
        self, program: AllocationProgram, maker: str, circumstances: Circumstances, observer: Observer | None
    ) -> None:
        self.program, self.maker, self.given, self.observer = program, maker, circumstances, observer
        self.claims: list[Claimed] = []
        self.calls: list[Called] = []
        self.fired: list[str] = []
        self.edits: dict[str, Any] = {}
        self.is_rendered_before_record = False

    def go(self, given: Mapping[str, Any]) -> None:
        if not given["cards"]:
            whose = "sliced container" if given["grant"] == "slice" else "container"
            text = f'no allocated accelerator found for {whose} "{given["container"]}"'
            raise _StopError(Refusal("code", "", NO_CARDS, "FailedPrecondition", text))
        made = given.get("partition") or {}
        before = dict(given)
        if made:
            before["partition"] = {key: value for key, value in made.items() if key not in _NOT_YET}
        before["cards"] = [{k: v for k, v in card.items() if k not in ("claims", "driver")} for card in given["cards"]]
        alloc = self.program.with_derived(self.maker, before)
        cards = {card["uuid"]: card for card in alloc["cards"]}
        self._guard(alloc)
        taken: Mapping[str, dict[str, list[int]]] = {} if alloc["mode"] == "visibility" else self._claim(alloc, cards)
        alloc["claims"] = taken.get("", {})
        for card in alloc["cards"]:
            card["claims"] = taken.get(card["uuid"], {})
        intents = self._intents(alloc)
        for key in _NOT_YET:
            if key in made:
                alloc["partition"][key] = made[key]
        for card in alloc["cards"]:
            card["driver"] = {}
        late = [intent for intent in intents if intent[1]["phase"] == "afterRecord"]
        for rule_id, intent in intents:
            if intent["phase"] == "beforeRecord":
                self._call(rule_id, intent, cards)
        self.is_rendered_before_record = not late
        for rule_id, intent in late:
            self._call(rule_id, intent, cards)
        self.edits = self._inject(alloc)

    def _ask(self, section: str, alloc: dict[str, Any]) -> Outcome:
        outcome = self.program.evaluate(section, {"alloc": alloc}, self.maker, observer=self.observer)
        self.fired.extend(outcome.fired)
        if outcome.kind is OutcomeKind.UNKNOWN:
            raise _unknown(section, outcome.reason)
        return outcome

    def _guard(self, alloc: dict[str, Any]) -> None:
        outcome = self._ask("guards", alloc)
        if outcome.kind is OutcomeKind.VALUE:
            said = outcome.value
            rule_id = outcome.fired[-1]
            text = said.get("message") or f"refused by rule {rule_id}"
            raise _StopError(Refusal("guards", rule_id, said["refuse"], said["status"], text))

    def _claim(self, alloc: dict[str, Any], cards: Mapping[str, Any]) -> Mapping[str, dict[str, list[int]]]:
        """Every claim picked; ids by card (`""`: the node's own) and name."""
        outcome = self._ask("claims", alloc)
        held: dict[str, list[Sequence[int]]] = {key: list(holders) for key, holders in self.given.occupied.items()}
        taken: dict[str, dict[str, list[int]]] = {}
        for rule_id, claim in zip(outcome.fired, outcome.value or [], strict=True):
            uuid = claim.get("card") or ""
            if (uuid and uuid not in cards) or (not uuid and claim["pool"] == "card"):
                raise _unknown(f"claims/{rule_id}", f'no card "{uuid}" in this allocation')
            if claim["name"] in taken.get(uuid, {}):
                raise _unknown(f"claims/{rule_id}", f"`{claim_key(claim)}` is claimed twice")
            pool = pool_key(claim)
            ids = self._pick(rule_id, claim, held.setdefault(pool, []))
            held[pool].append(ids)
            taken.setdefault(uuid, {})[claim["name"]] = ids
            self.claims.append(Claimed(pool, claim["name"], uuid, tuple(ids), rule_id))
        return taken

    def _pick(self, rule_id: str, claim: Mapping[str, Any], holders: Sequence[Sequence[int]]) -> list[int]:
        prior = self.given.prior.get(claim_key(claim))
        if prior is not None:
            return list(prior)
        shape, overlap = Shape(claim["shape"]), Overlap(claim["overlap"])
        want = Want(claim["size"], claim["count"], shape, claim["quantum"], overlap)
        if want.fault:
            raise _unknown(f"claims/{rule_id}", want.fault)
        got = pick(want, holders)
        if not isinstance(got, Refused):
            return list(got)
        answer = {
            "state": got.state.value,
            "need": got.need,
            "free": got.free,
            "size": got.size,
            "holders": got.holders,
        }
        fixed = f"{got.state}: {claim_key(claim)} needs {got.need}, {got.free} of {got.size} are free"
        raise self._refused("claims", rule_id, claim, answer, fixed)

    def _intents(self, alloc: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        outcome = self._ask("prepare", alloc)
        return list(zip(outcome.fired, outcome.value or [], strict=True))

    def _call(self, rule_id: str, intent: Mapping[str, Any], cards: Mapping[str, Any]) -> None:
        uuid = intent.get("card") or ""
        if uuid and uuid not in cards:
            raise _unknown(f"prepare/{rule_id}", f'no card "{uuid}" in this allocation')
        name = intent["call"]
        answers = self.given.answers
        answer = answers.get(f"{name}@{uuid}", answers.get(name, {}))
        outcome = answer.get("outcome", "ok")
        accepted = outcome in intent["accept"]
        self.calls.append(
            Called(name, uuid, intent["phase"], intent["args"], outcome, intent["undo"], intent["hold"], done=accepted)
        )
        if not accepted:
            said = {"outcome": outcome, "cause": answer.get("cause", "")}
            fixed = f"{self.calls[-1].label} answered {outcome}" + (f": {said['cause']}" if said["cause"] else "")
            raise self._refused("prepare", rule_id, intent, said, fixed)
        if uuid:
            cards[uuid]["driver"][name] = dict(answer.get("answer", {}))

    def _refused(
        self, section: str, rule_id: str, output: Mapping[str, Any], answer: Mapping[str, Any], fixed: str
    ) -> _StopError:
        """The refusal a rule's output names, in its words where it has some for this answer."""
        text = self.program.message(section, rule_id, output, answer, self.maker)
        return _StopError(Refusal(section, rule_id, output["refuse"], output["status"], text or fixed))

    def _inject(self, alloc: dict[str, Any]) -> dict[str, Any]:
        outcome = self._ask("inject", alloc)
        if outcome.kind is OutcomeKind.NOTHING:
            raise _unknown("inject", "no rule fired, and one has to")
        edits: dict[str, Any] = outcome.value
        for mount in edits.get("mounts", ()):
            named = [source for source in MOUNT_SOURCES if source in mount]
            if len(named) != 1:
                known = ", ".join(MOUNT_SOURCES)
                raise _unknown(
                    "inject", f"the mount at {mount['at']} needs exactly one of {known}; it has {len(named)}"
                )
        return edits


def _unknown(where: str, why: str) -> _StopError:
    return _StopError(
        Refusal(where.partition("/")[0], "", COULD_NOT_TELL, "Internal", f"could not tell: {where}: {why}")
    )
