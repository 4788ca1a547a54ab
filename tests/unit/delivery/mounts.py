"""A kubelet's side of a projected volume, and the packs that it mounts.

No assertions here.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from engine.delivery.candidate import BUNDLE, Candidate, delivered, of_image
from engine.delivery.verdict import Snapshot
from engine.lang.packs import PackFiles
from engine.rulefiles import shipped_packs
from tests.unit.chain.shipped import cluster

ORIGIN = "gpustack-system"
MAKER = "rules/manufacturers/nvidia/pack.yaml"
RENAMES = b"""\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Overlay
metadata: {name: other-names, version: "1.0.0"}
spec:
  target: {kind: Manufacturer, pack: nvidia, version: ">=1.0 <2"}
  add:
    - section: model
      before: model-card
      rule: {id: other-name, when: "has(card.name) && contains(card.name, 'A10G')", emit: {product: other-card}}
"""
RED = b"""\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: nvidia}
spec:
  tests:
    - {name: never, section: model, given: {card: {}}, fires: [no-such-rule]}
"""
Files = Mapping[str, bytes]


@cache
def groups() -> tuple[PackFiles, ...]:
    """The shipped derivations, libraries and one maker's pack."""
    unwanted = ("manufacturers", "overlays")
    return tuple(
        p for p in shipped_packs() if p.name.endswith("nvidia") or not any(each in p.name for each in unwanted)
    )


def base() -> dict[str, bytes]:
    """Those packs as a chart lays them out: a folder a pack, files flat in it."""
    made: dict[str, bytes] = {}
    for group in groups():
        home = Path(group.name)
        folder = f"rules/{home.parts[-2]}/{home.stem}"
        for source in group.sources:
            below = Path(source.path).relative_to(group.name) if group.directory else Path("pack.yaml")
            made[f"{folder}/{'.'.join(below.parts)}"] = source.data
    return made


def version(files: Files, text: str) -> dict[str, bytes]:
    """The maker's pack with another version: another digest, and nothing else."""
    return {**files, MAKER: files[MAKER].replace(b'version: "1.0.0"', f'version: "{text}"'.encode(), 1)}


def bundle(files: Files) -> dict[str, bytes]:
    """With the list of what is in it."""
    listed = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    return {**files, BUNDLE: json.dumps({"files": listed}).encode()}


def contents(name: str) -> dict[str, bytes]:
    """What a delivery holds, by the name that tests use."""
    files = base()
    pack = files[MAKER]
    match name:
        case "base":
            return files
        case "newer":
            return version(files, "1.1.0")
        case "broken":
            return {**files, MAKER: pack + b"  sections: {model: [\n"}
        case "half":
            return {**files, MAKER: pack[: len(pack) // 2]}
        case "red":
            return {**files, "rules/manufacturers/nvidia/tests.zz.yaml": RED}
        case "renames":
            return {**files, "overlays/other-names.yaml": RENAMES}
        case "big":
            return {**files, MAKER: pack + b"#" * (256 * 1024)}
        case "empty":
            return {}
    raise AssertionError(name)


@cache
def snapshot() -> Snapshot:
    """The walkthrough's four machines."""
    return Snapshot(tuple(cluster()))


def mounted(name: str) -> Candidate:
    """A delivery without a directory."""
    return delivered(contents(name), origin=ORIGIN)


@cache
def image() -> Candidate:
    return of_image(groups())


class Kubelet:
    """Writes a volume the way a kubelet does: a new directory, a link beside, a rename over `..data`, the old one removed."""

    def __init__(self, mount: Path) -> None:
        self.mount = mount
        self._number = 0

    def write(self, files: Files) -> Path:
        """The first steps: all files in a directory of their own, which nothing leads to yet."""
        self._number += 1
        home = self.mount / f"..2026_11_29_12_00_00.{self._number}"
        home.mkdir(parents=True)
        for path, data in files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(data)
        return home

    def swap(self, files: Files) -> None:
        """All steps."""
        data = self.mount / "..data"
        old = data.resolve() if data.is_symlink() else None
        home = self.write(files)
        fresh = self.mount / "..data_tmp"
        fresh.symlink_to(home.name)
        fresh.rename(data)
        for top in sorted({path.partition("/")[0] for path in files}):
            link = self.mount / top
            if not link.is_symlink():
                link.symlink_to(f"..data/{top}")
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)  # a link may have led nowhere

    def put(self, files: Files) -> None:
        """As a volume that is no kubelet's: files where they are seen, one after the other."""
        for path, data in files.items():
            (self.mount / path).parent.mkdir(parents=True, exist_ok=True)
            (self.mount / path).write_bytes(data)
