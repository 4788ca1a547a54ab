"""Objects that an API server with our kinds takes, and changes that it refuses with the field named.

Plain data: the schema tests judge them offline as far as a schema can, and a test against a real API server can apply each
(`ACCEPTED` with create; `Refused` by creating `new`, or by creating `old`, writing its status, then updating to `new`).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from engine.api.crd import KINDS
from tests.golden.objects import read

Object = dict[str, Any]
OURS = {kind.kind for kind in KINDS}

RECORDED: list[Object] = list(YAML(typ="safe").load_all(Path(__file__).with_name("recorded.yaml").read_text("utf-8")))
RENDERED: list[Object] = [
    each
    for name in ("devices.yaml", "instancetypes.yaml", "instancetypeflavors.yaml", "nodefeatures.yaml")
    for each in read(name)
]
CUSTOM_TYPE, SLICED, _, PINNED, _, _, OLD_TYPE, _ = RECORDED
LEGACY_FIELDS = ("manufacturer", "product", "family", "memory", "cores", "feature")

RULE_PACK: Object = {
    "apiVersion": "worker.gpustack.ai/v1",
    "kind": "RulePack",
    "metadata": {"name": "manufacturer-acme"},
    "spec": {"kind": "Manufacturer", "name": "acme", "digest": "0" * 64, "source": "gpustack-system/engine-pack-acme"},
    "status": {
        "verdict": "Held",
        "message": "would rename 2 flavors; engine rules approve 1111",
        "program": "1" * 64,
        "columns": {"digest": "0" * 12, "program": "1" * 12},
    },
}
FEATURES: Object = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeature",
    "metadata": {"name": "n1", "namespace": "gpustack-system"},
    "spec": {
        "features": {
            "flags": {"kernel.loadedmodule": {"elements": {"acme": {}}}},
            "attributes": {"cpu.model": {"elements": {"family": "25"}}},
            "instances": {"pci.device": {"elements": [{"attributes": {"vendor": "10de", "class": "0302"}}]}},
        }
    },
}
NODE_RULE: Object = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeatureRule",
    "metadata": {"name": "gpustack-cpu-info"},
    "spec": {
        "rules": [
            {
                "name": "cpu-name",
                "annotations": {"feature.gpustack.ai/cpu-name": "@cpu.model.name"},
                "labels": {"a": "b"},
                "vars": {"c": "d"},
                "extendedResources": {"e": "1"},
                "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
                "labelsTemplate": "x=y",
                "matchFeatures": [{"feature": "cpu.model", "matchExpressions": {"family": {"op": "Exists"}}}],
                "matchAny": [
                    {"matchFeatures": [{"feature": "pci.device", "matchName": {"op": "In", "value": ["vendor"]}}]}
                ],
            },
            {
                "name": "version",
                "matchFeatures": [
                    {"feature": "a.b", "matchExpressions": {"v": {"op": "Ge", "value": ["1.2"], "type": "version"}}}
                ],
            },
        ]
    },
}
ACCEPTED: list[Object] = [*RECORDED, *RENDERED, RULE_PACK, FEATURES, NODE_RULE]


@dataclass(frozen=True, slots=True)
class Refused:
    """A write that is refused, and the words that say why. `old` is what is there, with its status."""

    new: Object
    field: str
    says: str
    old: Object | None = None

    def __str__(self) -> str:
        return f"{'update' if self.old else 'create'} {self.new['kind']} {self.field} {self.says[:30]}"


def changed(thing: Object, path: str, value: Any) -> Object:
    """The object with one field set; None takes it away."""
    made = copy.deepcopy(thing)
    *parents, last = path.split(".")
    part = made
    for name in parents:
        part = part.setdefault(name, {})
    if value is None:
        part.pop(last, None)
    else:
        part[last] = value
    return made


def _new(thing: Object, path: str, value: Any, says: str, field: str = "") -> Refused:
    return Refused(changed(thing, path, value), field or path, says)


def _update(old: Object, path: str, value: Any, says: str, field: str = "") -> Refused:
    return Refused(changed(old, path, value), field or path, says, old)


_GIB = 'must be a positive integer with a case-sensitive "Gi" suffix'
_WHOLE = "must be a positive integer with no unit suffix"
_FROZEN_TYPE = "is immutable except displayName, description and inactive"
_MOUNT = "/mnt/x"
_MISSING = "equired"  # "Required value" says the API server, "a required property" the schema library
_ONE_SOURCE = "exactly one of persistent, configMap, secret, hostPath, model must be specified"
RUNNING = changed(PINNED, "status.phase", "Ready")
STARTING = changed(PINNED, "status.phase", "Starting")
STOPPED = changed(changed(PINNED, "spec.stop", True), "status.phase", "Stopped")
STOPPING = changed(STOPPED, "status.phase", "Stopping")
_FIRST_TAKEN = {
    "spec": {},
    "status": {"groups": [{"id": "a", "manufacturer": "m", "accelerators": [{"id": "c", "mode": 6}]}]},
}

REFUSED: list[Refused] = [
    _new(CUSTOM_TYPE, "spec.acceleratorGroup", None, "must be specified when acceleratable is true"),
    _new(CUSTOM_TYPE, "spec.os", None, "must be specified"),
    _new(CUSTOM_TYPE, "spec.arch", "", "must be specified"),
    _new(CUSTOM_TYPE, "spec.unitResources.cpu", "12m", _WHOLE),
    _new(CUSTOM_TYPE, "spec.acceleratable", False, "must be 1 when acceleratable is false", "spec.unitResources.cpu"),
    _new(CUSTOM_TYPE, "spec.unitResources.ram", "0Gi", _GIB),
    _new(CUSTOM_TYPE, "spec.localStorage", "100gi", _GIB),
    _new(CUSTOM_TYPE, "spec.displayName", "x" * 65, "64"),
    _new(CUSTOM_TYPE, "spec.description", "x" * 1025, "1024"),
    _new(CUSTOM_TYPE, "spec.generalGroup", "", "1"),
    _new(CUSTOM_TYPE, "spec.unitResources.cpu", 12, "string"),
    _update(CUSTOM_TYPE, "spec.os", "windows", _FROZEN_TYPE, "spec"),
    _update(CUSTOM_TYPE, "spec.unitResources.cpu", "8", _FROZEN_TYPE, "spec"),
    _update(CUSTOM_TYPE, "spec.acceleratable", None, _FROZEN_TYPE, "spec"),
    _update(CUSTOM_TYPE, "spec.generalGroup", "amd-epyc-7r32", _FROZEN_TYPE, "spec"),
    _new(SLICED, "spec.type", "", "type must be specified"),
    _new(SLICED, "spec.image", None, _MISSING),
    _new(SLICED, "spec.imagePullPolicy", "Sometimes", "Sometimes"),
    _new(SLICED, "spec.volumeMount", "workspace", "workspace"),
    _new(SLICED, "spec.ports", [{"port": 0}], "1", "spec.ports[0].port"),
    _new(SLICED, "spec.volume", None, "either ephemeral or persistent of volume should be specified"),
    _new(SLICED, "spec.volume", {}, "either ephemeral or persistent of volume should be specified"),
    _new(SLICED, "spec.volume.persistent", {"name": "x"}, "cannot specify both ephemeral and persistent of volume",
         "spec.volume"),
    _new(SLICED, "spec.volume.ephemeral.capacity", "0", "capacity of ephemeral volume must be positive"),
    _new(SLICED, "spec.volume.ephemeral.capacity", "much", "much"),
    _new(SLICED, "spec.volume", {"persistent": {}}, "name of the persistent volume must be specified",
         "spec.volume.persistent.name"),
    _new(SLICED, "spec.resources.accelerator", "-1", "accelerator request cannot be negative"),
    _new(SLICED, "spec.resources.accelerator", "500m", "accelerator request must be a whole number of cards"),
    _new(SLICED, "spec.resources.accelerator", 2, "accelerator request must be exactly 1 for a sliced request"),
    _new(SLICED, "spec.resources.acceleratorSlicedMemoryPercentage", 101, "must be between 0 and 100"),
    _new(SLICED, "spec.resources.acceleratorSlicedCoresPercentage", -1, "must be between 0 and 100"),
    _new(SLICED, "spec.resources.acceleratorPartitionedProfile", "1g.5gb",
         "a hardware partition and a logical slice percentage are mutually exclusive;"
         " clear acceleratorSlicedMemoryPercentage and acceleratorSlicedCoresPercentage"),
    _new(SLICED, "spec.resources.cpu", "-1", "CPU request cannot be negative"),
    _new(SLICED, "spec.resources.ram", "-1Gi", "RAM request cannot be negative"),
    _new(SLICED, "spec.resources.localStorage", "-1Gi", "local storage request cannot be negative"),
    _new(PINNED, "spec.additionalVolumes", [{"mountPath": _MOUNT}], _ONE_SOURCE, "spec.additionalVolumes[0]"),
    _new(PINNED, "spec.additionalVolumes", [{"mountPath": "/a/../b", "secret": {"name": "s"}}],
         "must not contain . or ..", "spec.additionalVolumes[0].mountPath"),
    _new(PINNED, "spec.additionalVolumes", [{"mountPath": _MOUNT, "subPath": "../b", "secret": {"name": "s"}}],
         "must be a relative path without ..", "spec.additionalVolumes[0].subPath"),
    _new(PINNED, "spec.additionalVolumes", [{"mountPath": "/workspace", "secret": {"name": "s"}}],
         "must not mount at volumeMount", "spec.additionalVolumes"),
    _update(RUNNING, "spec.nodeName", "node-t4-a", "nodeName is immutable"),
    _update(RUNNING, "spec.additionalVolumes", [], "additionalVolumes is immutable"),
    _update(RUNNING, "spec.privileged", True, "privileged is immutable"),
    _update(RUNNING, "spec.type", "a10g-12c128g", "type is immutable"),
    _update(RUNNING, "spec.resources", None, "resources is immutable"),
    _update(RUNNING, "spec.env", [{"name": "A", "value": "1"}], "env is immutable"),
    _update(RUNNING, "spec.imagePullSecret", {"name": "s"}, "imagePullSecret is immutable"),
    _update(STOPPED, "spec.volume.ephemeral.capacity", "2Gi", "volume is immutable", "spec.volume"),
    _update(STOPPING, "spec.stop", None, "can only start stopped instance"),
    _update(STARTING, "spec.stop", True, "cannot stop starting instance"),
    Refused({**RENDERED[0], **_FIRST_TAKEN}, "status.groups[0].accelerators[0].mode", "5"),
    _new(RULE_PACK, "spec.digest", "abc", "abc"),
    _new(RULE_PACK, "status.verdict", "Perhaps", "Perhaps"),
    _new(NODE_RULE, "spec.rules", None, _MISSING),
]  # fmt: skip

ALLOWED: list[tuple[Object, Object]] = [
    (CUSTOM_TYPE, changed(CUSTOM_TYPE, "spec.displayName", "A10G")),
    (CUSTOM_TYPE, changed(CUSTOM_TYPE, "spec.inactive", True)),
    (RUNNING, changed(RUNNING, "spec.displayName", "mine")),
    (RUNNING, changed(RUNNING, "spec.stop", True)),
    (RUNNING, changed(RUNNING, "spec.privileged", False)),
    (STOPPED, changed(STOPPED, "spec.nodeName", "node-t4-a")),
    (STOPPED, changed(changed(STOPPED, "spec.type", "a10g-12c128g"), "spec.stop", False)),
]
"""Updates that pass: what is there, and what it becomes."""
