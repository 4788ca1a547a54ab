"""How a kind is served: names, scope, versions, the columns of its table.

What is in its objects is the struct's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from engine.api.base import Fields

WORKER_GROUP: Final = "worker.gpustack.ai"
STORED: Final = "v1alpha1"
SERVED: Final = "v1"
"""With one schema. Clients prefer it, so its table is what `kubectl get` shows."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; a wide one is shown by `-o wide` only."""

    name: str
    path: str
    description: str
    type: str = "string"
    is_wide: bool = False


AGE: Final = Column("Age", ".metadata.creationTimestamp", "Time since the object was made.", type="date")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. The first version is the stored one."""

    kind: str
    plural: str
    struct: type[Fields]
    is_namespaced: bool = False
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    has_status: bool = True
    group: str = WORKER_GROUP
    versions: tuple[str, ...] = (STORED, SERVED)
    categories: tuple[str, ...] = ("gpustack",)

    @property
    def name(self) -> str:
        """The name of its CustomResourceDefinition."""
        return f"{self.plural}.{self.group}"

    @property
    def api_version(self) -> str:
        """The version we write."""
        return f"{self.group}/{self.versions[-1]}"

    def manifest(self, thing: Fields) -> dict[str, Any]:
        """The object as JSON, ready to be sent. Shape: maps and lists only, in the struct's order."""
        made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(thing))
        return {"apiVersion": self.api_version, "kind": self.kind, **made}
