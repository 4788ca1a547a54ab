"""Whose credentials a measured process has: a ServiceAccount's token, as in a Pod.

The administrator's client certificate would be verified anew for each request, which is a tenth of what a write costs an API
server; a token is verified once and remembered.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.cluster.cluster import Cluster

_NAMESPACE: Final = "default"
_NAME: Final = "bench"


def account(cluster: Cluster) -> Path:
    """A kubeconfig of an account that may do everything: rights are not what is measured."""
    cluster.kubectl("create", "serviceaccount", _NAME, f"--namespace={_NAMESPACE}")
    subject = f"--serviceaccount={_NAMESPACE}:{_NAME}"
    cluster.kubectl("create", "clusterrolebinding", _NAME, "--clusterrole=cluster-admin", subject)
    return cluster.account_kubeconfig(_NAMESPACE, _NAME)
