"""What testing a pack needs to know about sections: the `allocation` and `recover` scenarios, input completion, golden tests.

Compares and counts nothing: `engine.lang.packtest` does, and knows no accelerator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from engine.errors import InputError
from engine.lang.observe import Observer
from engine.lang.packtest import Joint, Scenario
from engine.lang.packtest_cases import Case
from engine.lang.packtest_verdict import Ran
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Owner
from engine.lang.types import MISSING
from engine.sections import inject
from engine.sections.alloc_input import Stage, alloc_notation
from engine.sections.allocation import COULD_NOT_TELL, Circumstances, allocate
from engine.sections.allocation_outcome import read_ranges, write_ranges
from engine.sections.recover import Corrupt, Elsewhere, Recovered, block_for, recover
from engine.sections.served_modes import served_modes

STAGES: Final = tuple(stage.value for stage in Stage)
_GRANTS: Final = {"exclusive": "whole", "shared": "whole", "sliced": "slice", "partitioned": "partition"}
# A test says what matters to it; these are the rest of an allocation, chosen here.
_ALLOC: Final = {"container": "main", "podUid": "pod-1", "arch": "amd64", "channel": "envvar"}
_WHOLE_PERCENT: Final = 100


def completed(alloc: Mapping[str, Any]) -> dict[str, Any]:
    """An allocation as a test writes it, with the fields it left out.

    Shape: `grant` follows the mode (visibility: a partition if the owner holds one, else whole); `position` counts
    cards, `index` is the position and `driverIndex` the index unless given; `wholeCard` is 100 % of the cores of a slice
    that has all of the card's memory. Raises: InputError: no mode, or no list of cards.
    """
    mode, cards = alloc.get("mode"), alloc.get("cards")
    if mode is None or cards is None:
        raise InputError("an allocation needs `mode` and `cards`", where="alloc")
    owned = "partition" if alloc.get("partition") is not None else "whole"
    made = {**_ALLOC, "grant": _GRANTS.get(mode, owned), **alloc}
    made["cards"] = [_card(card, position) for position, card in enumerate(cards)]
    cut = made.get("slice")
    if cut is not None and "wholeCard" not in cut:
        made["slice"] = {**cut, "wholeCard": _is_whole(cut, made["cards"])}
    return made


def _card(given: Mapping[str, Any], position: int) -> dict[str, Any]:
    index = given.get("index", position)
    plain = {"uuid": "", "pci": "", "product": "", "slots": {}, "extras": {}}
    return {**plain, "position": position, "index": index, "driverIndex": index, **given}


def _is_whole(cut: Mapping[str, Any], cards: Sequence[Mapping[str, Any]]) -> bool:
    sizes = [(card.get("sliceMib"), card.get("memoryMib")) for card in cards]
    return cut.get("coresPercent") == _WHOLE_PERCENT and all(part is not None and part == all_ for part, all_ in sizes)


def _ready(program: Program, section: str, maker: str | None, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    if maker is None or section not in STAGES or not isinstance(inputs.get("alloc"), Mapping):
        return inputs
    return {**inputs, "alloc": program.with_derived(maker, completed(inputs["alloc"]))}


def circumstances_of(given: Mapping[str, Any]) -> Circumstances:
    """What an allocation meets, as a test writes it: ids as lists or as ranges. Raises: InputError: no range."""
    return Circumstances(
        occupied={pool: [read_ranges(ids) for ids in held] for pool, held in (given.get("occupied") or {}).items()},
        prior={claim: read_ranges(ids) for claim, ids in (given.get("prior") or {}).items()},
        answers=given.get("answers") or {},
    )


def _run(program: Program, maker: str, given: Mapping[str, Any], observer: Observer) -> Ran:
    alloc = completed(given.get("alloc") or {})
    outcome = allocate(program, maker, alloc, circumstances_of(given), observer=observer)
    refusal = outcome.refusal
    if refusal is not None and refusal.code == COULD_NOT_TELL:
        return Ran(None, outcome.fired, unknown=refusal.text)
    return Ran(outcome.shown(), outcome.fired, refused=None if refusal is None else refusal.text)


def _recover(program: Program, maker: str, given: Mapping[str, Any], _observer: Observer) -> Ran:
    path = str(given.get("file", ""))
    block = block_for(program.block("recover", maker) or (), path)
    if block is None:
        raise InputError(f"no `recover` block reads {path or 'a file without a name'}", where="file")
    owner = {name: given[name] for name in ("podUid", "container") if given.get(name) is not None}
    found = recover(block, given.get("text", ""), given.get("cards") or (), owner)
    match found:
        case Recovered():
            ids = {name: "all" if taken is None else write_ranges(taken) for name, taken in found.claims.items()}
            shown: dict[str, Any] = {
                "card": found.card,
                "claims": ids,
                "intent": found.intent,
                "args": found.args,
                "answer": found.answer,
            }
            return Ran({key: value for key, value in shown.items() if value}, ())
        case Elsewhere():
            return Ran({"elsewhere": found.why}, ())
        case Corrupt():
            return Ran({}, (), refused=found.why) if found.refuses else Ran({"skipped": found.why}, ())


def _golden(pack: LinkedPack, cases: Sequence[Case]) -> Iterable[str]:
    """Every served mode needs a test that states the whole answer, and every kind of old file one that reads it."""
    if pack.kind == Owner.MANUFACTURER:
        yield from _unread(pack, cases)
    if pack.kind != Owner.MANUFACTURER or inject.SECTION.name not in pack.sections:
        return
    shown = {
        case.given.get("alloc", {}).get("mode")
        for case in cases
        if case.section == ALLOCATION.name
        and case.expect is not MISSING
        and not case.is_partial
        and case.refuses is None
    }
    for mode in served_modes(pack):
        if mode not in shown:
            yield f"no golden test for mode `{mode}`: an `allocation` whose whole answer is stated"


def _unread(pack: LinkedPack, cases: Sequence[Case]) -> Iterator[str]:
    blocks = pack.blocks.get("recover") or ()
    read = [
        block_for(blocks, str(case.given.get("file", "")))
        for case in cases
        if case.section == RECOVER.name and isinstance(case.expect, Mapping) and "card" in case.expect
    ]
    for block in blocks:
        if block not in read:
            yield f"no golden test reads an old {block['files']}: a `recover` that states what it holds"


ALLOCATION: Final = Scenario(
    name="allocation",
    input=(
        alloc_notation(Stage.INJECT)
        + ", occupied?: map<any[]>, prior?: map<any>"
        + ", answers?: map<{outcome?: str, cause?: str, answer?: map<any>}>"
    ),
    emit=inject.SECTION.emit,
    covers=STAGES,
    run=_run,
)
RECOVER: Final = Scenario(
    name="recover",
    input="file: str, text: str, podUid?: str, container?: str, cards: {uuid: str, pci?: str, slots: @slots}[]",
    emit=(
        "{card?: str, claims?: map<str>, intent?: str, args?: map<any>, answer?: map<any>, elsewhere?: str, skipped?: str}"
    ),
    covers=(),
    run=_recover,
)
JOINT: Final = Joint(
    scenarios={ALLOCATION.name: ALLOCATION, RECOVER.name: RECOVER},
    ready=_ready,
    never_empty=frozenset({"alloc.cards"}),
    golden=_golden,
)
