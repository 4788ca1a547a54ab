"""The Devices of played machines: what their device managers write, as soon as the kind is served.

The worker brings the kind. One question at a time asks for it, however many machines wait: a question a machine would be
half of what the API server has to do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from tests.cluster.api import Api, ApiError
from tests.cluster.errands import LOST, RETRY_SECONDS, Errands

Object = dict[str, Any]

_GROUP: Final = "worker.gpustack.ai"
_VERSIONS: Final = ("v1", "v1alpha1")


@dataclass(frozen=True, slots=True)
class Publication:
    """Devices of one machine. Shape: `is_wanted` is false once the machine was taken out."""

    manifest: Object
    is_wanted: Callable[[], bool]


class DevicesPublisher:
    """Writes Devices now or later; every call may come from any thread."""

    def __init__(self, api: Api, errands: Errands) -> None:
        self._api = api
        self._errands = errands
        self._lock = threading.Lock()
        self._waiting: list[Publication] = []
        self._version = ""

    def publish(self, publication: Publication) -> None:
        """Returns when they are written, or when they wait for their kind."""
        with self._lock:
            version = self._version
            if not version:
                is_first = not self._waiting
                self._waiting.append(publication)
        if version:
            self._write(publication, version)
        elif is_first:
            self._look()

    def _look(self) -> None:
        """Again and again while somebody waits."""
        version = self._served()
        if not version:
            self._errands.after(RETRY_SECONDS, self._look)
            return
        with self._lock:
            self._version, waiting, self._waiting = version, self._waiting, []
        for each in waiting:
            self._errands.ask(self._write, each, version)

    def _served(self) -> str:
        """The version in which the kind is served; empty while it is not."""
        for version in _VERSIONS:
            with suppress(ApiError, *LOST):
                found = self._api.get(f"/apis/{_GROUP}/{version}")
                if any(each["name"] == "devices" for each in found["resources"]):
                    return version
        return ""

    def _write(self, publication: Publication, version: str) -> None:
        if not publication.is_wanted():
            return
        collection = f"/apis/{_GROUP}/{version}/devices"
        manifest = publication.manifest | {"apiVersion": f"{_GROUP}/{version}"}
        try:
            self._api.make_or_patch(collection, manifest)
            path = f"{collection}/{manifest['metadata']['name']}/status"
            self._api.patch(path, {"status": manifest["status"]})
        except (ApiError, *LOST):
            # The kind may be gone again, or the server away: from the beginning.
            with self._lock:
                self._version = ""
            self._errands.after(RETRY_SECONDS, lambda: self.publish(publication))
