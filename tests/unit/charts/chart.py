"""The chart made whole in a folder of its own, rendered by real Helm, and read back. No assertions here."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from charts import build

Object = dict[str, Any]

WORKER = "gpustack-operator-worker"
NAMESPACE = "gpustack-system"
OWN = {"kueue": {"enabled": False}}
"""Values that leave Kueue's objects out."""


def whole(folder: Path) -> Path:
    """A copy of the chart with its packs, and without Kueue's chart."""
    target = folder / "engine"
    shutil.copytree(build.CHART, target, ignore=shutil.ignore_patterns("packs", "charts"))
    build.write_packs(target)
    return target


def read(text: str) -> Any:
    """A document, as a reader of YAML 1.2 that refuses duplicate keys."""
    return YAML(typ="safe").load(text)


class Rendered:
    """What a chart comes to. Shape: `texts` by template, `objects` of all of them, `notes`."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.notes = "".join(text for name, text in texts.items() if name == "engine/templates/NOTES.txt")
        self.texts = {name: text for name, text in texts.items() if not name.endswith("NOTES.txt")}
        self.objects = [found for text in self.texts.values() for found in YAML(typ="safe").load_all(text) if found]

    def of(self, kind: str) -> list[Object]:
        return [each for each in self.objects if each["kind"] == kind]

    def one(self, kind: str, name: str = WORKER) -> Object:
        (found,) = [each for each in self.of(kind) if each["metadata"]["name"] == name]
        return found

    @property
    def pod(self) -> Object:
        return self.one("Deployment")["spec"]["template"]["spec"]

    @property
    def container(self) -> Object:
        (container,) = self.pod["containers"]
        return container


def mounted(rendered: Rendered, folder: Path) -> Path:
    """The delivery volume as a kubelet writes it: a dated folder, `..data`, and links to what is in it."""
    dated = folder / "..2026_01_01_00_00_00.1"
    (volume,) = [each for each in rendered.pod["volumes"] if each["name"] == "delivery"]
    for source in volume["projected"]["sources"]:
        data = rendered.one("ConfigMap", source["configMap"]["name"])["data"]
        for item in source["configMap"]["items"]:
            file = dated / item["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data[item["key"]].encode())
    (folder / "..data").symlink_to(dated.name)
    for entry in dated.iterdir():
        (folder / entry.name).symlink_to(f"..data/{entry.name}")
    return folder


def arguments(rendered: Rendered, folder: Path) -> list[str]:
    """The container's arguments, with its volumes mounted in a folder."""
    delivery, tls = folder / "delivery", folder / "tls"
    delivery.mkdir()
    tls.mkdir()
    mounted(rendered, delivery)
    for secret in rendered.of("Secret"):
        for name, text in secret["data"].items():
            (tls / name).write_bytes(base64.b64decode(text))
    return [each.replace("/etc/engine/", f"{folder}/") for each in rendered.container["args"]]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of values; maps are gone into."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path
