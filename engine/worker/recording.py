"""A cluster recorded as JSON lines: what the chain is made of, less what is nobody's business.

One object a line, in a fixed order, after a first line that says what it is. What is left out is decided here, kind by
kind; what a recording is good for is `recorded`'s.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.cluster.client import EVERYTHING, Client, Selection
from engine.cluster.errors import NotFound
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    DEVICES,
    INSTANCE_TYPE_FLAVORS,
    INSTANCE_TYPES,
    LEASES,
    LOCAL_QUEUES,
    NAMESPACES,
    NODE_FEATURES,
    NODES,
    RESOURCE_FLAVORS,
    RULE_PACKS,
    SECRETS,
    TOPOLOGIES,
    WORKLOADS,
    Resource,
)
from engine.errors import InputError
from engine.worker.controllers.settings import NAME as SETTINGS
from engine.worker.options import LEASE
from engine.worker.recorded import Recorded

KIND: Final = "Recording"
API_VERSION: Final = "engine.gpustack.ai/v1alpha1"
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
"""More than any object that an API server takes."""

Object = dict[str, Any]

_DOMAINS: Final = ("gpustack.ai", "kueue.x-k8s.io", "node.kubernetes.io", "kubernetes.io")
_NODE_INFO: Final = ("architecture", "operatingSystem", "kernelVersion", "kubeletVersion")


@dataclass(frozen=True, slots=True)
class _Recorded:
    resource: Resource[Any]
    keep: Callable[[Object], Object]


def _whole(thing: Object) -> Object:
    return thing


def _node(thing: Object) -> Object:
    status = thing.get("status", {})
    info = status.get("nodeInfo", {})
    return {
        **thing,
        "spec": {key: value for key, value in thing.get("spec", {}).items() if key in ("taints", "unschedulable")},
        "status": {
            "capacity": status.get("capacity", {}),
            "allocatable": status.get("allocatable", {}),
            "conditions": [{"type": each["type"], "status": each["status"]} for each in status.get("conditions", ())],
            "nodeInfo": {key: info[key] for key in _NODE_INFO if key in info},
        },
    }


def _feature(thing: Object) -> Object:
    """Without attributes that no rule reads: the kernel's configuration, and whatever else a host agent collects."""
    features = thing.get("spec", {}).get("features", {})
    kept = {
        "attributes": {k: v for k, v in (features.get("attributes") or {}).items() if k == "cpu.model"},
        "instances": {k: v for k, v in (features.get("instances") or {}).items() if k == "pci.device"},
    }
    return {**thing, "spec": {**thing.get("spec", {}), "features": {k: v for k, v in kept.items() if v}}}


def _devices(thing: Object) -> Object:
    """Without addresses of the cards' networks."""
    spec = {key: value for key, value in thing.get("spec", {}).items() if key != "interfaces"}
    groups = [
        {
            **group,
            "accelerators": [
                {**card, **({"topology": _place(card["topology"])} if "topology" in card else {})}
                for card in group.get("accelerators", ())
            ],
        }
        for group in spec.get("groups", ())
    ]
    return {**thing, "spec": {**spec, **({"groups": groups} if groups else {})}}


def _place(place: Object) -> Object:
    return {key: value for key, value in place.items() if key != "roce"}


def _workload(thing: Object) -> Object:
    """Without the templates of its Pods but for what they ask for."""
    spec = thing.get("spec", {})
    sets = [
        {"name": each.get("name"), "count": each.get("count"), "template": _template(each.get("template", {}))}
        for each in spec.get("podSets", ())
    ]
    kept = {key: spec[key] for key in ("queueName", "priority", "active") if key in spec}
    return {**thing, "spec": {**kept, "podSets": sets}}


def _template(template: Object) -> Object:
    spec = template.get("spec", {})
    return {
        "spec": {
            kind: [{"name": each.get("name"), "resources": each.get("resources", {})} for each in spec.get(kind, ())]
            for kind in ("initContainers", "containers")
            if spec.get(kind)
        }
    }


def _namespace(thing: Object) -> Object:
    return {**thing, "metadata": {key: value for key, value in thing["metadata"].items() if key != "annotations"}}


