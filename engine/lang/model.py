"""A document of a file becomes a pack document: its kind recognised, its structure checked, its places kept.

What several documents make together is `link`'s business; expressions are not looked at.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.outline import API_VERSION, KINDS, fits
from engine.lang.reader import Document
from engine.lang.source import Place, Source
from engine.lang.tree import Entry, Map, Node, Scalar, Style, plain
from engine.lang.tree_paths import follow, key_place

if TYPE_CHECKING:
    from engine.lang.model_documents import PackModel


class PackDocument(Struct, frozen=True):
    """A document whose structure is right, and the tree it came from: every value of the model has a node there.

    Shape of a path: the keys as written and list positions (`"spec", "sections", "inject", "rules", 0, "when"`); the
    `rules` of a section written as a bare list may be named or left out.
    """

    kind: str
    name: str
    root: Map
    source: Source

    @property
    def model(self) -> PackModel:
        """The document as values. Cost: the models are loaded; linking needs the tree alone."""
        from engine.lang.model_documents import MODELS

        return MODELS[self.kind].model_validate(plain(self.root))

    def node(self, path: Sequence[Hashable]) -> Node:
        """The node at a path, or the deepest one on the way to it."""
        return follow(self.root, path)

    def scalar(self, path: Sequence[Hashable]) -> Scalar | None:
        """The scalar at a path; None when something else stands there."""
        node = follow(self.root, path)
        return node if isinstance(node, Scalar) else None

    def place(self, path: Sequence[Hashable]) -> Place:
        """The place of the value at a path."""
        return follow(self.root, path).place

    def key(self, path: Sequence[Hashable]) -> Place:
        """The place of the key at a path; of the value when it is a list item."""
        return key_place(self.root, path)


def load_pack_document(document: Document, diagnostics: Diagnostics) -> PackDocument | None:
    """The pack document in a document; None, and at least one error, when it is none.

    Shape: give the collector that `read` filled, so that a value it refused is not reported a second time.
    """
    root = document.root
    if not isinstance(root, Map):
        diagnostics.error(
            "RP203",
            f"a pack is a map, got a {'scalar' if isinstance(root, Scalar) else 'list'}",
            root.place,
            help=f"start with `apiVersion: {API_VERSION}` and `kind:`",
        )
        return None
    version = _header(root, "apiVersion", (API_VERSION,), diagnostics)
    kind = _header(root, "kind", KINDS, diagnostics)
    if version is None or kind is None:
        return None
    values = plain(root)
    if not fits(kind, values) and not _is_taken(kind, values, root, diagnostics):
        return None
    return PackDocument(kind, values["metadata"]["name"], root, document.source)


def check_spec(kind: str, name: str, spec: Map, diagnostics: Diagnostics) -> None:
    """Check the structure of a spec that was put together from several documents; faults are reported where they stand."""
    values = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": plain(spec)}
    if not fits(kind, values):
        key = Scalar("spec", "spec", Style.PLAIN, spec.span, spec.source)
        _is_taken(kind, values, Map((Entry(key, spec),), spec.span, spec.source), diagnostics)


def _is_taken(kind: str, values: Any, root: Map, diagnostics: Diagnostics) -> bool:
    """Whether the models take a document that does not fit; what is wrong with it is reported. They are loaded only here."""
    from pydantic import ValidationError

    from engine.lang.model_documents import MODELS
    from engine.lang.structure import report

    try:
        MODELS[kind].model_validate(values)
    except ValidationError as error:
        report(error, MODELS[kind], root, diagnostics)
        return False
    return True


def _header(root: Map, key: str, allowed: tuple[str, ...], diagnostics: Diagnostics) -> str | None:
    """The value of one of the two keys that say how to read the rest."""
    entry = root.entry(key)
    if entry is None:
        misspelt = next((other.key for other in root.entries if nearest(other.key.text, (key,))), None)
        if misspelt:
            diagnostics.error("RP201", f"unknown key `{misspelt.text}`; did you mean `{key}`?", misspelt.place)
        else:
            place = root.entries[0].key.place if root.entries else root.place
            diagnostics.error("RP202", f"the key `{key}` is missing", place, help=f"add `{key}: {allowed[0]}`")
        return None
    value = entry.value
    if isinstance(value, Scalar) and isinstance(value.value, str) and value.value in allowed:
        return value.value
    if diagnostics.covers(value.place):
        return None
    seen = value.text if isinstance(value, Scalar) else "no text"
    near = nearest(seen, allowed)
    advice = f"this engine reads {', '.join(allowed)}" + (f"; did you mean {near}?" if near else "")
    diagnostics.error("RP210", f"unsupported {key} `{seen}`", value.place, help=advice)
    return None
