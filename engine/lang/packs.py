"""Packs as they are written: YAML documents read, checked for structure and put together by kind and name.

A pack is one document, or the documents of one directory: same kind and name, every `spec` key in one of them, except
`tests` and `bases`, which add up. What is in a pack's expressions is not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from engine.lang.diagnostics import Diagnostics, Related
from engine.lang.model import PackDocument, load_pack_document
from engine.lang.reader import read
from engine.lang.source import Place, Source
from engine.lang.tree import Entry, Map, Node, Scalar, Seq

_ADDS_UP = ("tests", "bases")


class PackFiles(Struct, frozen=True):
    """The files of one pack. `directory` says that they belong together whatever they say of themselves."""

    name: str
    sources: tuple[Source, ...]
    directory: bool = False


class Pack(Struct):
    """One pack, put together.

    Shape: `spec` holds the tree under each `spec` key but `tests` and `bases`; `tests` the trees of all test lists in file
    order; `bases` the entries of all base maps; `origins` who else gave values, by the path of the source they stand in.
    """

    kind: str
    name: str
    version: str
    place: Place
    spec: dict[str, Entry] = {}
    tests: list[Node] = []
    bases: dict[str, Entry] = {}
    origins: dict[str, str] = {}

    def copy(self) -> Pack:
        """A pack that can be changed without changing this one; trees are shared, since they never change."""
        return replace(self, spec=dict(self.spec), origins=dict(self.origins))

    @property
    def files(self) -> frozenset[str]:
        """The paths of the sources its spec stands in."""
        return frozenset({self.place.source.path, *(entry.key.source.path for entry in self.spec.values())})

    @property
    def root(self) -> Map:
        """The whole spec as one tree, without tests and bases."""
        return Map(tuple(self.spec.values()), self.place.span, self.place.source)


def gather(files: Iterable[PackFiles], diagnostics: Diagnostics) -> list[Pack]:
    """All packs of some files. What is wrong is reported; a document that cannot be used is left out."""
    packs: dict[tuple[str, str], Pack] = {}
    homes: dict[tuple[str, str], str] = {}
    for group in files:
        for source in group.sources:
            documents, found = read(source)
            diagnostics.extend(found)
            for document in documents:
                loaded = load_pack_document(document, diagnostics)
                if loaded is not None:
                    _put(loaded, group, packs, homes, diagnostics)
    for pack in packs.values():
        if not pack.version:
            diagnostics.error(
                "RP202",
                f"no file of {pack.kind} {pack.name} gives `metadata.version`",
                pack.place,
                help='add `version: "1.0.0"` to the metadata of its pack.yaml',
            )
    return list(packs.values())


def _put(
    loaded: PackDocument,
    group: PackFiles,
    packs: dict[tuple[str, str], Pack],
    homes: dict[tuple[str, str], str],
    diagnostics: Diagnostics,
) -> None:
    root = loaded.root
    kind, name = _text(root, "kind"), _text(root, "metadata", "name")
    place = _name_place(root)
    key = (kind, name)
    if group.directory:
        other = next((k for k, home in homes.items() if home == group.name and k != key), None)
        if other is not None:
            diagnostics.error(
                "RP601",
                f"the folder holds {other[0]} {other[1]} and {kind} {name}",
                place,
                help="a folder with a pack.yaml is one pack: same kind and name in every file",
                related=(Related("the other one", packs[other].place),),
            )
            return
    known = packs.get(key)
    if known is not None and (homes[key] != group.name or not group.directory):
        diagnostics.error(
            "RP601",
            f"two packs are {kind} {name}",
            place,
            help="rename one, or change it with an Overlay",
            related=(Related("the other one", known.place),),
        )
        return
    if known is None:
        known = packs[key] = Pack(kind, name, "", place)
        homes[key] = group.name
    version = _text(root, "metadata", "version")
    if version:
        known.version = known.version or version
    spec = root.get("spec")
    for entry in spec.entries if isinstance(spec, Map) else ():
        _put_entry(known, entry, diagnostics)


def _put_entry(pack: Pack, entry: Entry, diagnostics: Diagnostics) -> None:
    name, value = entry.key.text, entry.value
    if name == "tests" and isinstance(value, Seq):
        pack.tests.extend(value.items)
    elif name == "bases" and isinstance(value, Map):
        for base in value.entries:
            _once(pack.bases, base, f"the base `{base.key.text}`", diagnostics)
    elif name not in _ADDS_UP:
        _once(pack.spec, entry, f"`spec.{name}`", diagnostics)


def _once(into: dict[str, Entry], entry: Entry, what: str, diagnostics: Diagnostics) -> None:
    first = into.setdefault(entry.key.text, entry)
    if first is not entry:
        diagnostics.error(
            "RP601",
            f"{what} stands in two files of the pack",
            entry.key.place,
            help="keep it in one file; only tests and bases add up",
            related=(Related("the other one", first.key.place),),
        )


def _text(root: Map, *path: str) -> str:
    node = root.path(path)
    return node.text if isinstance(node, Scalar) and isinstance(node.value, str) else ""


def _name_place(root: Map) -> Place:
    node = root.path(("metadata", "name"))
    return node.place if isinstance(node, Scalar) else root.place