_KINDS: Final = (
    _Recorded(NAMESPACES, _namespace),
    _Recorded(SECRETS, _whole),
    _Recorded(LEASES, _whole),
    _Recorded(RULE_PACKS, _whole),
    _Recorded(NODES, _node),
    _Recorded(NODE_FEATURES, _feature),
    _Recorded(DEVICES, _devices),
    _Recorded(TOPOLOGIES, _whole),
    _Recorded(RESOURCE_FLAVORS, _whole),
    _Recorded(ADMISSION_CHECKS, _whole),
    _Recorded(INSTANCE_TYPES, _whole),
    _Recorded(CLUSTER_QUEUES, _whole),
    _Recorded(LOCAL_QUEUES, _whole),
    _Recorded(INSTANCE_TYPE_FLAVORS, _whole),
    _Recorded(WORKLOADS, _workload),
)


async def record(
    client: Client, namespace: str, declared: frozenset[str], header: Mapping[str, str]
) -> AsyncIterator[Object]:
    """The lines of a recording. Of the Secret of settings only `declared` keys are taken, and of no other Secret any.

    Raises: ClusterError: something may not be read. A kind that is not served is left out.
    """
    yield {"apiVersion": API_VERSION, "kind": KIND, "namespace": namespace, **header}
    for each in _KINDS:
        resource = each.resource
        selection = EVERYTHING
        if resource is SECRETS:
            selection = Selection(namespace, fields=f"metadata.name={SETTINGS}")
        elif resource is LEASES:
            selection = Selection(namespace, fields=f"metadata.name={LEASE}")
        elif resource is NODE_FEATURES:
            selection = Selection(namespace)
        try:
            listing = await client.list(replace(resource, struct=dict), selection)
        except NotFound:
            continue
        things: tuple[Object, ...] = listing.items
        for thing in sorted(things, key=_order):
            whole = {"apiVersion": resource.api_version, "kind": resource.kind, **thing}
            yield _without_secrets(redacted(each.keep(whole)), declared)


def redacted(thing: Object) -> Object:
    """The object without what people wrote into annotations, and of a Node without who manages which field."""
    metadata = dict(thing["metadata"])
    metadata.pop("selfLink", None)
    notes = {key: text for key, text in (metadata.pop("annotations", None) or {}).items() if _is_known(key)}
    if notes:
        metadata["annotations"] = notes
    if thing["kind"] in ("Node", "Namespace", "Workload"):
        metadata.pop("managedFields", None)
    return {**thing, "metadata": metadata}


def read_recording(lines: Iterable[str], where: str) -> Recorded:
    """What a recording holds. Raises: InputError: it is none, or a line is broken."""
    made: Recorded | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        thing = _line(line, f"{where}:{number}")
        if made is None:
            if (thing.get("apiVersion"), thing.get("kind")) != (API_VERSION, KIND):
                raise InputError(
                    f"{where}:{number}: this is no recording",
                    why=f"its first line is no {API_VERSION} {KIND}",
                    remedy="make one with: engine record > FILE.jsonl",
                )
            made = Recorded(str(thing.get("namespace", "")))
            continue
        if not isinstance(thing.get("metadata"), dict) or "kind" not in thing or "apiVersion" not in thing:
            raise InputError(f"{where}:{number}: this is no object", remedy="make the recording again")
        made.put(thing)
    if made is None:
        raise InputError(f"{where} is empty", remedy="make a recording with: engine record > FILE.jsonl")
    return made


def _line(line: str, where: str) -> Object:
    if len(line) > MAX_LINE_BYTES:
        raise InputError(f"{where}: a line of {len(line)} characters", why=f"at most {MAX_LINE_BYTES} are read")
    try:
        thing = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON", why=str(error), remedy="make the recording again") from error
    if not isinstance(thing, dict):
        raise InputError(f"{where}: this is no object", remedy="make the recording again")
    return thing


def _order(thing: Object) -> tuple[str, str]:
    metadata = thing["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _is_known(key: str) -> bool:
    """Of a domain that the chain reads or writes; what `kubectl apply` remembers holds whole manifests."""
    domain = key.partition("/")[0]
    return domain.endswith(_DOMAINS) and not domain.startswith("kubectl")


def _without_secrets(thing: Object, declared: frozenset[str]) -> Object:
    if thing["kind"] != SECRETS.kind:
        return thing
    return {**thing, "data": {key: text for key, text in (thing.get("data") or {}).items() if key in declared}}
