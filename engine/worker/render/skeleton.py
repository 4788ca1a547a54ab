"""What every object has in common: apiVersion, kind, metadata, and the order in which people see keys.

Knows no kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

KUEUE: Final = "kueue.x-k8s.io/v1beta2"
WORKER: Final = "worker.gpustack.ai/v1"
NFD: Final = "nfd.k8s-sigs.io/v1alpha1"
SYSTEM_NAMESPACE: Final = "gpustack-system"

Object = dict[str, Any]


def manifest(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **body: Any,
) -> Object:
    """A Kubernetes object; parts that are None or empty metadata are left out.

    Shape: `body` holds `spec`, `status` and the like. Keys of maps are sorted at every depth, as kubectl prints them.
    """
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = dict(labels)
    if annotations:
        metadata["annotations"] = dict(annotations)
    parts = {key: value for key, value in body.items() if value is not None}
    return {"apiVersion": api_version, "kind": kind, "metadata": in_order(metadata), **in_order(parts)}


def in_order(value: Any) -> Any:
    """The value with the keys of its maps sorted at every depth."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [in_order(each) for each in value]
    return value


def present(**fields: Any) -> Object:
    """The fields that have something to say: not None, not an empty text, list or map. False and 0 stay."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {}, ())}
