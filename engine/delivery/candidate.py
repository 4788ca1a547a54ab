"""A set of packs that somebody delivered, as files: told apart, measured, and compared with what was announced.

Opens no file and links nothing. One candidate is one content: its digest covers every name and every byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.lang.codes import Severity
from engine.lang.diagnostics import Diagnostic, Diagnostics
from engine.lang.limits import MAX_ALL_PACKS_BYTES, MAX_PACK_BYTES
from engine.lang.overlay import OVERLAY
from engine.lang.packs import PackFiles, gather
from engine.lang.source import Source

BUNDLE: Final = "bundle.json"
"""The list of what a delivery holds, if there is one. Shape: `{"files": {path: sha256}}`."""

IMAGE: Final = "image"
"""Where the packs of the image come from, as RulePacks say it."""

_CONFIG_MAPS: Final = (("overlays", "engine-overlay-"), ("rules/extra", "engine-pack-extra-"))
"""Folders of the mount whose files are named by a person, with what their ConfigMaps' names begin with. Source: the chart."""

_PACK_FILE: Final = "pack.yaml"
_YAML: Final = (".yaml", ".yml")
_PROSE: Final = (".md", ".txt")
_WARN_BYTES: Final = 128 * 1024
"""Half of what a pack may hold: time to split it. Source: known faults of languages like this one, row 52."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Packs that could be put in force.

    Shape: `overlays` are applied to `packs`; `faults` was found before anything was read; `awaited` names announced
    files that are not there yet, or not as announced; `origin` is `image`, or the namespace of the ConfigMaps.
    """

    digest: str
    packs: tuple[PackFiles, ...]
    overlays: tuple[PackFiles, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    awaited: tuple[str, ...] = ()
    origin: str = IMAGE

    @property
    def groups(self) -> tuple[PackFiles, ...]:
        """All packs, overlays last."""
        return self.packs + self.overlays

    def source(self, group: PackFiles, id_: str) -> str:
        """Where a pack came from, as its RulePack says it. Shape: `id_` is the pack's, `manufacturer-acme`."""
        if self.origin == IMAGE:
            return IMAGE
        folder, _, last = group.name.rpartition("/")
        stem = last.removesuffix(".yaml").removesuffix(".yml")
        for home, prefix in _CONFIG_MAPS:
            if folder == home:
                return f"{self.origin}/{prefix}{stem}"
        return f"{self.origin}/engine-pack-{id_}"


def delivered(files: Mapping[str, bytes], faults: Iterable[Diagnostic] = (), *, origin: str = "") -> Candidate:
    """What files by relative path are a delivery of.

    Shape: a folder with a `pack.yaml` is one pack with all YAML below it, whether its tests lie in `tests/a.yaml` or, as
    in a ConfigMap, in `tests.a.yaml`; in any other folder each YAML file is a pack. Overlays are applied.
    """
    found = Diagnostics(faults)
    wanted = {path: data for path, data in sorted(files.items()) if _is_yaml(path, found)}
    groups = _grouped(wanted)
    _weigh(groups, found)
    awaited = _awaited(files, found)
    over = tuple(group for group in groups if _is_overlay(group))
    return Candidate(
        digest=_digest(files, found),
        packs=tuple(group for group in groups if group not in over),
        overlays=over,
        faults=tuple(found),
        awaited=awaited,
        origin=origin,
    )


def of_image(groups: Iterable[PackFiles], overlays: Iterable[PackFiles] = ()) -> Candidate:
    """The packs that come with Engine, or were named when it was started. Shape: overlays among `groups` are examples and stay
    out; `overlays` apply.
    """
    packs = tuple(group for group in groups if not _is_overlay(group))
    over = tuple(overlays)
    return Candidate(_digest({s.path: s.data for group in packs + over for s in group.sources}, ()), packs, over)


def content_digest(group: PackFiles) -> str:
    """Digest of a pack's bytes, as its file names and what is in them."""
    return _digest({source.path: source.data for source in group.sources}, ())


def _digest(files: Mapping[str, bytes], faults: Iterable[Diagnostic]) -> str:
    made = hashlib.sha256()
    for path, data in sorted(files.items()):
        # Lengths go in first, or bytes could move from a name into a file without a trace.
        made.update(f"{len(path.encode())} {len(data)} ".encode())
        made.update(path.encode() + data)
    for fault in faults:
        made.update(f"{fault.code} {fault.path} {fault.message}".encode())
    return made.hexdigest()


def _is_yaml(path: str, found: Diagnostics) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.endswith(_YAML):
        return True
    if path != BUNDLE and not name.endswith(_PROSE):
        found.error(
            "RP001", f"{path} is no YAML file", path=path, help="packs end in .yaml or .yml; move other files elsewhere"
        )
    return False


def _grouped(files: Mapping[str, bytes]) -> list[PackFiles]:
    homes = {path.rpartition("/")[0] for path in files if path.rpartition("/")[2].lower() == _PACK_FILE}
    made: dict[str, list[str]] = {}
    for path in files:
        home = next((above for above in _above(path) if above in homes), None)
        made.setdefault(path if home is None else home, []).append(path)
    return [
        PackFiles(
            name,
            tuple(
                Source(path, files[path]) for path in sorted(paths, key=lambda path: (not _is_head(path, name), path))
            ),
            directory=name in homes,
        )
        for name, paths in sorted(made.items())
    ]


def _is_head(path: str, home: str) -> bool:
    return path.removeprefix(f"{home}/").lower() == _PACK_FILE


def _above(path: str) -> Iterable[str]:
    """The folders a file is in, the outermost first: a `pack.yaml` further down belongs to the pack around it."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _weigh(groups: Iterable[PackFiles], found: Diagnostics) -> None:
    total = 0
    for group in groups:
        size = sum(len(source.data) for source in group.sources)
        total += size
        if size > _WARN_BYTES:
            found.add(
                "RP801",
                f"the pack holds {size} bytes, {MAX_PACK_BYTES} are the limit",
                path=group.name,
                help="split it: what makers share goes into a Library, and each pack has its own ConfigMap",
                severity=Severity.ERROR if size > MAX_PACK_BYTES else Severity.WARNING,
            )
    if total > MAX_ALL_PACKS_BYTES:
        found.error(
            "RP801",
            f"all packs together hold {total} bytes, {MAX_ALL_PACKS_BYTES} are the limit",
            help="take packs out",
        )


def _is_overlay(group: PackFiles) -> bool:
    # Reading YAML is slow: only files that have the word in them are looked at.
    if not any(OVERLAY.encode() in source.data for source in group.sources):
        return False
    return any(pack.kind == OVERLAY for pack in gather([group], Diagnostics()))


def _awaited(files: Mapping[str, bytes], found: Diagnostics) -> tuple[str, ...]:
    if BUNDLE not in files:
        return ()
    try:
        listed = {str(path): str(digest) for path, digest in json.loads(files[BUNDLE])["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found.error("RP911", f"{BUNDLE} cannot be read", path=BUNDLE, help='write {"files": {"PATH": "SHA256"}}')
        return (BUNDLE,)
    here = {path: hashlib.sha256(data).hexdigest() for path, data in files.items() if path != BUNDLE}
    return tuple(path for path in sorted({*listed, *here}) if listed.get(path) != here.get(path))
