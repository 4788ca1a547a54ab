"""ResourceFlavors: one for each kind of node that Nodes contribute to, and none without a contributor.

What a flavor says is the chain's. Its spec cannot change once it is there: a difference is told, never written over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from engine.chain.fields import FlavorFields
from engine.cluster.actions import Action, Apply, Delete, EmitEvent, reference
from engine.cluster.objects import Owned
from engine.cluster.resources import RESOURCE_FLAVORS, key_of
from engine.worker.asking import Keys
from engine.worker.render.resourceflavor import resource_flavor

MANAGER: Final = "engine-flavor"
UNPROFILED_SECONDS: Final = 10.0
"""How long a flavor waits for Nodes that may still get its profile. Source: specification 20 §4.3."""

_PARTS: Final = ("nodeLabels", "nodeTaints", "tolerations", "topologyName")


@dataclass(frozen=True, slots=True)
class FlavorNeighbourhood:
    """One flavor.

    Shape: `wanted` is what Nodes come to, None when none contributes; `unprofiled` are Nodes that may contribute once they
    carry a profile; `untold` is what rules could not tell, and then nothing is taken for absent.
    """

    name: str
    keys: Keys
    wanted: FlavorFields | None = None
    live: Owned | None = None
    unprofiled: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def plan(seen: FlavorNeighbourhood) -> list[Action]:
    """What one flavor needs now."""
    if seen.live is not None and seen.live.metadata.deletion_timestamp:
        # Kueue holds it while a queue uses it; made anew once it is gone.
        return []
    if seen.wanted is None:
        return _retire(seen)
    body = resource_flavor(seen.wanted, seen.keys.note)
    if seen.live is not None and _spec(seen.live.spec) != _spec(body["spec"]):
        return _drift(seen.live, body["spec"], seen.keys)
    return [Apply(RESOURCE_FLAVORS, body, MANAGER)]


def again_after_seconds(seen: FlavorNeighbourhood) -> float | None:
    """When to look again though nothing has changed."""
    return UNPROFILED_SECONDS if seen.wanted is None and seen.live is not None and seen.unprofiled else None


def is_ours(live: Owned, keys: Keys) -> bool:
    """Made from nodes; any other flavor is a person's."""
    return live.metadata.labels.get(keys.type) == keys.type_nodes


def _retire(seen: FlavorNeighbourhood) -> list[Action]:
    if seen.live is None or not is_ours(seen.live, seen.keys) or seen.unprofiled or seen.untold:
        return []
    return [Delete(RESOURCE_FLAVORS, key_of(seen.live), uid=seen.live.metadata.uid)]


def _drift(live: Owned, wanted: dict[str, Any], keys: Keys) -> list[Action]:
    if is_ours(live, keys) and _mixed(live.spec, keys) == _mixed(wanted, keys):
        # The setting about mixing has changed, and that is in the selector: it is made anew.
        return [Delete(RESOURCE_FLAVORS, key_of(live), uid=live.metadata.uid)]
    note = (
        f'managed ResourceFlavor "{live.metadata.name}" has immutable topology drift; create fresh scheduling objects'
    )
    return [EmitEvent(reference(RESOURCE_FLAVORS, live), "FlavorDrift", note, "SyncFlavor", "Warning")]


def _spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: spec[name] for name in _PARTS if spec.get(name)}


def _mixed(spec: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """The spec without the selector that keeps CPU Pods off nodes with cards."""
    labels = {key: value for key, value in spec.get("nodeLabels", {}).items() if key != keys.cpu_only}
    return {**_spec(spec), "nodeLabels": labels}
