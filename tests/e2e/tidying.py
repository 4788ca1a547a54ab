"""A cluster as if no worker had ever led in it: what tests before have left behind goes.

No worker may run meanwhile. Definitions stay, and so does what is not ours.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Final

from tests.cluster.api import Api, ApiError
from tests.e2e.waiting import eventually

SYSTEM: Final = "gpustack-system"
_WORKER: Final = "/apis/worker.gpustack.ai/v1"
_KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
_CORE: Final = f"/api/v1/namespaces/{SYSTEM}"
_COLLECTIONS: Final = (
    f"{_WORKER}/instancetypes",
    f"{_KUEUE}/clusterqueues",
    f"{_KUEUE}/resourceflavors",
    f"{_KUEUE}/topologies",
    f"{_WORKER}/instancetypeflavors",
    f"{_WORKER}/rulepacks",
    f"{_WORKER}/devices",
    f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{SYSTEM}/nodefeatures",
    "/api/v1/nodes",
)
"""In the order in which they go: who refers to a thing goes before it."""
_PUBLISHED: Final = "worker.gpustack.ai/published=program"


def tidy(api: Api) -> None:
    """Returns once everything is gone."""
    for collection in _COLLECTIONS:
        for name in names(api, collection):
            with suppress(ApiError):
                if collection.startswith(_WORKER):
                    # Whoever would let go of it does not run.
                    api.patch(f"{collection}/{name}", {"metadata": {"finalizers": None}})
                api.delete(f"{collection}/{name}")
    for name in names(api, f"{_CORE}/configmaps", labelSelector=_PUBLISHED):
        api.delete(f"{_CORE}/configmaps/{name}")
    for path in (
        f"{_CORE}/secrets/gpustack-settings",
        f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/worker.gpustack.ai",
    ):
        with suppress(ApiError):
            api.delete(path)
    for collection in _COLLECTIONS:
        eventually(partial(_is_empty, api, collection), 30, what=f"{collection} is empty")


def _is_empty(api: Api, collection: str) -> bool:
    return not names(api, collection)


def names(api: Api, collection: str, **query: str) -> list[str]:
    """The names of what is there; a kind that is not served has none."""
    try:
        return [each["metadata"]["name"] for each in api.get(collection, **query)["items"]]
    except ApiError as error:
        if error.status == 404:
            return []
        raise
