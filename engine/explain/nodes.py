"""What the fields of the objects of one node come from: Node, NodeFeatures, Devices.

The node is planned once more by itself, so that everything the recording holds is about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.chain.node import NodePlan, plan_node
from engine.explain.kinds import ANNOTATIONS, LABELS, NAME, Object
from engine.explain.origins import ABSENT, FromRules, Given, InCode, Origin, Steps
from engine.explain.recording import Recording
from engine.lang.program import Program

_CAPACITY: Final = ("status", "capacity")
_DEVICE_LABELS: Final = ("device-labels", "labels")


def recorded_node(
    plan: NodePlan, program: Program, settings: Mapping[str, Any], managed_label: str | None
) -> Recording:
    """The questions that planning this node asks."""
    recording = Recording(program)
    plan_node(plan.facts, recording, settings, managed_label=managed_label)
    return recording


def node_origins(_made: Object, recording: Recording, plan: NodePlan) -> Iterator[Origin]:
    """A Node: what it had of itself, under what the publishers add, the worker's last."""
    facts = plan.facts
    machine = f"the machine document of {facts.name}"
    yield Given(NAME, machine, facts.name)
    yield from _flat(LABELS, recording, "fit-labels")
    for asked in recording.asked("topology"):
        yield FromRules(LABELS, asked, ("nodeLabels",))
    yield from _flat(LABELS, recording, "worker-labels", *_DEVICE_LABELS)
    for asked in recording.asked("host-labels"):
        yield FromRules(LABELS, asked, ("labels",))
        yield FromRules(ANNOTATIONS, asked, ("annotations",))
    yield Given(LABELS, machine, {**facts.labels, **dict(facts.topology_levels)})
    yield InCode(LABELS, "the node's own os and arch", "engine/chain/node.py")
    yield Given(ANNOTATIONS, machine, facts.annotations)
    for asked in recording.asked("capacity"):
        yield FromRules(_CAPACITY, asked)
    yield Given(_CAPACITY, machine, facts.capacity)
    yield InCode(
        _CAPACITY, "tokens: the cards counted under the names of section resources", "engine/chain/node_capacity.py"
    )


def feature_origins(made: Object, recording: Recording, plan: NodePlan) -> Iterator[Origin]:
    """A NodeFeature: the labels of one publisher."""
    at: Steps = ("spec", "labels")
    if made["metadata"]["name"].endswith("-gpustack-host"):
        machine = f"the machine document of {plan.facts.name}"
        yield InCode(at, "host facts in the format of NFD", "engine/worker/render/nodefeature.py")
        yield Given(("spec", "features"), machine)
    yield from _flat(at, recording, "worker-labels", *_DEVICE_LABELS)
    yield InCode(
        ("metadata",), "a NodeFeature is named after its node and its publisher", "engine/worker/render/nodefeature.py"
    )
    yield InCode(at, "labels of several groups put together", "engine/chain/node_questions.py")


def devices_origins(made: Object, recording: Recording, plan: NodePlan) -> Iterator[Origin]:
    """A Devices object: ids and products are rules', what cards can serve is the rules' and the domain's."""
    machine = f"the machine document of {plan.facts.name}"
    yield Given(NAME, machine)
    yield from _flat(LABELS, recording, "devices-labels")
    for half in ("spec", "status"):
        for number, group in enumerate(made[half]["groups"]):
            at: Steps = (half, "groups", number)
            yield from _group_origins(at, group, recording, machine)
    yield InCode(("spec",), "cards, groups and what they can serve, counted", "engine/domain/inventory.py")
    yield InCode(("status",), "the ledger: what is taken of each card", "engine/domain/ledger.py")


def _group_origins(at: Steps, group: Object, recording: Recording, machine: str) -> Iterator[Origin]:
    maker = group["manufacturer"]
    for asked in recording.asked("group", lambda each: each.inputs["card"]["manufacturer"] == maker):
        yield FromRules((*at, "id"), asked, ("id",))
    for asked in recording.asked("model", lambda each: each.maker == maker):
        yield FromRules((*at, "name"), asked, ("product",))
        yield FromRules((*at, "family"), asked, ("family",))
    for asked in recording.asked("features", lambda each: each.maker == maker):
        for number in range(len(group["accelerators"])):
            sliced = (*at, "accelerators", number, "status", "logicalSliced")
            yield FromRules((*sliced, "count"), asked, ("logicalSlices",))
            yield FromRules((*sliced, "coresPercentageOvercommit"), asked, ("coresOvercommit",))
        logical = (*at, "acceleratorSlicedDetail", "logical")
        yield FromRules((*logical, "coresPercentageOvercommit"), asked, ("coresOvercommit",))
    for field in ("manufacturer", "driverVersion", "runtimeVersion", "computeCapability", "name"):
        yield Given((*at, field), machine, group.get(field, ABSENT))
    for number, card in enumerate(group["accelerators"]):
        for field in ("id", "physicalIndexes", "topology"):
            yield Given((*at, "accelerators", number, field), machine, card.get(field, ABSENT))


def _flat(at: Steps, recording: Recording, *sections: str) -> Iterator[Origin]:
    """Sections whose whole value is a map of labels."""
    for section in sections:
        for asked in recording.asked(section):
            yield FromRules(at, asked)
