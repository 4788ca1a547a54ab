"""Kueue's Configuration: what the chain needs of the Kueue that it runs with.

What turns requests into credits is the `resources` section's; the rest is the same everywhere. The objects are nobody's to write
here: an admin, or the chart, gives the text to Kueue's manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from engine.sections.resources import Transformation

Object = dict[str, Any]

API_VERSION: Final = "config.kueue.x-k8s.io/v1beta2"
FRAMEWORKS: Final = (
    "batch/job",
    "kubeflow.org/mpijob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "kubeflow.org/jaxjob",
    "trainer.kubeflow.org/trainjob",
    "ray.io/rayjob",
    "ray.io/raycluster",
    "jobset.x-k8s.io/jobset",
    "workload.codeflare.dev/appwrapper",
    "pod",
    "deployment",
    "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
)
"""Source: specification 20 §5.8, in the spelling of Kueue 0.19."""
FEATURE_GATES: Final[Mapping[str, bool]] = {
    "AssignQueueLabelsForPods": False,
    "QuotaCheckStrategy": True,
    "TASBalancedPlacement": True,
    "TASRespectNodeAffinityPreferred": True,
    "TopologyAwareScheduling": True,
}
"""Source: specification 20 §5.8."""


def kueue_configuration(transformations: Iterable[Transformation], namespace: str) -> Object:
    """The Configuration for these transformations, and for a Kueue and a worker in this namespace."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "Job.batch": 5,
                "Pod": 5,
                "Workload.kueue.x-k8s.io": 5,
                "LocalQueue.kueue.x-k8s.io": 1,
                "ClusterQueue.kueue.x-k8s.io": 1,
                "ResourceFlavor.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": 50, "burst": 100},
        # Kueue does not start when it would manage itself.
        "managedJobsNamespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", *([namespace] if namespace != "kube-system" else [])],
                }
            ]
        },
        "integrations": {"frameworks": list(FRAMEWORKS)},
        "resources": {
            "quotaCheckStrategy": "IgnoreUndeclared",
            "transformations": [_transformation(each) for each in transformations],
        },
        "featureGates": dict(FEATURE_GATES),
    }


def _transformation(each: Transformation) -> Object:
    entry: Object = {"input": each.input, "strategy": "Replace"}
    if each.multiply_by:
        entry["multiplyBy"] = each.multiply_by
    # Quantities are texts: a reader of YAML in between may turn 1600000 into 1.6e+06.
    return {**entry, "outputs": {name: str(amount) for name, amount in each.outputs}}
