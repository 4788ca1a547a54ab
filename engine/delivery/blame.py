"""Which pack of a delivery a fault belongs to, and which pack a group of files is, readable or not.

Finds no fault itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from engine.delivery.candidate import Candidate, content_digest
from engine.delivery.verdict import PackRecord
from engine.lang.codes import Severity
from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.linking import Linked
from engine.lang.packs import PackFiles, gather

KINDS: Final = ("Manufacturer", "Derivation", "Library", "Overlay")
"""What a RulePack can be about."""


_FOLDERS: Final = dict(zip(("manufacturers", "derive", "library", "overlays"), KINDS, strict=True))
"""Where packs of each kind lie, below `rules/` and in a mount."""


class Blame:
    """Faults by the group of files they are in. True when there is any."""

    def __init__(self, candidate: Candidate) -> None:
        self.findings: list[Diagnostic] = []
        self._by_file = {source.path: group.name for group in candidate.groups for source in group.sources}
        self._by_file |= {group.name: group.name for group in candidate.groups}
        self._contents = {group.name: content_digest(group) for group in candidate.groups}
        self._groups: dict[str, list[str]] = {}
        self._packs: dict[tuple[str, str], list[str]] = {}
        self._all: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._groups or self._packs or self._all)

    def add(self, found: Iterable[Diagnostic]) -> None:
        """Note findings; only errors are faults."""
        for one in Diagnostics(found).sorted():
            self.findings.append(one)
            if one.severity is not Severity.ERROR:
                continue
            group = self._by_file.get(one.file)
            if group is None:
                self._all.append(_worded(one))
            else:
                self._groups.setdefault(self._contents[group], []).append(_worded(one))

    def pack(self, kind: str, name: str, text: str) -> None:
        """Note a fault of a pack that was linked."""
        self._packs.setdefault((kind, name), []).append(text)

    def all(self, text: str) -> None:
        """Note a fault of the delivery as a whole."""
        self._all.append(text)

    def of(self, record: PackRecord) -> str:
        """What is wrong with a pack, in one line; empty when nothing is."""
        found = self._groups.get(record.content, []) + self._packs.get((record.kind, record.name), [])
        return _first(found)

    def message(self, refused: Sequence[str]) -> str:
        """Why the delivery is refused, in one line. Shape: `refused` are the packs with faults of their own."""
        if refused:
            about = ", ".join(refused)
            return f"{about} {'was' if len(refused) == 1 else 'were'} refused"
        return _first(self._all + [text for texts in self._groups.values() for text in texts])


def records(
    candidate: Candidate, linked: Linked | None, *, known: Mapping[str, PackRecord] | None = None
) -> tuple[PackRecord, ...]:
    """The packs of a delivery, sorted by kind and name; files that do not say which pack they are go by their folder.

    Shape: `known` are records by id: what lies where one of them lay is that pack, even when it cannot be read. Files of
    which neither they themselves nor their folder say what they are have no record.
    """
    program = None if linked is None else linked.program
    digests = {} if program is None else {(pack.kind, pack.name): pack.digest for pack in program.packs}
    heads = {} if linked is None else {p.place.source.path: (p.kind, p.name, p.version) for p in linked.packs}
    made: dict[str, PackRecord] = {}
    for group in candidate.groups:
        content = content_digest(group)
        head = heads.get(group.sources[0].path) or _head(group) or _by_folder(group.name, known or {})
        if head is not None:
            kind, name, version = head
            digest = digests.get((kind, name), content)
            source = candidate.source(group, f"{kind.lower()}-{name}")
            record = PackRecord(kind, name, version, digest, source, content, group.name)
            made.setdefault(record.id, record)
    return tuple(sorted(made.values(), key=lambda one: (one.kind, one.name)))


def _head(group: PackFiles) -> tuple[str, str, str] | None:
    for pack in gather([PackFiles(group.name, group.sources[:1], group.directory)], Diagnostics()):
        if pack.kind in KINDS and pack.name:
            return pack.kind, pack.name, pack.version
    return None


def _by_folder(path: str, known: Mapping[str, PackRecord]) -> tuple[str, str, str] | None:
    for record in known.values():
        if record.folder == path:
            return record.kind, record.name, record.version
    folder, _, name = path.removesuffix(".yaml").rpartition("/")
    kind = _FOLDERS.get(folder.rpartition("/")[2])
    return (kind, name, "") if kind is not None else None


def _worded(one: Diagnostic) -> str:
    where = str(one.place) if one.place else one.path
    text = f"{one.code} {where}: {one.message}" if where else f"{one.code}: {one.message}"
    return f"{text}; {one.help}" if one.help else text


def _first(found: Sequence[str]) -> str:
    if not found:
        return ""
    return found[0] if len(found) == 1 else f"{found[0]} (and {len(found) - 1} more)"
