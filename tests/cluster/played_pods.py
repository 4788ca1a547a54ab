"""The Pods of played machines: bound ones run at once, end when they are to, and go when they are deleted.

Which machines speak is not known here. No container is started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.cluster.api import STRATEGIC, Api, ApiError
from tests.cluster.errands import PASSED, Errands
from tests.cluster.statuses import finished, running

Object = dict[str, Any]

PODS: Final = "/api/v1/pods"
FINISH_AFTER: Final = "testbed/finish-after-seconds"
"""An annotation on a Pod: how long its container takes to succeed. Without it the container runs until it is deleted."""


class PodPlayer:
    """What kubelets do about Pods; `speaks` says of a Node's name whether its kubelet does anything."""

    def __init__(self, api: Api, errands: Errands, speaks: Callable[[str], bool]) -> None:
        self._api = api
        self._errands = errands
        self._speaks = speaks
        self._handled: dict[str, str] = {}

    def see(self, kind: str, pod: Object) -> None:
        """An event of the watch; from one thread."""
        metadata = pod["metadata"]
        uid = metadata["uid"]
        if kind == "DELETED":
            self._handled.pop(uid, None)
            return
        if not self._speaks(pod["spec"].get("nodeName", "")):
            return
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        if metadata.get("deletionTimestamp"):
            if self._handled.get(uid) != "deleted":
                self._handled[uid] = "deleted"
                self._errands.insist(lambda: delete(self._api, path, uid=uid))
        elif pod.get("status", {}).get("phase", "Pending") == "Pending" and uid not in self._handled:
            self._handled[uid] = "running"
            self._errands.insist(lambda: self._run(path, pod))

    def _run(self, path: str, pod: Object) -> None:
        self._api.patch(f"{path}/status", {"status": running(pod)}, STRATEGIC)
        seconds = pod["metadata"].get("annotations", {}).get(FINISH_AFTER)
        if seconds is not None:
            self._errands.after(float(seconds), lambda: self._errands.insist(lambda: self._finish(path, pod)))

    def _finish(self, path: str, pod: Object) -> None:
        self._api.patch(f"{path}/status", {"status": finished(pod)}, STRATEGIC)


def delete(api: Api, path: str, *, uid: str = "") -> None:
    """At once, as a kubelet does. What is gone already, or is another by now, is left."""
    options: Object = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    if uid:
        options["preconditions"] = {"uid": uid}
    try:
        api.delete(path, options)
    except ApiError as error:
        if error.status not in PASSED:
            raise
