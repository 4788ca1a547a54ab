"""What a real NFD's master makes of a Node, for tests that play one: labels of all its NodeFeatures, and its own lists.

Pure: a patch comes out. Who reads, sends it, and gives signs of life is the test's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

DOMAIN: Final = "feature.node.kubernetes.io/"
LABELS: Final = "nfd.node.kubernetes.io/feature-labels"
ANNOTATIONS: Final = "nfd.node.kubernetes.io/feature-annotations"
LEASE: Final = "nfd-master.nfd.kubernetes.io"
MANAGER: Final = "nfd-master"
MASTER: Final = {"app.kubernetes.io/name": "node-feature-discovery", "role": "master"}
CPU_NAME: Final = "feature.gpustack.ai/cpu-name"

Object = dict[str, Any]


def nfd_patch(node: Object, features: Iterable[Object]) -> Object | None:
    """What a stock master with the rule `gpustack-cpu-info` would send; None when nothing differs.

    It prunes what its list names and nobody asks for, writes over any other value, and leaves references in
    annotations as they stand.
    """
    metadata = node["metadata"]
    now, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    wanted: dict[str, str] = {}
    for each in sorted(features, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"])):
        wanted |= {
            key if "/" in key else DOMAIN + key: value for key, value in (each["spec"].get("labels") or {}).items()
        }
    if not wanted:
        return None
    wanted.setdefault("feature.gpustack.ai/acceleratable", "false")
    before = {_full(key) for key in notes.get(LABELS, "").split(",") if key}
    labels: dict[str, str | None] = {key: None for key in sorted(before - wanted.keys()) if key in now}
    labels |= {key: value for key, value in wanted.items() if now.get(key) != value}
    told = {
        LABELS: ",".join(sorted(key.removeprefix(DOMAIN) for key in wanted)),
        ANNOTATIONS: CPU_NAME,
        CPU_NAME: "@cpu.model.name",
    }
    annotations = {key: value for key, value in told.items() if notes.get(key) != value}
    parts = {name: part for name, part in (("labels", labels), ("annotations", annotations)) if part}
    return {"metadata": parts} if parts else None


def _full(key: str) -> str:
    return key if "/" in key else DOMAIN + key
