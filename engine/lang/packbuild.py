"""One pack compiled: its constants, its derived values, its sections with the rules of its libraries in them.

Sees one pack, the libraries it uses and what all packs share; what only the whole set can tell is `link`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from engine.errors import InputError
from engine.lang import ir
from engine.lang.check import Scope
from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.expressions import Expressions
from engine.lang.kept_sections import KeptSection, KeptSections, KeptTests
from engine.lang.library import Used, mentioned, merged_tables
from engine.lang.notation import parse_type
from engine.lang.packs import Pack
from engine.lang.params import defaults, params_of, unfit
from engine.lang.program import LinkedPack
from engine.lang.readset import read_paths
from engine.lang.section import Catalogue, Combine, Owner, Section
from engine.lang.sectionbuild import SectionBuilder, build_lets
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Scalar, Seq, Style, plain
from engine.lang.types import ANY, STR, Member, Type, map_of, object_of, type_of

_SETTING_TYPES: Final = {"boolean": "bool", "integer": "int", "string": "str"}
_NOT_COMPILED: Final = ("sections", "derived", "use", "open")
"""Keys of a spec that are no blocks: compiled, or spent once the pack is linked."""
_NO_PARAMS: Final[Mapping[str, Any]] = MappingProxyType({})


class BuiltPack(Struct, frozen=True):
    """A compiled pack, its expressions for the oracle, and its sections for packs that differ little from it."""

    pack: LinkedPack
    expressions: list[Expressions]
    kept: KeptSections


class PackBuilder:
    """Builds one pack.

    Shape: `homes` says who defined which derivation section; `shared` are the blocks every pack sees; `params` are values
    that some of its parameters have instead of their defaults; `before` are the sections of a pack that this one was
    made from: where nothing they see has changed they are taken over.
    """

    def __init__(
        self,
        pack: Pack,
        used: tuple[Used, ...],
        catalogue: Catalogue,
        shared: Mapping[str, Any],
        diagnostics: Diagnostics,
        homes: dict[str, tuple[Pack, Entry]],
        params: Mapping[str, Any] = _NO_PARAMS,
        before: KeptSections | None = None,
    ) -> None:
        self.pack = pack
        self.used = used
        self.catalogue = catalogue
        self.shared = shared
        self.params = params
        self.diagnostics = diagnostics
        self.homes = homes
        self.blocks = {name: plain(entry.value) for name, entry in pack.spec.items() if name not in _NOT_COMPILED}
        if "constants" in self.blocks:
            self.blocks["constants"] = shared["constants"]
        self.constants = self._constants(shared)
        self.named = dict(catalogue.named_types({**self.blocks, "sections": self._plain_sections()}))
        self.settings = _settings_type(shared.get("settings"))
        self.expressions: list[Expressions] = []
        self.ids: dict[str, Place] = {}
        self.before = before
        tests = KeptTests.of(pack, None if before is None else before.tests)
        self.kept = KeptSections(tests, self.used, self.constants, self.named, self.settings)

    def build(self) -> BuiltPack:
        """The compiled pack; sections with errors are left out of it."""
        roots = _roots(self.constants)
        derived = self._derived(roots)
        sections: dict[str, ir.CompiledSection] = {}
        for entry in self._sections():
            made = self._known(entry) or self._section(entry, roots)
            if made is not None:
                sections[made.name] = made
        return BuiltPack(
            LinkedPack(
                kind=self.pack.kind,
                name=self.pack.name,
                version=self.pack.version,
                sections=sections,
                blocks=self.blocks,
                derived=derived,
                tests=self.kept.tests.tests,
                bases=self.kept.tests.bases,
                variant=self._variant,
            ),
            self.expressions,
            self.kept,
        )

    def _variant(self, params: Mapping[str, Any]) -> LinkedPack:
        """The pack with other values of some parameters. Raises InputError: a value that does not fit, or breaks a rule."""
        declared = params_of(self.pack.spec.get("params"))
        faults = [fault for name, value in params.items() if (fault := unfit(declared, name, value))]
        found = Diagnostics()
        if not faults:
            builder = PackBuilder(self.pack, self.used, self.catalogue, self.shared, found, {}, params, self.kept)
            made = builder.build().pack
            if not found.has_errors:
                return made
            faults = [f"{one.place}: {one.message}" for one in found.sorted() if one.severity == "error"]
        raise InputError(
            f"the pack cannot have these parameters: {faults[0]}", remedy="give other values under `params`"
        )

    def _sections(self) -> Iterator[Entry]:
        """The pack's own sections in the order written, then those that only its libraries have (with no value yet)."""
        own = _sections_of(self.pack)
        yield from own
        seen = {entry.key.text for entry in own}
        for one in self.used:
            for name, entry in one.rules.items():
                if name not in seen:
                    seen.add(name)
                    yield Entry(entry.key, Seq((), entry.key.span, entry.key.source))

    def _plain_sections(self) -> dict[str, Any]:
        """The rules of each section as plain data, libraries' included: what is claimed and called types the inputs."""
        made: dict[str, Any] = {}
        for entry in _sections_of(self.pack):
            value = plain(entry.value)
            made[entry.key.text] = value.get("rules") if isinstance(value, dict) else value
        for one in self.used:
            for name, entry in one.rules.items():
                rules = plain(entry.value)
                if isinstance(rules, list):
                    made[name] = [*(made.get(name) or ()), *rules]
        return made

    def _constants(self, shared: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {"const": shared.get("constants", {}), "tiers": shared.get("tiers", {})}
        made["params"] = {**defaults(params_of(self.pack.spec.get("params"))), **self.params}
        made["tables"] = merged_tables(self.pack, self.used, self.diagnostics)
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

    # sections

    def _known(self, entry: Entry) -> ir.CompiledSection | None:
        """A section of the pack that this one was made from, if it is the same here."""
        kept = None if self.before is None else self.before.find(entry, self.kept, self.ids)
        if kept is None:
            return None
        self.expressions.extend(kept.expressions)
        self.ids.update(kept.ids)
        self.kept.sections[entry.key.text] = kept
        return kept.compiled

    def _section(self, entry: Entry, roots: Scope) -> ir.CompiledSection | None:
        declared = self._declared(entry)
        if declared is None:
            return None
        found, seen, ids = len(self.diagnostics), len(self.expressions), set(self.ids)
        made = self._joined(entry, declared, roots)
        if made is not None and len(self.diagnostics) == found:
            mine = {name: place for name, place in self.ids.items() if name not in ids}
            self.kept.sections[declared.name] = KeptSection(entry, made, tuple(self.expressions[seen:]), mine)
        return made

    def _joined(self, entry: Entry, declared: Section, roots: Scope) -> ir.CompiledSection | None:
        imported, roots, reads = self._imported(entry, declared, roots)
        is_own = entry in _sections_of(self.pack)
        made = self._own(entry, declared, roots) if is_own else None
        joined = [self._of_library(one, declared, entry) for one in self.used if declared.name in one.rules]
        fitting = [section for section in joined if section is not None]
        if made is None and not is_own and fitting:
            made = replace(fitting[0], lets=(), rules=())
        if made is None:
            return None
        if declared.combine is Combine.FIRST:
            self._report_unreachable(made, declared)
        for section in fitting:
            rules = (ir.Group(section.rules, lets=section.lets),) if section.lets else section.rules
            made = replace(made, rules=(*made.rules, *rules))
            reads |= set(section.reads)
        return replace(made, lets=(*imported, *made.lets), reads=_shortest(reads | set(made.reads)))

    def _own(self, entry: Entry, declared: Section, roots: Scope) -> ir.CompiledSection | None:
        builder = SectionBuilder(declared, self.named, roots, self.constants, self.diagnostics, self.ids, self.settings)
        made = builder.build(entry.value)
        self.expressions.append(builder.expressions)
        return made

    def _declared(self, entry: Entry) -> Section | None:
        name = entry.key.text
        declared = self.catalogue.section(name)
        mine, use = self._home(entry)
        if declared is None or declared.owner != self.pack.kind:
            known = sorted(n for n, s in self.catalogue.sections.items() if s.owner == self.pack.kind)
            meant = nearest(name, known)
            where = f"; it belongs in a {declared.owner} pack" if declared is not None else ""
            self.diagnostics.error(
                "RP201",
                f"unknown section `{name}`{where}",
                entry.key.place,
                help=f"did you mean `{meant}`?" if meant else f"sections of a {self.pack.kind}: {', '.join(known)}",
                related=use,
            )
            return None
        if declared.owner is Owner.DERIVATION:
            first, home = self.homes.setdefault(name, (self.pack, entry))
            if first is not self.pack:
                self.diagnostics.error(
                    "RP601",
                    f"section `{name}` is defined by {first.name} and by {mine}",
                    entry.key.place,
                    help="one derivation defines a section; change rules with an Overlay",
                    related=(Related("the other one", home.key.place), *use),
                )
                return None
        return declared

    def _home(self, entry: Entry) -> tuple[str, tuple[Related, ...]]:
        """Who wrote a section, and the `use` that brought it when it was a library."""
        for one in self.used:
            written = one.rules.get(entry.key.text)
            if written is not None and written.key is entry.key:
                return f"library {one.name}", (self._used_by(one),)
        return self.pack.name, ()

    def _used_by(self, one: Used) -> Related:
        return Related(f"library {one.name} is used by {self.pack.name} here", one.place)

    def _imported(
        self, entry: Entry, declared: Section, roots: Scope
    ) -> tuple[list[ir.Let], Scope, set[tuple[str, ...]]]:
        """The lets of libraries that the section's own rules name: compiled, put in scope, with what they read."""
        made: list[ir.Let] = []
        reads: set[tuple[str, ...]] = set()
        inputs = self._inputs(declared)
        names: dict[str, Type] = {}
        for one in self.used:
            wanted = mentioned([let for let in one.lets if let.key.text in one.imported], [entry.value])
            if not wanted:
                continue
            lets = mentioned(one.lets, [let.key for let in wanted])
            clash = next((let for let in lets if let.key.text in names), None)
            if clash is not None:
                self.diagnostics.error(
                    "RP601",
                    f"two libraries give {self.pack.name} a let `{clash.key.text}`",
                    one.place,
                    help="take it from one of them only",
                    related=(Related("the let", clash.key.place),),
                )
                continue
            mine = Diagnostics()
            expressions = Expressions(mine, self._library_constants(one))
            scope = _roots(expressions.constants).child(inputs)
            block = Map(lets, one.place.span, one.place.source)
            compiled, types = build_lets(block, scope, expressions, mine)
            self._take(mine, one)
            self.expressions.append(expressions)
            made.extend(compiled)
            names.update({name: member.type for name, member in types.members})
            for let in compiled:
                reads |= read_paths(let.node, frozenset(inputs))
        return made, roots.child(names) if names else roots, reads

    def _of_library(self, one: Used, declared: Section, entry: Entry) -> ir.CompiledSection | None:
        """A library's rules of a section, compiled as a section of their own."""
        rules = one.rules[declared.name]
        parts = [Entry(_key("rules", rules.key), rules.value)]
        lets = mentioned(one.lets, [rules.value])
        if lets:
            parts.append(Entry(_key("let", rules.key), Map(lets, rules.key.span, rules.key.source)))
        if entry in _sections_of(self.pack):  # without patterns there: the pack has been told
            owns = entry.value.get("owns") if isinstance(entry.value, Map) else None
            parts.append(Entry(_key("owns", rules.key), owns or Seq((), rules.key.span, rules.key.source)))
        mine = Diagnostics()
        constants = self._library_constants(one)
        builder = SectionBuilder(declared, self.named, _roots(constants), constants, mine, self.ids, self.settings)
        made = builder.build(Map(tuple(parts), rules.key.span, rules.key.source))
        self.expressions.append(builder.expressions)
        self._take(mine, one)
        return made

    def _take(self, found: Diagnostics, one: Used) -> None:
        """Take over findings in a library, with the place that uses it."""
        for diagnostic in found:
            self.diagnostics.append(replace(diagnostic, related=(*diagnostic.related, self._used_by(one))))

    def _library_constants(self, one: Used) -> dict[str, Any]:
        return {**{name: self.constants[name] for name in self.constants if name != "params"}, **one.constants}

    def _inputs(self, declared: Section) -> dict[str, Type]:
        names = {name: member.type for name, member in declared.input_type(self.named).members}
        if declared.settings and self.settings is not None:
            names["settings"] = self.settings
        return names

    def _report_unreachable(self, made: ir.CompiledSection, declared: Section) -> None:
        sure = _certain(made.rules)
        if sure is None:
            return
        for one in self.used:
            if declared.name in one.rules:
                self.diagnostics.error(
                    "RP512",
                    f"rules of library {one.name} can never fire in {declared.name}: `{sure.id}` before them always does",
                    one.rules[declared.name].key.place,
                    help="libraries' rules come after a pack's own: give the pack's last rule a `when`",
                    related=(self._used_by(one),),
                )


def _certain(rules: Iterable[ir.Rule | ir.Group]) -> ir.Rule | None:
    """A rule that fires whatever the input is; None when there is none."""
    for rule in rules:
        if rule.when is not None or rule.for_each is not None:
            continue
        found = rule if isinstance(rule, ir.Rule) else _certain(rule.rules)
        if found is not None:
            return found
    return None


def _shortest(paths: set[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Paths, sorted, without those that lie under another."""
    return tuple(sorted(path for path in paths if not any(path[:n] in paths for n in range(1, len(path)))))


def _sections_of(pack: Pack) -> tuple[Entry, ...]:
    entry = pack.spec.get("sections")
    return entry.value.entries if entry is not None and isinstance(entry.value, Map) else ()


def _key(text: str, like: Scalar) -> Scalar:
    return Scalar(text, text, Style.PLAIN, like.span, like.source)


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


def _roots(constants: Mapping[str, Any]) -> Scope:
    return Scope(constants={name: _constant_type(name, value) for name, value in constants.items()})


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
