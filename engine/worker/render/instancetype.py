"""InstanceType: what a person asks for, and how much of it there is.

Everything shown is the chain's; texts of quantities are made here.
"""

from __future__ import annotations

from typing import Any

from engine.chain.fields import TypeFields
from engine.domain.partitions import ProfileCounts
from engine.domain.views import PartitionView, View
from engine.values.quantities import canonical
from engine.worker.render.skeleton import WORKER, Object, manifest, present


def instance_type(fields: TypeFields) -> Object:
    """The InstanceType with its status. Shape: all views are always there, quantities as texts."""
    status = fields.status
    views = status.accelerator
    return manifest(
        WORKER,
        "InstanceType",
        fields.name,
        labels=fields.labels,
        spec=dict(fields.spec),
        status={
            **present(phaseMessage=status.phase_message, detail=status.detail),
            "phase": status.phase,
            "entrance": fields.entrance,
            "accelerator": view(views.exclusive),
            "acceleratorShared": view(views.shared),
            "acceleratorSliced": view(views.sliced),
            "acceleratorPartitioned": _partitions(views.partitioned),
            "cpu": view(status.cpu),
        },
    )


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
