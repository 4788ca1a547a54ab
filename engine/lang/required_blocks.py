"""What has to be in the blocks of a pack that several files may put together: who a maker is, and all constants.

Looks at a whole pack, after overlays and overrides; the shape of what is there was checked when each file was read.
"""

from __future__ import annotations

from typing import Final

from engine.lang.diagnostics import Diagnostics, nearest
from engine.lang.packs import Pack
from engine.lang.section import Catalogue, Owner
from engine.lang.tree import Map, Scalar

_IDENTITY: Final = (
    'identity: {manufacturer: NAME, pci: [{vendor: "10ab", classPrefixes: ["03"]}], resource: example.com/gpu}'
)


def check_identity(pack: Pack, diagnostics: Diagnostics) -> None:
    """A maker's pack says who the maker is: without it no card of a node is one of its."""
    if pack.kind == Owner.MANUFACTURER and "identity" not in pack.spec:
        diagnostics.error(
            "RP202",
            f"no file of {pack.kind} {pack.name} gives `spec.identity`",
            pack.place,
            help=f"add `{_IDENTITY.replace('NAME', pack.name)}` with the maker's own ids to its pack.yaml",
        )


def check_constants(pack: Pack, catalogue: Catalogue, diagnostics: Diagnostics) -> None:
    """The constants are those that code reads back by, all of them and no others."""
    block, wanted = pack.spec.get("constants"), catalogue.constant_names
    if block is None or not wanted or not isinstance(block.value, Map):
        return
    given = {entry.key.text: entry for entry in block.value.entries}
    missing = [name for name in wanted if name not in given]
    for name, entry in given.items():
        if name in wanted:
            if not (isinstance(entry.value, Scalar) and isinstance(entry.value.value, str)):
                diagnostics.error("RP111", f"the constant `{name}` is no text", entry.key.place, help="quote its value")
            continue
        meant = nearest(name, missing) or nearest(name, wanted)
        if meant in missing:
            missing.remove(meant)
        diagnostics.error(
            "RP201",
            f"unknown constant `{name}`",
            entry.key.place,
            help=f"did you mean `{meant}`?"
            if meant
            else "constants are a closed list: a value of a pack's own is a table",
        )
    for name in missing:
        diagnostics.error(
            "RP202",
            f"the constant `{name}` is missing",
            block.key.place,
            help="code reads labels back by it: take its value from the constants this Engine is shipped with",
        )
