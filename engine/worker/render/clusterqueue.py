"""ClusterQueue: the quota behind one InstanceType.

What it is created with is the `queue` section's, quotas are `quota`'s; where it is in its life is the state machine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from engine.chain.fields import QueueFields
from engine.domain.queue_state import MARKERS, FlavorQuota
from engine.values.quantities import canonical
from engine.worker.render.skeleton import KUEUE, Object, manifest


def cluster_queue(queue: QueueFields) -> Object:
    """The ClusterQueue of a type. Shape: one resource group at most; the markers of the state machine as annotations."""
    state = queue.state
    annotations = {key: text for key, text in queue.created.annotations if key not in MARKERS} | state.markers()
    spec: dict[str, Any] = {
        "namespaceSelector": dict(queue.created.namespace_selector),
        "flavorFungibility": dict(queue.created.flavor_fungibility),
        "preemption": dict(queue.created.preemption),
    }
    if state.stop_policy is not None:
        spec["stopPolicy"] = state.stop_policy
    if state.checks:
        spec["admissionChecksStrategy"] = checks_strategy(state.checks)
    if state.groups:
        spec["resourceGroups"] = resource_groups(state.groups)
    return manifest(KUEUE, "ClusterQueue", queue.name, labels=queue.labels, annotations=annotations, spec=spec)


def resource_groups(quotas: Sequence[FlavorQuota]) -> list[Object]:
    """The one group of these quotas; none without any."""
    if not quotas:
        return []
    flavors = [
        {"name": quota.flavor, "resources": [{"name": quota.resource, "nominalQuota": canonical(quota.nominal)}]}
        for quota in quotas
    ]
    return [{"coveredResources": sorted({quota.resource for quota in quotas}), "flavors": flavors}]


def checks_strategy(checks: Iterable[str]) -> Object:
    """The checks that every Workload of the queue must pass."""
    return {"admissionChecks": [{"name": name} for name in checks]}
