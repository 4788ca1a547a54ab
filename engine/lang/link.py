"""Linking: packs put beside each other, checked against the catalogue and compiled into a Program.

Finds what only the whole set can tell (two packs that define one section, constants that nobody gives) and builds each
pack with the constants it sees. Reads no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.lang import ir
from engine.lang.check import Scope
from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.packs import Pack, PackFiles, gather
from engine.lang.program import LinkedPack, Program
from engine.lang.section import Catalogue, Owner
from engine.lang.sectionbuild import Expressions, SectionBuilder, build_lets
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, plain
from engine.lang.types import ANY, STR, Member, Type, map_of, object_of, parse_type, type_of

SHARED_BLOCKS: Final = ("constants", "tiers", "settings")
"""Blocks that one derivation gives and every pack sees."""

_SETTING_TYPES: Final = {"boolean": "bool", "integer": "int", "string": "str"}
_LINKED_KINDS: Final = (Owner.MANUFACTURER, Owner.DERIVATION)


@dataclass(slots=True)
class Linked:
    """What linking came to: a program, unless there were errors."""

    program: Program | None
    diagnostics: Diagnostics
    packs: list[Pack] = field(default_factory=list)
    expressions: list[Expressions] = field(default_factory=list)


def link(files: Iterable[PackFiles], catalogue: Catalogue, *, context: Iterable[PackFiles] = ()) -> Linked:
    """Link packs. `context` are packs that these are written against (the shipped derivations, when one maker's pack is
    checked alone): a pack of the same kind and name replaces one of the context, whose own findings are not reported.
    """
    diagnostics = Diagnostics()
    packs = gather(files, diagnostics)
    mine = {(pack.kind, pack.name) for pack in packs}
    given_sections = {name for pack in packs if pack.kind == Owner.DERIVATION for name in _section_names(pack)}
    quiet = Diagnostics()
    for pack in gather(context, quiet):
        replaced = pack.kind == Owner.DERIVATION and given_sections & set(_section_names(pack))
        if (pack.kind, pack.name) not in mine and not replaced:
            packs.append(pack)
    linker = _Linker(packs, catalogue, diagnostics)
    linked = linker.run(mine)
    program = None if diagnostics.has_errors else Program(linked, vocabulary=catalogue.vocabulary)
    return Linked(program, diagnostics, packs, linker.expressions)


class _Linker:
    def __init__(self, packs: list[Pack], catalogue: Catalogue, diagnostics: Diagnostics) -> None:
        self.packs = packs
        self.catalogue = catalogue
        self.diagnostics = diagnostics
        self.expressions: list[Expressions] = []
        self._homes: dict[str, tuple[Pack, Entry]] = {}

    def run(self, mine: set[tuple[str, str]]) -> list[LinkedPack]:
        shared = self._shared_blocks()
        made: list[LinkedPack] = []
        for pack in sorted(self.packs, key=lambda p: (p.kind, p.name)):
            if pack.kind not in _LINKED_KINDS:
                continue
            reporting = self.diagnostics if (pack.kind, pack.name) in mine else Diagnostics()
            linked = _PackBuilder(pack, self.catalogue, shared, reporting, self._homes).build()
            if reporting is not self.diagnostics and reporting.has_errors:
                self._context_is_broken(pack, reporting)
            if linked is not None:
                made.append(linked.pack)
                if (pack.kind, pack.name) in mine:
                    self.expressions.extend(linked.expressions)
        return made

    def _context_is_broken(self, pack: Pack, found: Diagnostics) -> None:
        first = next(one for one in found.sorted() if one.severity == "error")
        self.diagnostics.error(
            "RP601",
            f"{pack.kind} {pack.name}, which these packs are linked with, no longer fits: {first.message}",
            first.place,
            help="give a whole set of packs with --rules, or put back what it needs",
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


@dataclass(slots=True)
class _Built:
    pack: LinkedPack
    expressions: list[Expressions]


class _PackBuilder:
    def __init__(
        self,
        pack: Pack,
        catalogue: Catalogue,
        shared: Mapping[str, Any],
        diagnostics: Diagnostics,
        homes: dict[str, tuple[Pack, Entry]],
    ) -> None:
        self.pack = pack
        self.catalogue = catalogue
        self.diagnostics = diagnostics
        self.homes = homes
        self.blocks = {
            name: plain(entry.value) for name, entry in pack.spec.items() if name not in ("sections", "derived")
        }
        if "constants" in self.blocks:
            self.blocks["constants"] = shared["constants"]
        self.constants = self._constants(shared)
        sections = pack.spec.get("sections")
        plain_sections = plain(sections.value) if sections is not None else {}
        self.named = dict(catalogue.named_types({**self.blocks, "sections": plain_sections}))
        self.settings = _settings_type(shared.get("settings"))
        self.expressions: list[Expressions] = []

    def build(self) -> _Built | None:
        roots = Scope(constants={name: _constant_type(name, value) for name, value in self.constants.items()})
        derived = self._derived(roots)
        sections: dict[str, ir.CompiledSection] = {}
        ids: dict[str, Place] = {}
        entry = self.pack.spec.get("sections")
        for section_entry in entry.value.entries if entry is not None and isinstance(entry.value, Map) else ():
            made = self._section(section_entry, roots, ids)
            if made is not None:
                sections[made.name] = made
        return _Built(
            LinkedPack(
                kind=self.pack.kind,
                name=self.pack.name,
                version=self.pack.version,
                sections=sections,
                blocks=self.blocks,
                derived=derived,
                tests=tuple({"place": node_place(node), **plain(node)} for node in self.pack.tests),
                bases={name: plain(base.value) for name, base in self.pack.bases.items()},
            ),
            self.expressions,
        )

    def _constants(self, shared: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {"const": shared.get("constants", {}), "tiers": shared.get("tiers", {})}
        params = self.blocks.get("params")
        made["params"] = {n: p.get("default") for n, p in params.items()} if isinstance(params, dict) else {}
        tables = self.blocks.get("tables")
        made["tables"] = tables if isinstance(tables, dict) else {}
        if self.pack.kind == Owner.MANUFACTURER:
            identity = self.blocks.get("identity")
            made["identity"] = identity if isinstance(identity, dict) else {}
        return made

    def _derived(self, roots: Scope) -> dict[str, tuple[ir.Let, ...]]:
        entry = self.pack.spec.get("derived")
        made: dict[str, tuple[ir.Let, ...]] = {}
        for scope_name, name in (("card", "derivedCard"), ("alloc", "derivedAlloc")):
            notation = self.catalogue.derived.get(scope_name)
            self.named.setdefault(name, object_of({}))
            node = entry.value.get(scope_name) if entry is not None and isinstance(entry.value, Map) else None
            if node is None or notation is None:
                continue
            inputs = parse_type("{" + notation + "}", self.named)
            scope = roots.child({n: m.type for n, m in inputs.members})
            expressions = Expressions(self.diagnostics, self.constants)
            lets, kind = build_lets(node, scope, expressions, self.diagnostics)
            self.expressions.append(expressions)
            made[scope_name] = lets
            self.named[name] = kind
        return made

    def _section(self, entry: Entry, roots: Scope, ids: dict[str, Place]) -> ir.CompiledSection | None:
        name = entry.key.text
        declared = self.catalogue.section(name)
        if declared is None or declared.owner != self.pack.kind:
            known = sorted(n for n, s in self.catalogue.sections.items() if s.owner == self.pack.kind)
            meant = nearest(name, known)
            where = f"; it belongs in a {declared.owner} pack" if declared is not None else ""
            self.diagnostics.error(
                "RP201",
                f"unknown section `{name}`{where}",
                entry.key.place,
                help=f"did you mean `{meant}`?" if meant else f"sections of a {self.pack.kind}: {', '.join(known)}",
            )
            return None
        if declared.owner is Owner.DERIVATION:
            first = self.homes.setdefault(name, (self.pack, entry))
            if first[1] is not entry:
                self.diagnostics.error(
                    "RP601",
                    f"section `{name}` is defined by {first[0].name} and by {self.pack.name}",
                    entry.key.place,
                    help="one derivation defines a section; change rules with an Overlay",
                    related=(Related("the other one", first[1].key.place),),
                )
                return None
        builder = SectionBuilder(declared, self.named, roots, self.constants, self.diagnostics, ids, self.settings)
        made = builder.build(entry.value)
        self.expressions.append(builder.expressions)
        return made


def _section_names(pack: Pack) -> list[str]:
    entry = pack.spec.get("sections")
    return [e.key.text for e in entry.value.entries] if entry is not None and isinstance(entry.value, Map) else []


def node_place(node: Node) -> Place:
    """Where a node stands."""
    return node.place if isinstance(node, Scalar | Map) else Place(node.source, node.span)


def setting_name(dashed: str) -> str:
    """How expressions spell a setting: `instance-type-mixed-on-node` is `instanceTypeMixedOnNode`."""
    first, *rest = dashed.split("-")
    return first + "".join(word.capitalize() for word in rest)


def _settings_type(block: Any) -> Type | None:
    if not isinstance(block, list):
        return None
    members: dict[str, Type] = {}
    for setting in block:
        if isinstance(setting, dict) and isinstance(setting.get("name"), str):
            notation = _SETTING_TYPES.get(str(setting.get("type")), "str")
            members[setting_name(setting["name"])] = parse_type(notation)
    return object_of(members)


def _constant_type(root: str, value: Any) -> Type:
    """The type of a constant root. A table of one kind of value is a map: any key may be looked up in it."""
    if root == "tables" and isinstance(value, Mapping):
        return object_of({name: Member(_table_type(table)) for name, table in value.items()})
    if root == "tiers" and isinstance(value, Mapping):
        return _table_type(value)
    return type_of(value)


def _table_type(table: Any) -> Type:
    if not isinstance(table, Mapping):
        return type_of(table)
    made = type_of(list(table.values())) if table else None
    element = made.element if made is not None and made.element is not None else ANY
    return map_of(element if element is not ANY else (STR if not table else ANY))
