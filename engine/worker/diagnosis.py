"""What is missing in the chain of a cluster, and why: link by link for each pool, from a recording alone.

A pool's links: nodes, flavors, type, queue, entrances. The plan of the recording says what should be there; what is there
says the rest. Looks at no cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.chain.chain import Chain
from engine.chain.node import NodePlan, NodeProgram
from engine.chain.plan import plan
from engine.cluster.objects import Lease, Owned
from engine.cluster.resources import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    INSTANCE_TYPES,
    LEASES,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    Resource,
)
from engine.worker.asking import Keys
from engine.worker.options import LEASE
from engine.worker.reading.queue import ACTIVE, TOPOLOGY_READY, condition
from engine.worker.recorded import Recorded, active_checks, changes

_OPEN: Final = ("", "None")


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One pool. Shape: `flavors` and `entrances` are (there, wanted); `missing` are sentences, the first link first."""

    name: str
    nodes: int
    flavors: tuple[int, int]
    entrances: tuple[int, int]
    phase: str
    stop_policy: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """A cluster. Shape: `idle` are nodes that feed no pool, with the reason; `notes` what people should know besides."""

    worker: str
    pools: tuple[PoolStatus, ...]
    idle: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Nothing is missing in any pool."""
        return not any(each.missing for each in self.pools)


def diagnose(recorded: Recorded, program: NodeProgram) -> Status:
    """What is missing. Raises: InputError, UsageError: the recording cannot be planned."""
    checks = active_checks(recorded)
    chain = plan(changes(recorded, program), program, namespaces=(), active_checks=checks)
    keys = Keys.of(program.block("constants"))
    seen = _Seen(recorded)
    feeding = _feeding(chain)
    names = sorted({each.name for each in chain.types()} | seen.types.keys())
    return Status(
        worker=_worker(recorded),
        pools=tuple(_pool(name, chain, seen, feeding.get(name, frozenset())) for name in names),
        idle=tuple(_idle(chain, keys)),
        notes=tuple(_notes(chain, checks, keys)),
    )


class _Seen:
    """What is there, by name."""

    def __init__(self, recorded: Recorded) -> None:
        self.flavors = _by_name(recorded, RESOURCE_FLAVORS)
        self.types = _by_name(recorded, INSTANCE_TYPES)
        self.queues = _by_name(recorded, CLUSTER_QUEUES)
        self.checks = _by_name(recorded, ADMISSION_CHECKS)
        self.doors = {
            (each.metadata.namespace, each.metadata.name): str(each.spec.get("clusterQueue", ""))
            for each in recorded.of(LOCAL_QUEUES, Owned)
        }


def _pool(name: str, chain: Chain, seen: _Seen, flavors: frozenset[str]) -> PoolStatus:
    live, queue = seen.types.get(name), seen.queues.get(name)
    wanted_doors = [each for each in chain.local_queues() if each.queue == name]
    doors = [each for each in wanted_doors if seen.doors.get((each.namespace, each.name)) == name]
    there = flavors & seen.flavors.keys()
    missing = [
        *(f"ResourceFlavor {each} is not there: {_unmade()}" for each in sorted(flavors - there)),
        *_type(name, live),
        *_queue(name, queue, flavors, seen),
    ]
    if queue is not None:
        made = {(each.namespace, each.name) for each in doors}
        missing += [
            f"LocalQueue {each.namespace}/{each.name} is not there: {_unmade()}"
            for each in wanted_doors
            if (each.namespace, each.name) not in made
        ]
    nodes = sum(each.nodes for each in chain.flavors() if each.name in flavors)
    return PoolStatus(
        name=name,
        nodes=nodes,
        flavors=(len(there), len(flavors)),
        entrances=(len(doors), len(wanted_doors)),
        phase=str(live.status.get("phase", "")) if live else "",
        stop_policy=str(queue.spec.get("stopPolicy", "None")) if queue else "",
        missing=tuple(missing),
    )


def _type(name: str, live: Owned | None) -> Iterator[str]:
    if live is None:
        yield f"InstanceType {name} is not there: {_unmade()}"
    elif live.metadata.deletion_timestamp:
        yield f"InstanceType {name} is being deleted: it goes when its queue has drained"
    elif live.status.get("phase") == "Inactive" and not live.spec.get("inactive"):
        why = live.status.get("phaseMessage") or "it gives no reason"
        yield f"InstanceType {name} is Inactive: {why}"


def _queue(name: str, queue: Owned | None, flavors: frozenset[str], seen: _Seen) -> Iterator[str]:
    if queue is None:
        yield f"ClusterQueue {name} is not there: {_unmade()}"
        return
    if not flavors:
        yield f"ClusterQueue {name} admits nothing: no managed node of its pool is there"
        return
    ready = condition(queue, TOPOLOGY_READY)
    if ready.get("status") not in ("True", None):
        yield f"ClusterQueue {name} keeps its last plan: {ready.get('reason')}: {ready.get('message')}"
    policy = str(queue.spec.get("stopPolicy", ""))
    if policy not in _OPEN:
        yield f"ClusterQueue {name} is stopped: {_stopped(policy, queue, seen.types.get(name))}"
        return
    active = condition(queue, ACTIVE)
    if active.get("status") != "True":
        why = (
            f"{active.get('reason')}: {active.get('message')}" if active else "Kueue has not looked at it: is it there?"
        )
        yield f"ClusterQueue {name} is not active: {why}"
    for each in ((queue.spec.get("admissionChecksStrategy") or {}).get("admissionChecks")) or ():
        check = seen.checks.get(each["name"])
        if check is None or condition(check, ACTIVE).get("status") != "True":
            yield f"AdmissionCheck {each['name']} is not active: the worker that answers it does not run"


def _stopped(policy: str, queue: Owned, live: Owned | None) -> str:
    if live is not None and live.spec.get("inactive"):
        return f"{policy}, because spec.inactive of its InstanceType is true"
    notes = queue.metadata.annotations
    phase = next((text for key, text in notes.items() if key.endswith("/migration-phase")), "")
    if phase:
        return f"{policy}, while it moves to other flavors ({phase})"
    return f"{policy}; set spec.inactive of its InstanceType to false, or wait until it has flavors"


def _feeding(chain: Chain) -> dict[str, frozenset[str]]:
    """The flavors of each pool, whether or not they have capacity."""
    return {each.name: frozenset(chain.feeding(each.name)) for each in chain.types()}


def _idle(chain: Chain, keys: Keys) -> Iterator[tuple[str, str]]:
    for node in chain.nodes():
        why = _why_idle(node, keys)
        if why:
            yield node.facts.name, why


def _why_idle(node: NodePlan, keys: Keys) -> str:
    given = node.contribution
    if given.managed != "true":
        return f"{keys.managed} is {given.managed or 'not set'}: set it to true in the node's worker NodeFeature"
    untold = next((each for each in node.conditions if each.reason == "CouldNotTell"), None)
    if untold is not None:
        return f"section {untold.section} could not tell: {untold.message}"
    if not given.shares:
        return "it counts no CPU cores and no cards"
    return ""


def _notes(chain: Chain, checks: tuple[str, ...], keys: Keys) -> Iterator[str]:
    if keys.check_node_devices not in checks:
        yield f"AdmissionCheck {keys.check_node_devices} is not active: queues do not ask it"
    for each in chain.conditions():
        if each.reason != "Ready":
            yield f"{each.kind} {each.name}: {each.reason}: {each.message}"


def _worker(recorded: Recorded) -> str:
    lease: Lease | None = next((each for each in recorded.of(LEASES, Lease) if each.metadata.name == LEASE), None)
    if lease is None:
        return "no worker has ever led here: is it installed?"
    if not lease.spec.holder_identity:
        return "no worker leads: the last one gave its lease up"
    return f"{lease.spec.holder_identity} leads, renewed at {lease.spec.renew_time}"


def _unmade() -> str:
    return "the worker has not made it"


def _by_name(recorded: Recorded, resource: Resource[Any]) -> Mapping[str, Owned]:
    return {each.metadata.name: each for each in recorded.of(resource, Owned)}


def sentences(status: Status) -> Iterable[str]:
    """Everything that is not as it should be, a line each."""
    for pool in status.pools:
        yield from (f"{pool.name}: {each}" for each in pool.missing)
    yield from (f"node {name} feeds no pool: {why}" for name, why in status.idle)
    yield from status.notes
