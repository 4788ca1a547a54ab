"""Linking: packs put beside each other, overlaid, checked against the catalogue and compiled into a Program.

Finds what only the whole set can tell (two packs that define one section, constants that nobody gives, two makers that claim
one card) and puts together what several documents say of one pack. Reads no files and no environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from engine import VERSION
from engine.lang.diagnostics import Diagnostic, Diagnostics, Related
from engine.lang.expressions import Expressions
from engine.lang.identity_clashes import report_clashes
from engine.lang.kept_sections import KeptSections
from engine.lang.library import LIBRARY, Used, is_within, resolve, warn_of_unused
from engine.lang.overlay import OVERLAY, Overlay, apply_overlays, with_overlays
from engine.lang.overrides import apply_overrides
from engine.lang.packbuild import PackBuilder, setting_name
from engine.lang.packs import Pack, PackFiles, gather
from engine.lang.program import LinkedPack, Program
from engine.lang.required_blocks import check_constants, check_identity
from engine.lang.section import Catalogue, Owner
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Scalar, plain

__all__ = ["SHARED_BLOCKS", "Linked", "link", "setting_name"]

SHARED_BLOCKS: Final = ("constants", "tiers", "settings")
"""Blocks that one derivation gives and every pack sees."""

_LINKED_KINDS: Final = (Owner.MANUFACTURER, Owner.DERIVATION)
_NO_OVERRIDES: Final[Mapping[str, str]] = MappingProxyType({})

_Key = tuple[str, str]
_NOTHING_KEPT: Final[Mapping[_Key, KeptSections]] = MappingProxyType({})


@dataclass(slots=True)
class Linked:
    """What linking came to: a program, unless there were errors.

    Shape: `packs` with overlays and overrides in them, also those that did not compile; `used` the libraries of each, by
    kind and name.
    """

    program: Program | None
    diagnostics: Diagnostics
    packs: list[Pack] = field(default_factory=list)
    expressions: list[Expressions] = field(default_factory=list)
    used: dict[_Key, tuple[Used, ...]] = field(default_factory=dict)


def link(
    files: Iterable[PackFiles],
    catalogue: Catalogue,
    *,
    context: Iterable[PackFiles] = (),
    overlays: Sequence[PackFiles] = (),
    overrides: Mapping[str, str] = _NO_OVERRIDES,
    engine_version: str = VERSION,
) -> Linked:
    """Link packs. `context` are packs that these are written against (the shipped derivations, when one maker's pack is
    checked alone): a pack of the same kind and name replaces one of the context, whose own findings are not reported.

    Shape: `overlays` are applied, in layer order; an overlay among `files` is checked against its target and changes
    nothing. `overrides` are `GPUSTACK_…` variables by name: those about identities apply, after the overlays;
    `engine_version` is what `requires.engine` is held against.
    """
    diagnostics = Diagnostics()
    files = list(files)
    packs = gather(files, diagnostics)
    mine = {_key(pack) for pack in packs}
    _add_context(packs, _unread(context, files), mine)
    applied = _only_overlays(gather(overlays, diagnostics), diagnostics)
    given = list(packs)
    over = apply_overlays(packs, applied, diagnostics)
    mine |= {_key(one.target) for one in over}
    mine |= {_key(pack) for pack in apply_overrides(packs, overrides, diagnostics)}
    linker = _Linker(packs, mine, catalogue, diagnostics, over)
    linked = linker.run()
    _check_engine((pack for pack in packs if _key(pack) in mine), engine_version, diagnostics)
    _check_waiting(given, mine, applied, linker, diagnostics)
    program = None if diagnostics.has_errors else Program(linked, vocabulary=catalogue.vocabulary)
    return Linked(program, diagnostics, packs, linker.expressions, linker.used)


def _key(pack: Pack) -> _Key:
    return pack.kind, pack.name


def _unread(context: Iterable[PackFiles], files: Iterable[PackFiles]) -> list[PackFiles]:
    """The context without what is among the files too, wherever it lies: it was read once, and is not the context's any more."""
    read = {_bytes_of(group) for group in files}
    return [group for group in context if _bytes_of(group) not in read]


def _bytes_of(group: PackFiles) -> tuple[bool, tuple[bytes, ...]]:
    return group.directory, tuple(source.data for source in group.sources)


def _add_context(packs: list[Pack], context: Iterable[PackFiles], mine: set[_Key]) -> None:
    given = {name for pack in packs if pack.kind == Owner.DERIVATION for name in _section_names(pack)}
    packs.extend(
        pack
        for pack in gather(context, Diagnostics())
        if _key(pack) not in mine and not (pack.kind == Owner.DERIVATION and given.intersection(_section_names(pack)))
    )


def _only_overlays(packs: list[Pack], diagnostics: Diagnostics) -> list[Pack]:
    for pack in packs:
        if pack.kind != OVERLAY:
            diagnostics.error(
                "RP210",
                f"{pack.kind} {pack.name} is no Overlay, and only overlays are put over packs",
                pack.place,
                help="give it among the packs",
            )
    return [pack for pack in packs if pack.kind == OVERLAY]


def _check_engine(packs: Iterable[Pack], version: str, diagnostics: Diagnostics) -> None:
    """Report packs that need another version of Engine than the one that links them."""
    for pack in packs:
        requires = pack.spec.get("requires")
        wanted = requires.value.get("engine") if requires is not None and isinstance(requires.value, Map) else None
        if isinstance(wanted, Scalar) and is_within(wanted, version, diagnostics) is False:
            diagnostics.error(
                "RP614",
                f"{pack.kind} {pack.name} needs Engine `{wanted.text}`, and this is {version}",
                wanted.place,
                help="install such an Engine, or a version of the pack that was made for this one",
            )


