"""The walkthrough as the golden files have it, read as a live cluster: what is behind a type, without any server.

No assertions here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from engine.api.devices import Devices
from engine.chain.pools import PoolView
from engine.chain.types import MadeType
from engine.cluster.objects import Node, Owned
from engine.worker.asking import Keys, seen_node
from engine.worker.cards import read_cards
from engine.worker.controllers.instancetype import TypeNeighbourhood
from engine.worker.controllers.instancetypestatus import StatusNeighbourhood
from engine.worker.fleet import Fleet
from engine.worker.inforce import InForce
from engine.worker.making import Making
from tests.golden.objects import read
from tests.unit.chain.shipped import walkthrough
from tests.unit.features.world import program

GENERIC = "gpustack--generic-linux-amd64"
A10G = "gpustack--nvidia-a10g-linux-amd64"
T4 = "gpustack--nvidia-tesla-t4-linux-amd64"
THREE = (GENERIC, A10G, T4)
CUSTOM = "a10g-12c128g"
CUSTOM_SPEC = {
    "acceleratable": True,
    "acceleratorGroup": "nvidia-a10g",
    "generalGroup": "generic",
    "os": "linux",
    "arch": "amd64",
    "unitResources": {"cpu": "12", "ram": "128Gi"},
    "localStorage": "200Gi",
}
FINALIZER = "gpustack.ai/controlled"
DELETED = "2026-11-29T12:00:00Z"
SETTINGS = InForce(program(), {}).settings
ACTIVE = {"type": "Active", "status": "True", "reason": "Ready", "message": "Can admit new workloads"}


def making() -> Making:
    return Making(InForce(program(), {}))


@cache
def fleet() -> Fleet:
    """The four nodes with their cards, and the three types."""
    made = Fleet(program(), SETTINGS)
    keys = made.asker.keys
    cards = {each["metadata"]["name"]: read_cards(msgspec.convert(each, Devices)) for each in read("devices.yaml")}
    for body in read("nodes.yaml"):
        name = body["metadata"]["name"]
        # The CPU's vendor is in NodeFeatures, which a Node's golden file does not have.
        made.put(seen_node(msgspec.convert(body, Node), keys, walkthrough()[name].cpu, cards.get(name)))
    for name in (*THREE, CUSTOM):
        made.supply.put_type(name, making().selector(live_type(name), keys))
    return made


def keys() -> Keys:
    return fleet().asker.keys


def golden(file: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in read(file) if each["metadata"]["name"] == name)
    return found


def owned(body: dict[str, Any], **metadata: Any) -> Owned:
    given = {"uid": "u", "resourceVersion": "7", **body["metadata"], **metadata}
    return msgspec.convert({**body, "metadata": given}, Owned)


def live_type(name: str, **metadata: Any) -> Owned:
    """A type as it stands once it is well, without its status."""
    if name == CUSTOM:
        body = {"metadata": {"name": name}, "spec": CUSTOM_SPEC}
    else:
        body = {key: part for key, part in golden("instancetypes.yaml", name).items() if key != "status"}
    return owned(body, **{"finalizers": [FINALIZER], **metadata})


def live_queue(name: str, *, spec: dict[str, Any] | None = None, status: Any = None, **metadata: Any) -> Owned:
    """A queue as it stands once it is filled and open; parts of its spec may be others."""
    body = golden("clusterqueues.yaml", name)
    conditions = {"conditions": [{**ACTIVE, "observedGeneration": 1}]}
    return owned(
        {**body, "spec": {**body["spec"], **(spec or {})}, "status": status or conditions},
        **{"generation": 1, **metadata},
    )


def around(live: Owned, queue: Owned | None = None) -> TypeNeighbourhood:
    made, refusal = making().made(live)
    return TypeNeighbourhood(keys(), live, made, refusal, queue)


def behind(live: Owned, queue: Owned | None, **parts: Any) -> StatusNeighbourhood:
    name = live.metadata.name
    made, refusal = making().made(live)
    given = {
        "entrance": made.entrance.name if made else "",
        "feeding": fleet().supply.feeding(name),
        "tally": fleet().supply.tally(name),
        "settings": SETTINGS,
        "refusal": refusal.message if refusal else "",
    }
    return StatusNeighbourhood(live=live, queue=queue, **{**given, **parts})


def pool(name: str) -> PoolView:
    found = fleet().supply.pool(name)
    assert found is not None
    return found


def derived(name: str) -> MadeType:
    made, condition = making().derived(pool(name))
    assert made is not None, condition
    return made
