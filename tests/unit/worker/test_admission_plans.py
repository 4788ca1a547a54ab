"""What the check of devices writes into a Workload, and which nodes a flavor means: values in, values out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.api.devices import Devices
from engine.cluster.actions import Apply
from engine.cluster.cache import Cache
from engine.cluster.objects import Broken, Node, Owned
from engine.cluster.resources import HasMeta, ObjectKey
from engine.domain.gate import Verdict
from engine.domain.room import Scope
from engine.errors import EvaluationError
from engine.worker.admission.pools import Pools
from engine.worker.admission.vocabulary import Vocabulary
from engine.worker.admission.workload import READ_WORKLOADS, Workload
from engine.worker.controllers.nodedevices import MANAGER, JudgedWorkload, plan
from tests.unit.features.world import program

OURS = "gpustack-node-devices"
YES, NO = Verdict(is_ready=True, message="yes"), Verdict(is_ready=False, message="no")
CARD = "acceleratable.feature.gpustack.ai/nvidia-a10g"


def check(state: str, message: str = "", name: str = OURS, **more: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "message": message, "lastTransitionTime": "before", **more}


def entries(verdict: Verdict, *checks: dict[str, Any], ours: tuple[str, ...] = (OURS,)) -> list[dict[str, Any]] | None:
    """The entries that are written; None when nothing is."""
    metadata = {"name": "w", "namespace": "n", "resourceVersion": "7"}
    workload = msgspec.convert({"metadata": metadata, "status": {"admissionChecks": checks}}, Workload)
    actions = plan(JudgedWorkload(workload, ours, verdict, "now"))
    if not actions:
        return None
    (action,) = actions
    assert isinstance(action, Apply)
    assert action.body["metadata"] == metadata
    assert (action.resource, action.manager, action.subresource) == (READ_WORKLOADS, MANAGER, "status")
    found: list[dict[str, Any]] = action.body["status"]["admissionChecks"]
    return found


def test_a_verdict_names_our_check_and_no_other() -> None:
    other = check("Pending", name="other")
    assert entries(YES, other, check("Pending")) == [
        {"name": OURS, "state": "Ready", "message": "yes", "lastTransitionTime": "now"}
    ]
    assert entries(NO, check("Pending"), other) == [
        {"name": OURS, "state": "Retry", "message": "no", "lastTransitionTime": "now", "requeueAfterSeconds": 30}
    ]


@pytest.mark.parametrize(
    ("verdict", "live"),
    [
        (YES, check("Ready", "yes")),
        (YES, check("Ready", "yes", requeueAfterSeconds=30)),
        (NO, check("Retry", "no", requeueAfterSeconds=30)),
    ],
)
def test_what_is_said_already_is_not_said_again(verdict: Verdict, live: dict[str, Any]) -> None:
    assert entries(verdict, live) is None


def test_a_state_that_stays_keeps_its_time() -> None:
    (said,) = entries(NO, check("Retry", "something else", requeueAfterSeconds=30)) or ()
    assert (said["message"], said["lastTransitionTime"]) == ("no", "before")
    (said,) = entries(NO, check("Retry", "no")) or ()
    assert said["requeueAfterSeconds"] == 30


def test_all_checks_of_ours_are_answered_when_one_differs() -> None:
    both = (check("Ready", "yes"), check("Pending", name="second"))
    assert [each["name"] for each in entries(YES, *both, ours=(OURS, "second")) or ()] == [OURS, "second"]
    assert entries(YES, *both) is None


def cached(cache: Cache[Any], struct: type[HasMeta], name: str, version: str = "1", **parts: Any) -> Any:
    labels = parts.pop("labels", {})
    metadata = {"name": name, "resourceVersion": version, "labels": labels}
    thing = msgspec.convert({"metadata": metadata, **parts}, struct)
    cache.put(thing)
    return thing


class World:
    def __init__(self) -> None:
        self.devices: Cache[Devices] = Cache()
        self.nodes: Cache[Node] = Cache()
        self.flavors: Cache[Owned] = Cache()
        words = Vocabulary(program())
        self.pools = Pools(self.devices, self.nodes, self.flavors, lambda: words)

    def node(self, name: str, version: str = "1", cards: int = 1, **labels: str) -> None:
        accelerators = [{"id": f"{name}-{at}", "index": at} for at in range(cards)]
        spec = {"groups": [{"id": "a10g", "manufacturer": "nvidia", "accelerators": accelerators}]}
        known = labels | {CARD: "true"}
        cached(self.nodes, Node, name)
        self.pools.take(name, cached(self.devices, Devices, name, version, labels=known, spec=spec))

    def flavor(self, name: str, **labels: str) -> None:
        cached(self.flavors, Owned, name, spec={"nodeLabels": labels})

    def reach(self, flavor: str) -> list[str]:
        return list(self.pools.reach(flavor))


def test_a_flavor_reaches_the_nodes_with_its_labels_whatever_their_number_of_cards() -> None:
    world = World()
    world.flavor("f", **{CARD: "true", f"{CARD}.count": "4", "arch": "amd64"})
    for name, arch in (("b", "amd64"), ("a", "amd64"), ("c", "arm64")):
        world.node(name, arch=arch)
    assert world.reach("f") == ["a", "b"]
    world.node("b", "2", arch="arm64")
    world.node("c", "2", arch="amd64")
    world.pools.take("a", None)
    assert world.reach("f") == ["c"]


def test_a_flavor_that_is_not_known_yet_is_no_empty_pool() -> None:
    with pytest.raises(EvaluationError, match="ResourceFlavor f is not known yet"):
        World().reach("f")


@pytest.mark.parametrize(
    ("labels", "scope"),
    [
        ({CARD: "true"}, Scope("nvidia-a10g")),
        ({CARD: "true", f"{CARD}.count": "4"}, Scope("nvidia-a10g", 4)),
        ({CARD: "true", f"{CARD}.count": "0"}, Scope("nvidia-a10g", 0)),
        ({CARD: "true", f"{CARD}.count": "many"}, Scope("nvidia-a10g", 0)),
        ({CARD: "false"}, Scope("")),
        ({CARD: "true", f"{CARD}-24g": "true"}, Scope("")),
        ({}, Scope("")),
    ],
)
def test_the_cards_of_a_flavor_are_those_of_its_only_key(labels: dict[str, str], scope: Scope) -> None:
    world = World()
    world.flavor("f", **labels)
    assert world.pools.scope("f") == scope


def test_cards_are_read_once_a_version_and_not_of_what_cannot_be_read_or_has_gone() -> None:
    world = World()
    world.node("a", cards=2)
    first = world.pools.cards("a")
    assert first.groups[0].count == 2
    assert world.pools.cards("a") is first
    world.node("a", "2", cards=1)
    assert world.pools.cards("a").groups[0].count == 1
    world.devices.broken[ObjectKey("", "a")] = Broken("a")
    assert world.pools.cards("a").groups == ()
    del world.devices.broken[ObjectKey("", "a")]
    world.nodes.remove(ObjectKey("", "a"))
    assert world.pools.cards("a").groups == ()
    assert world.pools.cards("b").groups == ()
