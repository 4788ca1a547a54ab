"""Makes the chart whole: packs from rules/, Kueue's configuration from the packs, Kueue's chart from its Go module.

`python charts/build.py` writes what git does not keep, and the one block in values.yaml that it does; `--check` only says
whether that block is what the packs come to. Renders and installs nothing.
"""

# ruff: noqa: INP001  (a script, run by its path)

from __future__ import annotations

import argparse
import gzip
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
CHART: Final = REPOSITORY / "charts" / "engine"
RULES: Final = REPOSITORY / "rules"
NAMESPACE: Final = "gpustack-system"
KUEUE_VERSION: Final = "0.19.1"
"""The version in Chart.yaml, of which a test makes sure."""
FOLDERS: Final = {"derive": "derivation", "library": "library", "manufacturers": "manufacturer"}
"""Overlays are examples: nothing applies them, so nothing ships them."""
BEGIN: Final = "    # generated: begin\n"
END: Final = "    # generated: end\n"
_KEEP: Final = "\n  annotations:\n"


@dataclass(frozen=True, slots=True)
class ShippedPack:
    """One pack as a ConfigMap. Shape: `files` are paths below `folder`, which is relative to the rules."""

    kind: str
    name: str
    folder: str
    files: tuple[str, ...]

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in the index. In a ConfigMap files lie flat: `tests/a.yaml` has the key `tests.a.yaml`."""
        files = [{"file": each, "key": each.replace("/", ".")} for each in self.files]
        return {"kind": self.kind, "name": self.name, "folder": self.folder, "files": files}


def shipped_packs(rules: Path = RULES) -> list[ShippedPack]:
    """What the chart ships, by folder and name."""
    return [pack for folder, kind in FOLDERS.items() for pack in _packs(rules / folder, kind)]


def write_packs(chart: Path = CHART, rules: Path = RULES) -> None:
    """Copies the packs and writes the index that templates go by."""
    target = chart / "files" / "packs"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    packs = shipped_packs(rules)
    for pack in packs:
        for each in pack.files:
            copy = target / pack.folder / each
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((rules / pack.folder / each).read_bytes())
    (target / "index.yaml").write_text(json.dumps({"packs": [pack.entry for pack in packs]}, indent=1), "utf-8")


def kueue_block() -> str:
    """The lines of values.yaml between the marks. Cost: links all packs, about two seconds."""
    from ruamel.yaml import YAML

    from engine.lang.linking import link
    from engine.rulefiles import shipped_packs as shipped_files
    from engine.sections.catalog import CATALOGUE
    from engine.sections.resources import resource_names
    from engine.worker.render.kueue_configuration import kueue_configuration

    program = link(shipped_files(), CATALOGUE).program
    if program is None:
        raise SystemExit("the shipped packs do not link: run `engine validate rules`")
    answers = [resource_names(program, maker).value for maker in program.makers]
    transformations = [each for names in answers if names is not None for each in names.transformations]
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 120
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump(kueue_configuration(transformations, NAMESPACE), text)
    lines = "".join(f"      {line}\n" for line in text.getvalue().splitlines())
    return f"    controllerManagerConfigYaml: |-\n{lines}"


def with_block(values: str, block: str) -> str:
    """The text of values.yaml with the block between its marks."""
    before, _, rest = values.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{block}{END}{after}"


def pack_kueue(source: Path, chart: Path = CHART) -> Path:
    """Packs Kueue's chart, the same bytes every time.

    Its definitions get `helm.sh/resource-policy: keep`: Kueue has them among its templates, and an uninstall would take every
    queue and Workload of the cluster with them.
    """
    target = chart / "charts" / f"kueue-{KUEUE_VERSION}.tgz"
    target.parent.mkdir(exist_ok=True)
    with (
        target.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(each for each in source.rglob("*") if each.is_file()):
            inner = path.relative_to(source)
            if inner.parts[0] == "tests":
                continue
            data = path.read_bytes()
            if inner.parts[:2] == ("templates", "crd"):
                data = _kept(data, inner)
            entry = tarfile.TarInfo(f"kueue/{inner.as_posix()}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return target


def kueue_source(*, fetch: bool = True) -> Path | None:
    """Kueue's chart in Go's module cache; None without Go, or when it is not there and not to be fetched."""
    go = shutil.which("go")
    if go is None:
        return None
    module = f"sigs.k8s.io/kueue@v{KUEUE_VERSION}"
    kept = Path(subprocess.check_output([go, "env", "GOMODCACHE"], text=True).strip()) / module / "charts" / "kueue"  # noqa: S603
    if not kept.is_dir():
        if not fetch:
            return None
        subprocess.run([go, "mod", "download", module], check=True, cwd=CHART)  # noqa: S603
    return kept


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="only say whether values.yaml is up to date")
    check = parser.parse_args().check
    values = CHART / "values.yaml"
    before = values.read_text("utf-8")
    after = with_block(before, kueue_block())
    if check:
        if before != after:
            print("charts/engine/values.yaml is not what the packs come to: run `make chart`", file=sys.stderr)  # noqa: T201
        return int(before != after)
    if before != after:
        values.write_text(after, "utf-8")
    write_packs()
    source = kueue_source()
    if source is None:
        print("no Go: Kueue's chart was not packed; `helm dependency build charts/engine` fetches it")  # noqa: T201
    else:
        pack_kueue(source)
    print(f"{CHART.relative_to(REPOSITORY)} is ready: {len(shipped_packs())} packs")  # noqa: T201
    return 0


def _packs(folder: Path, kind: str) -> Iterator[ShippedPack]:
    for entry in sorted(folder.iterdir()):
        if (entry / "pack.yaml").is_file():
            files = tuple(each.relative_to(entry).as_posix() for each in sorted(entry.rglob("*.yaml")))
            yield ShippedPack(kind, entry.name, f"{folder.name}/{entry.name}", files)
        elif entry.suffix == ".yaml":
            yield ShippedPack(kind, entry.stem, folder.name, (entry.name,))


def _kept(data: bytes, inner: Path) -> bytes:
    text = data.decode()
    if _KEEP not in text:
        raise SystemExit(f"Kueue's {inner} has no annotations to add to: look at it anew")
    return text.replace(_KEEP, f"{_KEEP}    helm.sh/resource-policy: keep\n", 1).encode()


if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY))
    raise SystemExit(main())
