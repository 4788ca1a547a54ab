"""Libraries: what a pack's `use` comes to: parameters checked and filled in, rules under their prefixed ids, lets, tables.

A library sees its own parameters as `with`, its own tables and lets, and the inputs of the section its rules join. Compiles
nothing: that is `packbuild`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from engine.errors import InputError
from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.packs import Pack
from engine.lang.params import known, params_of
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, Seq, plain
from engine.lang.tree_edit import leaf_rules, named, replaced
from engine.lang.version_range import parse_range

LIBRARY: Final = "Library"

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Used(Struct, frozen=True):
    """One library as one pack uses it.

    Shape: `place` is the library's name in `use`; `values` the parameters by name, the pack's or their defaults; `given`
    the names of those the pack gives; `lets` all lets of the library; `imported` the lets the pack takes for itself, with
    the place of each in `use`; `rules` the rules by section, ids prefixed.
    """

    library: Pack
    place: Place
    values: Mapping[str, Node]
    given: frozenset[str]
    lets: tuple[Entry, ...]
    imported: Mapping[str, Place]
    rules: Mapping[str, Entry]

    @property
    def name(self) -> str:
        """The library's name."""
        return self.library.name

    @property
    def constants(self) -> dict[str, Any]:
        """What `with` and `tables` are in the library's rules and lets."""
        tables = self.library.spec.get("tables")
        return {
            "with": {name: plain(node) for name, node in self.values.items()},
            "tables": {} if tables is None else plain(tables.value),
        }


def prefixed(library: str, rule_id: str) -> str:
    """The id of a library's rule in the packs that use it: `<library>-<id>`, once."""
    return rule_id if rule_id.startswith(f"{library}-") else f"{library}-{rule_id}"


def resolve(pack: Pack, libraries: Mapping[str, Pack], diagnostics: Diagnostics) -> tuple[Used, ...]:
    """The libraries a pack uses, in the order written. What is wrong is reported, and that library left out."""
    made: dict[str, Used] = {}
    for item, name in _uses(pack):
        if name.text in made:
            diagnostics.error(
                "RP601",
                f"library {name.text} is used twice",
                name.place,
                help="use it once; its rules cannot join a pack twice",
                related=(Related("the other one", made[name.text].place),),
            )
            continue
        library = _library(name, libraries, diagnostics)
        if library is not None and covers(item.get("version"), library, diagnostics):
            made[name.text] = _used(item, name, library, diagnostics)
    _required(pack, libraries, diagnostics)
    return tuple(made.values())


def covers(written: Node | None, pack: Pack, diagnostics: Diagnostics) -> bool:
    """Whether a pack's version is in the range somebody wrote; a mismatch names both places."""
    if not isinstance(written, Scalar) or not pack.version:
        return True
    fits = is_within(written, pack.version, diagnostics)
    if fits is False:
        diagnostics.error(
            "RP611",
            f"{pack.kind} {pack.name} is version {pack.version}, outside `{written.text}`",
            written.place,
            help="check against that version what is asked of it, and widen the range",
            related=(Related(f"{pack.name} {pack.version}", pack.place),),
        )
    return bool(fits)


def is_within(written: Scalar, version: str, diagnostics: Diagnostics) -> bool | None:
    """Whether a version is in the range somebody wrote; None, and an error, when that is no range."""
    try:
        return parse_range(written.text).covers(version)
    except InputError as error:
        diagnostics.error("RP204", error.what, written.place, help=error.remedy)
        return None


def merged_tables(pack: Pack, used: Iterable[Used], diagnostics: Diagnostics) -> dict[str, Any]:
    """The tables a pack sees: its own and those of its libraries, one of each name."""
    made: dict[str, Any] = {}
    homes: dict[str, Place] = {}
    blocks = [(pack.spec.get("tables"), "")]
    blocks += [(one.library.spec.get("tables"), f" of library {one.name}") for one in used]
    for block, whose in blocks:
        for entry in block.value.entries if block is not None and isinstance(block.value, Map) else ():
            name = entry.key.text
            if name in homes:
                diagnostics.error(
                    "RP601",
                    f"table `{name}`{whose} is also given by {pack.name}, or by another library it uses",
                    entry.key.place,
                    help="rename one of them",
                    related=(Related("the other one", homes[name]),),
                )
                continue
            made[name], homes[name] = plain(entry.value), entry.key.place
    return made


def mentioned(lets: Iterable[Entry], nodes: Iterable[Node]) -> tuple[Entry, ...]:
    """The lets that the texts of some nodes name, with those they hang on, in the order written."""
    by_name = {entry.key.text: entry for entry in lets}
    found: set[str] = set()
    queue = list(nodes)
    while queue:
        for word in words(queue.pop()):
            if word in by_name and word not in found:
                found.add(word)
                queue.append(by_name[word].value)
    return tuple(entry for name, entry in by_name.items() if name in found)


