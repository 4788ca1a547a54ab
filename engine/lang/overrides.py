"""Identity overrides: names an installation gives a maker, put over the `identity` of its pack before linking.

The caller reads the environment or a chart's values; here it is a mapping. Rules never see it: what they see is the pack's
identity, so an override is part of the program's digest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.packs import Pack
from engine.lang.section import Owner
from engine.lang.source import Source, Span
from engine.lang.tree import Entry, Map, Node, Scalar, Seq, Style
from engine.lang.tree_edit import put

VARIABLE: Final = re.compile(
    r"GPUSTACK_(?P<maker>[A-Z0-9_]+?)_"
    r"(?P<what>PCI_VENDOR_ID|ACCELERATABLE_RESOURCE_NAME|ACCELERATABLE_RUNTIME_NAME|PARTITION_KIND)"
)
"""The variables looked at; every other name in the mapping is somebody else's."""

LAYER: Final = "override"

_FIRST: Final = "GPUSTACK_"

_PCI: Final = re.compile(r"(?:(?P<kind>[0-9a-fA-F]{2,6})_)?(?P<vendor>[0-9a-fA-F]{4})")
_RESOURCE: Final = re.compile(r"(?P<text>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")
_RUNTIME: Final = re.compile(r"(?P<text>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)")
_KIND: Final = re.compile(r"(?P<text>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)")

_WANTED: Final = {
    "PCI_VENDOR_ID": (_PCI, "a vendor id such as 10ab, or a class and a vendor such as 0302_10ab"),
    "ACCELERATABLE_RESOURCE_NAME": (_RESOURCE, "a domain, `/` and a name, such as example.com/gpu"),
    "ACCELERATABLE_RUNTIME_NAME": (_RUNTIME, "the name of a RuntimeClass: lower-case words joined by `-` or `.`"),
    "PARTITION_KIND": (_KIND, "lower-case words and digits joined by `-`, starting with a letter"),
}


def variable_prefix(maker: str) -> str:
    """What a maker's variables begin with: `GPUSTACK_ACME_`."""
    return f"{_FIRST}{maker.upper().replace('-', '_')}_"


def apply_overrides(packs: list[Pack], overrides: Mapping[str, str], diagnostics: Diagnostics) -> list[Pack]:
    """Put overrides over the identities of packs, in place in the list. The changed packs.

    Shape: an empty value is no override (charts pass those); names in the mapping that are no identity's are left alone.
    """
    makers = {variable_prefix(pack.name): at for at, pack in enumerate(packs) if pack.kind == Owner.MANUFACTURER}
    changed: dict[int, Pack] = {}
    for name in sorted(overrides):
        found, value = VARIABLE.fullmatch(name), overrides[name].strip()
        if found is None or not value:
            continue
        prefix = f"{_FIRST}{found.group('maker')}_"
        if prefix not in makers:
            _report_no_maker(name, prefix, makers, diagnostics)
            continue
        at = makers[prefix]
        pack = changed.get(at) or packs[at].copy()
        if _override(pack, name, found.group("what"), value, diagnostics):
            changed[at] = packs[at] = pack
    return list(changed.values())


def _report_no_maker(name: str, prefix: str, makers: Mapping[str, int], diagnostics: Diagnostics) -> None:
    # Not an error: every agent gets the variables of all makers, and knows only its own.
    words = {known.removeprefix(_FIRST).removesuffix("_"): known for known in makers}
    meant = nearest(prefix.removeprefix(_FIRST).removesuffix("_"), words)
    diagnostics.warning(
        "RP610",
        f"{name} is about a maker that has no pack here",
        path=name,
        help=f"did you mean {name.replace(prefix, words[meant])}?" if meant else "remove it, or add the maker's pack",
    )


def _override(pack: Pack, name: str, what: str, value: str, diagnostics: Diagnostics) -> bool:
    """Change a pack by one variable; False when it has no effect."""
    identity = pack.spec.get("identity")
    if identity is None or not isinstance(identity.value, Map):
        return False  # linking reports a maker without an identity
    source = Source(name, value.encode())
    pattern, wanted = _WANTED[what]
    parts = pattern.fullmatch(value)
    if parts is None:
        diagnostics.error(
            "RP204",
            f"{name} is `{value}`",
            _scalar(value, source).place,
            help=f"it has to be {wanted}",
            related=(Related(f"the identity of {pack.name}", identity.key.place),),
        )
        return False
    make: Callable[[str], Node]
    if what == "PCI_VENDOR_ID":
        kind, vendor = parts.group("kind"), parts.group("vendor").lower()
        key, node = "pci", _matches(identity.value, kind.lower() if kind else "", vendor, source)
    else:
        make = _texts(source)
        key = {"ACCELERATABLE_RESOURCE_NAME": "resource", "ACCELERATABLE_RUNTIME_NAME": "runtimeClass"}.get(
            what, "partitionKind"
        )
        node = make(parts.group("text"))
        if key == "partitionKind" and identity.value.get("partitionKind") is None:
            return False  # a maker that has no partitions gets none by giving them a name
    pack.spec["identity"] = Entry(identity.key, put(identity.value, (key,), node, _scalar(key, source)))
    pack.origins[source.path] = LAYER
    return True


def _matches(identity: Map, kind: str, vendor: str, source: Source) -> Node:
    """The PCI matches: with a class the one that was named, else the pack's own under another vendor."""
    whole = Span(0, len(source.data))
    text = _texts(source)
    if kind:
        prefixes = Seq((text(kind),), whole, source)
        entries = (Entry(text("vendor"), text(vendor)), Entry(text("classPrefixes"), prefixes))
        return Seq((Map(entries, whole, source),), whole, source)
    pci = identity.get("pci")
    items = pci.items if isinstance(pci, Seq) else ()
    return Seq(tuple(put(item, ("vendor",), text(vendor), text("vendor")) for item in items), whole, source)


def _texts(source: Source) -> Callable[[str], Scalar]:
    return lambda text: _scalar(text, source)


def _scalar(text: str, source: Source) -> Scalar:
    return Scalar(text, text, Style.PLAIN, Span(0, len(source.data)), source)
