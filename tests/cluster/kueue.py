"""What Kueue needs to run outside a cluster: a configuration, its CRDs, and webhooks that point at a local process.

CRDs and webhooks are those of Kueue's own module. A given configuration keeps what it says about scheduling; what is about
the process (ports, certificates, election) is the testbed's.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from tests.cluster.binaries import write_whole
from tests.cluster.errors import ClusterError
from tests.cluster.layout import (
    KUEUE_HEALTH_PORT,
    KUEUE_METRICS_PORT,
    KUEUE_NAMESPACE,
    KUEUE_WEBHOOK_PORT,
    REPOSITORY,
    SYSTEM_NAMESPACE,
    cache_home,
)

GROUP_VERSION: Final = "kueue.x-k8s.io/v1beta2"

FRAMEWORKS: Final = {
    "batch/job": ("-batch-v1-job",),
    "pod": ("--v1-pod",),
    "deployment": ("-apps-v1-deployment",),
    "statefulset": ("-apps-v1-statefulset",),
}
"""Frameworks whose kinds a bare cluster has, and the ends of their webhooks' paths; the others want CRDs of their own."""

_OWN_WEBHOOKS: Final = "-kueue-x-k8s-io-"
_NAME_OF_NAMESPACE: Final = "kubernetes.io/metadata.name"
_UNTOUCHED_NAMESPACES: Final = ("kube-system", KUEUE_NAMESPACE, SYSTEM_NAMESPACE)

Object = dict[str, Any]


def shipped_configuration() -> Object:
    """What `engine plan --show kueue-configuration` prints for the shipped rules. Raises ClusterError."""
    # reading and linking all rules takes longer than starting etcd, and competes with the API server for the processor
    kept = cache_home() / f"kueue-configuration-{_rules_digest()}.json"
    if kept.exists():
        read: Object = json.loads(kept.read_text("utf-8"))
        return read
    from engine.sections.resources import Transformation, resource_names
    from engine.worker.render.kueue_configuration import kueue_configuration
    from tests.cluster.rules import shipped_program

    program = shipped_program()
    transformations: list[Transformation] = []
    for maker in program.makers:
        answer = resource_names(program, maker)
        if answer.value is None:
            raise ClusterError(f"the rules do not say the resource names of {maker}: {answer}")
        transformations += answer.value.transformations
    made: Object = kueue_configuration(transformations, SYSTEM_NAMESPACE)
    write_whole(kept, json.dumps(made))
    return made


def process_configuration(configuration: Object, certificates: Path) -> Object:
    """The configuration with which the process is started here. Shape: `certificates` holds tls.crt and tls.key."""
    frameworks = configuration.get("integrations", {}).get("frameworks", [])
    return configuration | {
        "namespace": configuration.get("namespace", KUEUE_NAMESPACE),
        "clientConnection": {"qps": 200, "burst": 400},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{KUEUE_HEALTH_PORT}"},
        "metrics": configuration.get("metrics", {}) | {"bindAddress": f"127.0.0.1:{KUEUE_METRICS_PORT}"},
        "webhook": {"port": KUEUE_WEBHOOK_PORT, "host": "127.0.0.1", "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "integrations": configuration.get("integrations", {})
        | {"frameworks": [name for name in frameworks if name in FRAMEWORKS] or list(FRAMEWORKS)},
        # the visibility server wants a certificate at a second fixed path, and nothing here asks it anything
        "featureGates": configuration.get("featureGates", {}) | {"VisibilityOnDemand": False},
    }


def local_webhooks(published: list[Object], bundle: str, configuration: Object) -> list[Object]:
    """Kueue's webhook configurations for a process on this machine. Shape: `bundle` is a base64 certificate."""
    frameworks = configuration["integrations"]["frameworks"]
    ends = tuple(end for name in frameworks for end in FRAMEWORKS.get(name, ()))
    made: list[Object] = []
    for each in published:
        hooks = [hook for old in each["webhooks"] if (hook := _local(old, bundle, ends)) is not None]
        made.append({**each, "metadata": {"name": f"kueue-{each['metadata']['name']}"}, "webhooks": hooks})
    return made


def _rules_digest() -> str:
    """Of everything that the answer can depend on: the rules, and the engine's code."""
    digest = hashlib.sha256()
    for folder, kind in (("rules", "*.yaml"), ("engine", "*.py")):
        for file in sorted((REPOSITORY / folder).rglob(kind)):
            digest.update(f"{file}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _local(hook: Object, bundle: str, ends: tuple[str, ...]) -> Object | None:
    path = hook["clientConfig"]["service"]["path"]
    is_own = _OWN_WEBHOOKS in path
    if not is_own and not path.endswith(ends):
        return None
    url = f"https://127.0.0.1:{KUEUE_WEBHOOK_PORT}{path}"
    local = {**hook, "clientConfig": {"url": url, "caBundle": bundle}}
    return local if is_own else {**local, "namespaceSelector": _elsewhere()}


def _elsewhere() -> Object:
    return {
        "matchExpressions": [
            {"key": _NAME_OF_NAMESPACE, "operator": "NotIn", "values": list(_UNTOUCHED_NAMESPACES)},
        ]
    }
