"""InstanceType: what a person asks for, and how much of it there is.

Everything shown is the chain's; texts of quantities and of table cells are made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.chain.fields import Labels, TypeFields, TypeStatus
from engine.domain.partitions import ProfileCounts
from engine.domain.views import PartitionView, View
from engine.values.quantities import canonical
from engine.worker.render import cells
from engine.worker.render.skeleton import WORKER, Object, manifest, present

KIND = "InstanceType"


def instance_type(fields: TypeFields) -> Object:
    """The InstanceType with its status."""
    status = status_fields(fields.spec, fields.entrance, fields.status)
    return manifest(WORKER, KIND, fields.name, labels=fields.labels, spec=dict(fields.spec), status=status)


def made_type(name: str, labels: Labels, spec: Mapping[str, Any]) -> Object:
    """The InstanceType as it is made, before anything is known of it."""
    return manifest(WORKER, KIND, name, labels=labels, spec=dict(spec))


def type_status(name: str, status: Mapping[str, Any]) -> Object:
    """The status alone, for the subresource."""
    return manifest(WORKER, KIND, name, status=dict(status))


def status_fields(spec: Mapping[str, Any], entrance: str, status: TypeStatus) -> Object:
    """The fields of a status. Shape: all views are always there, quantities as texts."""
    views = status.accelerator
    return {
        **present(phaseMessage=status.phase_message, detail=status.detail, entrance=entrance),
        "phase": status.phase,
        "accelerator": view(views.exclusive),
        "acceleratorShared": view(views.shared),
        "acceleratorSliced": view(views.sliced),
        "acceleratorPartitioned": _partitions(views.partitioned),
        "cpu": view(status.cpu),
        "columns": present(
            unitStorage=cells.unit_storage(spec),
            accelerator=cells.accelerator(views),
            cpu=cells.pair(status.cpu),
            partitions=cells.partitions(views.partitioned.remaining_profiles),
        ),
    }


def view(counts: View) -> dict[str, str]:
    """One view as quantities."""
    return {
        "capacity": canonical(counts.capacity),
        "onceMaxRequest": canonical(counts.once_max),
        "remaining": canonical(counts.remaining),
    }


def _partitions(counts: PartitionView) -> dict[str, Any]:
    return view(counts) | present(
        allocatedProfiles=_profiles(counts.allocated_profiles), remainingProfiles=_profiles(counts.remaining_profiles)
    )


def _profiles(counts: ProfileCounts) -> list[dict[str, Any]]:
    return [{"name": name, "count": count} for name, count in counts]
