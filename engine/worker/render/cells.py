"""Cells of an InstanceType's table that are made of several fields: printed by a plan, and stored for the API's columns.

One place for both, so that they cannot differ. Source: specification 20 §6.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.domain.partitions import ProfileCounts
from engine.domain.views import AcceleratorViews, View
from engine.values.quantities import canonical


def unit_storage(spec: Mapping[str, Any]) -> str:
    """CPU, memory and storage of a unit: `8/64Gi/100Gi`. Shape: what a spec lacks is empty between its slashes."""
    unit = spec.get("unitResources") or {}
    return f"{unit.get('cpu', '')}/{unit.get('ram', '')}/{spec.get('localStorage', '')}"


def accelerator(views: AcceleratorViews) -> str:
    """Most at once and remaining: exclusive, shared, sliced, partitioned."""
    return " ".join(pair(view) for view in (views.exclusive, views.shared, views.sliced, views.partitioned))


def pair(view: View) -> str:
    """Most at once and remaining of one view."""
    return f"{canonical(view.once_max)}/{canonical(view.remaining)}"


def partitions(remaining: ProfileCounts) -> str:
    """Partitions left, `name:count` joined by commas (form chosen here)."""
    return ",".join(f"{name}:{count}" for name, count in remaining)
