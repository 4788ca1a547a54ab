"""CustomResourceDefinitions: made and aligned on boot; while the worker runs only an absent one is made again.

Ours are aligned; those of node features belong to whoever was first and are only made where they are absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.api.crd import crd_documents, worker_crds
from engine.cluster.actions import Action, Apply, Create
from engine.cluster.objects import Object
from engine.cluster.resources import CRDS

MANAGER: Final = "engine-crd"

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CrdNeighbourhood:
    """One definition and whether it is there."""

    document: Document
    live: Object | None


def plan(seen: CrdNeighbourhood) -> list[Action]:
    """Repairs absence, never a difference: another release of Engine may be running beside this one."""
    return [Create(CRDS, seen.document, MANAGER)] if seen.live is None else []


def align() -> list[Action]:
    """Everything on boot, in a fixed order."""
    ours = worker_crds()
    names = {name_of(each) for each in ours}
    return [
        *(Apply(CRDS, each, MANAGER) for each in ours),
        *(Create(CRDS, each, MANAGER) for each in crd_documents() if name_of(each) not in names),
    ]


def documents() -> dict[str, Document]:
    """All definitions that the worker brings, by name."""
    return {name_of(each): each for each in crd_documents()}


def name_of(document: Document) -> str:
    """The name of a definition."""
    name: str = document["metadata"]["name"]
    return name
