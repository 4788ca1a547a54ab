"""Overlays: one site's changes to packs, applied to their trees in the order of layers.

Every value keeps the place it was written in, so that a later finding points into the overlay. Says which changes are
allowed; whether what comes out fits the catalogue is for linking to find.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.lang.diagnostics import Diagnostic, Diagnostics, Related, nearest
from engine.lang.library import covers
from engine.lang.overlay_apply import Applier
from engine.lang.overlay_changes import Change, changes_of
from engine.lang.packs import Pack
from engine.lang.source import Place
from engine.lang.tree import Scalar

OVERLAY: Final = "Overlay"
LAYERS: Final = ("distro", "site", "emergency")
"""From the first applied to the last: a later one has the last word."""


class Overlay(Struct, frozen=True):
    """One overlay and the pack it changes."""

    name: str
    layer: str
    target: Pack
    changes: tuple[Change, ...]
    place: Place
    files: frozenset[str]

    @property
    def label(self) -> str:
        """How the origin of its values is called."""
        return f"overlay {self.name} ({self.layer})"


def apply_overlays(packs: list[Pack], overlays: Iterable[Pack], diagnostics: Diagnostics) -> list[Overlay]:
    """Change packs, in place in the list: a changed pack is a new one. The overlays that were applied, in order.

    Shape: an overlay of another version is reported and left out whole.
    """
    read = [made for one in overlays if (made := read_overlay(one, packs, diagnostics)) is not None]
    read.sort(key=lambda one: (LAYERS.index(one.layer), one.name))
    _report_conflicts(read, diagnostics)
    changed: dict[int, Applier] = {}
    for overlay in read:
        at = next(number for number, pack in enumerate(packs) if pack is overlay.target)
        applier = changed.setdefault(at, Applier(overlay.target.copy(), diagnostics))
        applier.apply(overlay.changes, overlay.label)
        applier.pack.origins.update(dict.fromkeys(overlay.files, overlay.label))
    for at, applier in changed.items():
        target, found = packs[at], Diagnostics()
        packs[at] = applier.finish(found)
        diagnostics.extend(with_overlays(found, [one for one in read if one.target is target]))
    return read


def with_overlays(found: Iterable[Diagnostic], overlays: Iterable[Overlay]) -> Diagnostics:
    """Findings in a changed pack: those outside the overlays' own text name the overlays too, which may be the cause."""
    all_over = list(overlays)
    over = tuple(Related(f"{one.label} is put over it", one.place) for one in all_over)
    paths = {path for one in all_over for path in one.files}
    return Diagnostics(one if one.file in paths else replace(one, related=(*one.related, *over)) for one in found)


def read_overlay(overlay: Pack, packs: Iterable[Pack], diagnostics: Diagnostics) -> Overlay | None:
    """An overlay with its target; None, and an error, when the target is not there or of another version."""
    root = overlay.root
    name, kind, layer = root.path(("target", "pack")), root.path(("target", "kind")), root.get("layer")
    assert isinstance(name, Scalar)  # the model requires it
    target = _target(name, kind, [pack for pack in packs if pack.kind != OVERLAY], diagnostics)
    if target is None or not covers(root.path(("target", "version")), target, diagnostics):
        return None
    return Overlay(
        overlay.name,
        layer.text if isinstance(layer, Scalar) else "site",
        target,
        changes_of(overlay, diagnostics),
        overlay.place,
        overlay.files,
    )


def _target(name: Scalar, kind: object, packs: list[Pack], diagnostics: Diagnostics) -> Pack | None:
    wanted = kind.text if isinstance(kind, Scalar) else ""
    fitting = [pack for pack in packs if pack.name == name.text and wanted in ("", pack.kind)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        diagnostics.error(
            "RP610",
            f"{' and '.join(f'{pack.kind} {pack.name}' for pack in fitting)} are both there",
            name.place,
            help=f"say which: `kind: {fitting[0].kind}`",
            related=tuple(Related(f"the {pack.kind}", pack.place) for pack in fitting),
        )
        return None
    same_kind = [pack for pack in packs if wanted in ("", pack.kind)]
    meant = nearest(name.text, {pack.name for pack in same_kind})
    close = [pack for pack in packs if pack.name in (name.text, meant)]
    diagnostics.error(
        "RP610",
        f"there is no {wanted or 'pack'} {name.text} to change",
        name.place,
        help=f"did you mean `{meant}`?" if meant else "name a pack that is linked beside the overlay",
        related=tuple(Related(f"{pack.kind} {pack.name}", pack.place) for pack in close[:1]),
    )
    return None


def _report_conflicts(overlays: list[Overlay], diagnostics: Diagnostics) -> None:
    """Two changes of one layer to one place, or to a place and one inside it."""
    all_changes = [(overlay, change) for overlay in overlays for change in overlay.changes]
    for (first, one), (second, other) in combinations(all_changes, 2):
        if first.layer != second.layer or first.target is not second.target or not one.meets(other):
            continue
        whose = f"overlay {first.name}" if first is not second else "the same overlay"
        diagnostics.error(
            "RP612",
            f"overlay {second.name} changes {other.shown}, which {whose} changes too, on the same layer ({first.layer})",
            other.key.place,
            help="keep one of them, or move one to another layer: emergency goes over site, site over distro",
            related=(Related(f"changed by {whose}", one.key.place),),
        )
