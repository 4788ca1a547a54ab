"""The program that was published: read back from its ConfigMaps, and what a starting worker serves.

Fetches nothing. A start never takes over what waits for an approval, whatever became of the published objects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.delivery.candidate import Candidate
from engine.delivery.decide import NO_OVERRIDES, consider
from engine.delivery.standing import Standing
from engine.delivery.verdict import InForce, PackRecord, Snapshot, Verdict
from engine.errors import EngineError, InputError
from engine.lang.program import Program
from engine.sections.catalog import VOCABULARY
from engine.values.canonical_json import canonical_json

HEAD: Final = "engine-program"
"""Name of the ConfigMap that names the program in force; a pack's is `engine-program-<kind>-<name>`. Source: design, 2.7."""

HEAD_FIELDS: Final = ("program", "vocabulary", "packs", "records", "waiting")
"""Keys of that ConfigMap: digest, vocabulary, digests of linked packs by id, all packs with their sources, what is held."""

PUBLISHED: Final = "worker.gpustack.ai/published=program"
"""Label of all these ConfigMaps, as a selector: what is watched is these, and not all that lies in the namespace."""

APPROVED: Final = "worker.gpustack.ai/approved-program"
"""Annotation of that ConfigMap: the digest of the program that a person lets go into force."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What was published. Shape: `named` and `waiting` are digests; `in_force` is None, and `why` says so, unless all of it
    is there and unchanged.
    """

    named: str = ""
    waiting: str = ""
    in_force: InForce | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """What a worker starts with. Shape: `origin` is `engine-program`, `mounted` or `image`; `notes` what was passed over."""

    standing: Standing
    origin: str
    notes: tuple[str, ...] = ()


def pack_map_name(kind: str, name: str) -> str:
    """The ConfigMap of a linked pack."""
    return f"{HEAD}-{kind.lower()}-{name}"


def pack_map_key(digest: str) -> str:
    """The key of a linked pack in its ConfigMap, which holds two while one follows the other."""
    return f"{digest}.json"


def approved_in(annotations: Mapping[str, str]) -> frozenset[str]:
    """The digests that the annotations of `engine-program` approve."""
    return frozenset(annotations.get(APPROVED, "").split())


def restored(maps: Mapping[str, Mapping[str, str]]) -> Stored:
    """The published program. Shape: `maps` are the data of ConfigMaps by name; those of others are not looked at."""
    head = maps.get(HEAD)
    if head is None:
        return Stored(why=f"there is no ConfigMap {HEAD}")
    named, waiting = head.get("program", ""), head.get("waiting", "")
    try:
        digests = json.loads(head["packs"])
        packs = [json.loads(_pack_text(maps, id_, digest)) for id_, digest in sorted(digests.items())]
        made = Program.from_json(
            canonical_json({"vocabulary": head["vocabulary"], "packs": packs}), vocabulary=VOCABULARY
        )
        records = tuple(PackRecord(**record) for record in json.loads(head["records"]))
    except InputError as error:
        return Stored(named, waiting, why=str(error))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        return Stored(named, waiting, why=f"ConfigMap {HEAD} cannot be read: {error!r}")
    if made.digest != named:
        return Stored(named, waiting, why=f"ConfigMap {HEAD} names program {named}, its packs are {made.digest}")
    return Stored(named, waiting, InForce(made, records))


def _pack_text(maps: Mapping[str, Mapping[str, str]], id_: str, digest: str) -> str:
    text = maps.get(f"{HEAD}-{id_}", {}).get(pack_map_key(digest))
    if text is None:
        raise InputError(f"ConfigMap {HEAD}-{id_} does not hold {digest}")
    return text


def start(
    stored: Stored,
    mounted: Candidate | None,
    image: Candidate,
    approved: Collection[str] = (),
    *,
    overrides: Mapping[str, str] = NO_OVERRIDES,
    fits: Callable[[Program], None] = lambda _program: None,
) -> Start:
    """What serves from the first moment: the published program, else the mounted packs, else those of the image.

    Without the published program's packs there is nothing to compare with. Then packs that link to the very program that
    was named come first, and a program that waits for an approval comes last of all: not at all.
    Shape: mounted packs that do not serve are judged once more, as a delivery, when the cluster is known; `fits` raises
    EngineError for a program that this process cannot run with, whatever its tests say: one that another version of
    Engine has published.
    Raises: InputError: none of them can serve.
    """
    notes = [stored.why] if stored.why else []
    if stored.in_force is not None:
        misfit = _misfit(stored.in_force, fits)
        if not misfit:
            return Start(Standing(stored.in_force), HEAD)
        notes.append(f"the program of ConfigMap {HEAD}: {misfit}")
    usable: list[tuple[str, Verdict]] = []
    for origin, verdict in _judged(mounted, image, overrides):
        offered = verdict.offered
        misfit = verdict.message if offered is None else _misfit(offered, fits)
        if offered is None or misfit:
            notes.append(f"{origin} packs: {misfit}")
        elif verdict.digest == stored.waiting and verdict.digest not in approved:
            notes.append(f"{origin} packs: program {verdict.digest} waits for engine rules approve")
        elif stored.named in ("", verdict.digest):
            return Start(Standing(offered, begun=verdict), origin, tuple(notes))
        else:
            usable.append((origin, verdict))
    for origin, verdict in usable:
        return Start(Standing(verdict.offered, begun=verdict), origin, tuple(notes))
    raise InputError("no rules can serve", why="; ".join(notes), remedy="mend the packs, or install Engine again")


def _misfit(offered: InForce, fits: Callable[[Program], None]) -> str:
    try:
        fits(offered.program)
    except EngineError as error:
        return str(error)
    return ""


def _judged(mounted: Candidate | None, image: Candidate, overrides: Mapping[str, str]) -> Iterator[tuple[str, Verdict]]:
    """Verdicts one by one: the image's packs are not even linked when the mounted ones will do."""
    for origin, candidate in (("mounted", mounted), ("image", image)):
        if candidate is not None:
            yield origin, consider(candidate, None, Snapshot(), overrides=overrides)
