"""ClusterQueue: the quota behind one InstanceType.

What it is created with is the `queue` section's, quotas are `quota`'s; where it is in its life is the state machine's.
"""

from __future__ import annotations

from typing import Any

from engine.chain.fields import QueueFields
from engine.domain.queue_state import MARKERS
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
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in state.checks]}
    if state.groups:
        spec["resourceGroups"] = [_group(queue)]
    return manifest(KUEUE, "ClusterQueue", queue.name, labels=queue.labels, annotations=annotations, spec=spec)


def _group(queue: QueueFields) -> dict[str, Any]:
    return {
        "coveredResources": sorted({quota.resource for quota in queue.state.groups}),
        "flavors": [
            {
                "name": quota.flavor,
                "resources": [{"name": quota.resource, "nominalQuota": canonical(quota.nominal)}],
            }
            for quota in queue.state.groups
        ],
    }