def warn_of_unused(
    libraries: Iterable[Pack], packs: Iterable[Pack], used: Iterable[Used], diagnostics: Diagnostics
) -> None:
    """Warn of libraries that no pack names in its `use`, and of lets of a library that nothing names."""
    asked = {name.text for pack in packs for _, name in _uses(pack)}
    uses: dict[str, list[Used]] = {}
    for one in used:
        uses.setdefault(one.name, []).append(one)
    for library in libraries:
        mine = uses.get(library.name, [])
        if library.name not in asked:
            diagnostics.warning(
                "RP503",
                f"library {library.name} is used by no pack",
                library.place,
                help=f"add `use: [{{library: {library.name}}}]` to a pack; its expressions are checked where it is used",
            )
        if not mine:
            continue
        named_lets = {entry.key.text for entry in mentioned(mine[0].lets, (e.value for e in mine[0].rules.values()))}
        named_lets |= {name for one in mine for name in one.imported}
        named_lets |= {
            e.key.text for e in mentioned(mine[0].lets, [e.value for e in mine[0].lets if e.key.text in named_lets])
        }
        for entry in mine[0].lets:
            if entry.key.text not in named_lets:
                diagnostics.warning(
                    "RP502", f"the let `{entry.key.text}` is named by nothing", entry.key.place, help="remove it"
                )


def _uses(pack: Pack) -> Iterator[tuple[Map, Scalar]]:
    """Each entry of a pack's `use`, and the library's name in it."""
    entry = pack.spec.get("use")
    for item in entry.value.items if entry is not None and isinstance(entry.value, Seq) else ():
        name = item.get("library") if isinstance(item, Map) else None
        if isinstance(item, Map) and isinstance(name, Scalar):
            yield item, name


def _library(name: Scalar, libraries: Mapping[str, Pack], diagnostics: Diagnostics) -> Pack | None:
    library = libraries.get(name.text)
    if library is None:
        meant = nearest(name.text, libraries)
        listed = f"known: {', '.join(sorted(libraries))}" if libraries else "no library is there"
        diagnostics.error(
            "RP610",
            f"there is no library {name.text}",
            name.place,
            help=f"did you mean `{meant}`?" if meant else listed,
            related=(Related("the nearest one", libraries[meant].place),) if meant else (),
        )
    return library


def _used(item: Map, name: Scalar, library: Pack, diagnostics: Diagnostics) -> Used:
    params = params_of(library.spec.get("params"))
    given = item.get("with")
    values = {param.name: param.default for param in params.values() if param.default is not None}
    written = given.entries if isinstance(given, Map) else ()
    for entry in written:
        if known(entry, params, f"library {library.name}", library.place, diagnostics):
            values[entry.key.text] = entry.value
    names = frozenset(entry.key.text for entry in written)
    for param in params.values():
        if param.default is None and param.name not in names:
            diagnostics.error(
                "RP202",
                f"library {library.name} needs the parameter `{param.name}`",
                name.place,
                help=f"add `with: {{{param.name}: …}}`",
                related=(Related("declared here, without a default", param.place),),
            )
    block = library.spec.get("let")
    lets = block.value.entries if block is not None and isinstance(block.value, Map) else ()
    imported = _imported(item.get("let"), lets, library, diagnostics)
    return Used(library, name.place, values, names, lets, imported, _rules(library))


def _imported(node: Node | None, lets: tuple[Entry, ...], library: Pack, diagnostics: Diagnostics) -> dict[str, Place]:
    names = [entry.key.text for entry in lets]
    made: dict[str, Place] = {}
    for item in node.items if isinstance(node, Seq) else ():
        if not isinstance(item, Scalar):
            continue
        if item.text in names:
            made[item.text] = item.place
            continue
        meant = nearest(item.text, names)
        diagnostics.error(
            "RP610",
            f"library {library.name} has no let `{item.text}`",
            item.place,
            help=f"did you mean `{meant}`?" if meant else f"it has {', '.join(names) or 'none'}",
            related=(Related(f"library {library.name}", library.place),),
        )
    return made


def _rules(library: Pack) -> dict[str, Entry]:
    block = library.spec.get("rules")
    made: dict[str, Entry] = {}
    for entry in block.value.entries if block is not None and isinstance(block.value, Map) else ():
        rules: Node = entry.value
        for steps, _, rule_id in leaf_rules(entry.value):
            rules = replaced(rules, (*steps, "id"), named(prefixed(library.name, rule_id.text), rule_id))
        made[entry.key.text] = Entry(entry.key, rules)
    return made


def _required(pack: Pack, libraries: Mapping[str, Pack], diagnostics: Diagnostics) -> None:
    block = pack.spec.get("requires")
    wanted = block.value.get("libraries") if block is not None and isinstance(block.value, Map) else None
    for entry in wanted.entries if isinstance(wanted, Map) else ():
        library = _library(entry.key, libraries, diagnostics)
        if library is not None:
            covers(entry.value, library, diagnostics)


def words(node: Node) -> set[str]:
    """Everything in a tree that may be a name."""
    if isinstance(node, Scalar):
        return set(_WORD.findall(node.text))
    parts: Iterable[Node]
    if isinstance(node, Map):
        parts = [part for entry in node.entries for part in (entry.key, entry.value)]
    else:
        parts = node.items
    return set().union(*(words(part) for part in parts))
