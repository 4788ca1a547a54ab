"""What Kueue's schemas and webhooks do to a body before it is stored: finalizers, defaults, refusals.

Source: Kueue 0.19.1, config/components/crd/bases and pkg/webhooks. Only kinds and fields that anybody here writes.
"""

from __future__ import annotations

from typing import Any, Final

from tests.fakes.kinds import Kind
from tests.fakes.refusals import invalid
from tests.fakes.store import Object

IN_USE: Final = "kueue.x-k8s.io/resource-in-use"

_QUEUE_DEFAULTS: Final[Object] = {
    "queueingStrategy": "BestEffortFIFO",
    "stopPolicy": "None",
    "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
    "preemption": {
        "borrowWithinCohort": {"policy": "Never"},
        "reclaimWithinCohort": "Never",
        "withinClusterQueue": "Never",
    },
}
_FROZEN_WITH_TOPOLOGY: Final = ("nodeLabels", "tolerations", "topologyName")


def admit(kind: Kind, body: Object, before: Object | None) -> Object:
    """An `Admission`. Raises: RefusalError."""
    match kind.id:
        case "clusterqueues.kueue.x-k8s.io":
            body = _held({**body, "spec": _defaulted(body.get("spec") or {}, _QUEUE_DEFAULTS)}, before)
            _check_queue(kind, body)
        case "resourceflavors.kueue.x-k8s.io":
            body = _held({**body, "spec": body.get("spec") or {}}, before)
            _check_flavor(kind, body, before)
        case "localqueues.kueue.x-k8s.io":
            body = {**body, "spec": {"stopPolicy": "None", **(body.get("spec") or {})}}
            _frozen(kind, body, before, "clusterQueue")
        case "admissionchecks.kueue.x-k8s.io":
            _frozen(kind, body, before, "controllerName")
        case "workloads.kueue.x-k8s.io":
            body = {**body, "spec": {"active": True, "priority": 0, **(body.get("spec") or {})}}
        case "topologies.kueue.x-k8s.io":
            _frozen(kind, body, before, "levels")
    return body


def _held(body: Object, before: Object | None) -> Object:
    """With Kueue's finalizer, which its webhook puts on at creation and on updates of living objects."""
    metadata = body["metadata"]
    if (before or body)["metadata"].get("deletionTimestamp") or IN_USE in (metadata.get("finalizers") or ()):
        return body
    return {**body, "metadata": metadata | {"finalizers": [*(metadata.get("finalizers") or ()), IN_USE]}}


def _defaulted(spec: Any, defaults: Any) -> Any:
    if not isinstance(defaults, dict):
        return spec
    return {
        **spec,
        **{key: _defaulted(spec[key], value) if key in spec else value for key, value in defaults.items()},
    }


def _check_queue(kind: Kind, body: Object) -> None:
    name, seen = body["metadata"].get("name", ""), set()
    if body["spec"].get("stopPolicy") not in {"None", "Hold", "HoldAndDrain"}:
        raise invalid(kind.id, name, "spec.stopPolicy", 'supported values: "None", "Hold", "HoldAndDrain"')
    for at, group in enumerate(body["spec"].get("resourceGroups") or ()):
        flavors = group.get("flavors") or []
        field = f"spec.resourceGroups[{at}]"
        if not 1 <= len(flavors) <= 64:
            raise invalid(kind.id, name, f"{field}.flavors", f"must have between 1 and 64 items, has {len(flavors)}")
        covered = group.get("coveredResources") or []
        for flavor in flavors:
            if flavor["name"] in seen:
                raise invalid(kind.id, name, f"{field}.flavors", f"Duplicate value: {flavor['name']}")
            seen.add(flavor["name"])
            if [each["name"] for each in flavor["resources"]] != covered:
                raise invalid(kind.id, name, f"{field}.flavors", "must match the name in coveredResources")
            if any(str(each["nominalQuota"]).startswith("-") for each in flavor["resources"]):
                raise invalid(kind.id, name, f"{field}.flavors", "must be greater than or equal to 0")


def _check_flavor(kind: Kind, body: Object, before: Object | None) -> None:
    spec, name = body["spec"], body["metadata"].get("name", "")
    if spec.get("topologyName") and not spec.get("nodeLabels"):
        raise invalid(kind.id, name, "spec", "at least one nodeLabel is required when topology is set")
    was = (before or {}).get("spec") or {}
    if was.get("topologyName"):
        for field in _FROZEN_WITH_TOPOLOGY:
            if spec.get(field) != was.get(field):
                raise invalid(kind.id, name, "spec", f"{field} is immutable when topologyName is set")


def _frozen(kind: Kind, body: Object, before: Object | None, field: str) -> None:
    was = ((before or {}).get("spec") or {}).get(field)
    if was is not None and (body.get("spec") or {}).get(field) != was:
        raise invalid(kind.id, body["metadata"].get("name", ""), f"spec.{field}", "field is immutable")