def _check_waiting(
    packs: list[Pack], mine: set[_Key], applied: list[Pack], linked: _Linker, diagnostics: Diagnostics
) -> None:
    """Check each overlay that lies among the packs against its target, as if it were the only one."""
    paths = {path for pack in applied for path in pack.files}
    known = {(one.code, one.message, one.place) for one in diagnostics}
    for overlay in packs:
        if overlay.kind != OVERLAY or _key(overlay) not in mine or overlay.files & paths:
            continue
        trial = [pack for pack in packs if pack.kind != OVERLAY]
        found = Diagnostics()
        made = apply_overlays(trial, [overlay], found)
        if not found.has_errors:
            linker = _Linker(trial, {_key(pack) for pack in trial}, linked.catalogue, found, made, linked.kept)
            linker.run(only={_key(one.target) for one in made})
        # What is wrong with the pack without the overlay is reported already.
        diagnostics.extend(one for one in found if (one.code, one.message, one.place) not in known)


class _Linker:
    """Links packs that overlays and overrides are already in.

    Shape: `mine` are those whose findings are reported; `before` the sections of packs that some of these were made from.
    """

    def __init__(
        self,
        packs: list[Pack],
        mine: set[_Key],
        catalogue: Catalogue,
        diagnostics: Diagnostics,
        over: Iterable[Overlay],
        before: Mapping[_Key, KeptSections] = _NOTHING_KEPT,
    ) -> None:
        self.packs = packs
        self.catalogue = catalogue
        self.diagnostics = diagnostics
        self.expressions: list[Expressions] = []
        self.used: dict[_Key, tuple[Used, ...]] = {}
        self.kept: dict[_Key, KeptSections] = {}
        self._before = before
        self._mine = mine
        self._over = list(over)
        self._files = {path for pack in packs if _key(pack) in mine for path in pack.files}
        self._homes: dict[str, tuple[Pack, Entry]] = {}
        self._libraries = {pack.name: pack for pack in packs if pack.kind == LIBRARY}
        self._reported: set[tuple[str, str, Place | None]] = set()

    def run(self, only: set[_Key] | None = None) -> list[LinkedPack]:
        """The compiled packs, or only some of them."""
        shared = self._shared_blocks()
        chosen = [pack for pack in self.packs if pack.kind in _LINKED_KINDS and (only is None or _key(pack) in only)]
        made = [self._link(pack, shared) for pack in sorted(chosen, key=_key)]
        if only is None:
            report_clashes(self.packs, self.diagnostics)
            libraries = [pack for pack in self._libraries.values() if _key(pack) in self._mine]
            used = [one for mine in self.used.values() for one in mine]
            warn_of_unused(libraries, chosen, used, self.diagnostics)
        return made

    def _link(self, pack: Pack, shared: Mapping[str, Any]) -> LinkedPack:
        found = Diagnostics()
        check_identity(pack, found)
        check_constants(pack, self.catalogue, found)
        used = self.used[_key(pack)] = resolve(pack, self._libraries, found)
        before = self._before.get(_key(pack))
        built = PackBuilder(pack, used, self.catalogue, shared, found, self._homes, before=before).build()
        self.kept[_key(pack)] = built.kept
        found = with_overlays(found, [one for one in self._over if _key(one.target) == _key(pack)])
        if _key(pack) in self._mine:
            self.expressions.extend(built.expressions)
            self._report(found)
            return built.pack
        # What is wrong in a library of ours is ours to report, whoever uses it.
        ours = [one for one in found if one.file in self._files]
        self._report(ours)
        others = Diagnostics(one for one in found if one not in ours)
        if others.has_errors:
            self._context_is_broken(pack, others)
        return built.pack

    def _report(self, found: Iterable[Diagnostic]) -> None:
        """Report findings once: several packs may use the library they are in."""
        for one in found:
            what = (one.code, one.message, one.place)
            if what not in self._reported:
                self._reported.add(what)
                self.diagnostics.append(one)

    def _context_is_broken(self, pack: Pack, found: Diagnostics) -> None:
        first = next(one for one in found.sorted() if one.severity == "error")
        self.diagnostics.error(
            "RP601",
            f"{pack.kind} {pack.name}, which these packs are linked with, no longer fits: {first.message}",
            first.place,
            help="give a whole set of packs with --rules, or put back what it needs",
            related=first.related,
        )

    def _shared_blocks(self) -> dict[str, Any]:
        shared: dict[str, Any] = {}
        homes: dict[str, Place] = {}
        for pack in self.packs:
            for name in SHARED_BLOCKS:
                entry = pack.spec.get(name)
                if entry is None:
                    continue
                if name in shared:
                    self.diagnostics.error(
                        "RP601",
                        f"`{name}` is given by two derivations",
                        entry.key.place,
                        help="one derivation gives it; change values with an Overlay",
                        related=(Related("the other one", homes[name]),),
                    )
                    continue
                shared[name] = plain(entry.value)
                homes[name] = entry.key.place
        constants = shared.get("constants")
        if isinstance(constants, dict):
            shared["constants"] = {**constants, **self.catalogue.constants}
        return shared


def _section_names(pack: Pack) -> list[str]:
    entry = pack.spec.get("sections")
    return [e.key.text for e in entry.value.entries] if entry is not None and isinstance(entry.value, Map) else []
