"""What the fields of each kind of the scheduling chain come from: which section, or which code.

One function a kind, most telling origin first. Node objects are `nodes`'; how a field is looked up is `origins`'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from engine.chain.chain import Chain
from engine.explain.origins import FromRules, Given, InCode, Origin
from engine.explain.recording import Asked, Recording

Object = Mapping[str, Any]

LABELS: Final = ("metadata", "labels")
ANNOTATIONS: Final = ("metadata", "annotations")
NAME: Final = ("metadata", "name")
_STATE_MACHINE: Final = "engine/domain/queue.py"


def flavor_origins(made: Object, recording: Recording, chain: Chain) -> Iterator[Origin]:
    """A ResourceFlavor: everything is the `flavor` section's."""
    for asked in recording.asked("flavor", _named(made)):
        yield FromRules(NAME, asked, ("name",))
        yield FromRules(LABELS, asked, ("labels",))
        yield FromRules(("spec", "nodeLabels"), asked, ("nodeLabels",))
        yield FromRules(("spec", "tolerations"), asked, ("tolerations",))
        yield FromRules(("spec", "topologyName"), asked, ("topologyName",))
        for note in asked.outcome.value["notes"]:
            yield FromRules((*ANNOTATIONS, chain.note_prefix + note), asked, ("notes", note))


def topology_origins(made: Object, recording: Recording, _chain: Chain) -> Iterator[Origin]:
    """A Topology: everything is the `topology` section's."""
    for asked in recording.asked("topology", _named(made)):
        yield FromRules(NAME, asked, ("name",))
        yield FromRules(LABELS, asked, ("labels",))
        for number in range(len(asked.outcome.value["levels"])):
            yield FromRules(("spec", "levels", number, "nodeLabel"), asked, ("levels", number))


def row_origins(made: Object, recording: Recording, _chain: Chain) -> Iterator[Origin]:
    """An InstanceTypeFlavor: everything is the `catalogue` section's."""
    for asked in recording.asked("catalogue", _named(made)):
        yield FromRules(NAME, asked, ("name",))
        yield FromRules(("spec",), asked, ("spec",))


def type_origins(made: Object, recording: Recording, chain: Chain) -> Iterator[Origin]:
    """An InstanceType: names and labels are rules', what a person wrote is given, what is counted is code's."""
    name = made["metadata"]["name"]
    fields = chain.objects("InstanceType")[name]
    if fields.derived:
        yield from _derived_type_origins(name, recording)
    else:
        yield Given(NAME, "the manifest")
    yield from _label_origins(made["spec"], name, recording)
    if fields.derived:
        yield InCode(("spec", "inactive"), "the admin switch, as the queue has it", _STATE_MACHINE)
        yield InCode(
            ("spec", "unitResources"),
            "the unit is kept as it was made: types are never changed",
            "engine/chain/types.py",
        )
    else:
        yield Given(("spec",), "the manifest, defaults filled in")
    for asked in recording.asked("entrance", _about("queue", name)):
        yield FromRules(("status", "entrance"), asked, ("name",))
    yield InCode(("status", "phase"), "the type's phase, from its queue's state", "engine/domain/queue.py")
    yield InCode(("status", "phaseMessage"), "the type's phase, from its queue's state", "engine/domain/queue.py")
    yield InCode(("status", "cpu"), "the CPU view: the queue's quota, and the largest node", "engine/domain/views.py")
    yield InCode(("status", "detail"), "facts of the flavors that feed the type", "engine/chain/report.py")
    yield InCode(
        ("status", "columns"), "cells of the table, from the fields beside them", "engine/worker/render/cells.py"
    )
    for view in ("accelerator", "acceleratorShared", "acceleratorSliced", "acceleratorPartitioned"):
        yield InCode(
            ("status", view), "the four views: cards counted by what they can still serve", "engine/domain/views.py"
        )


def queue_origins(made: Object, recording: Recording, chain: Chain) -> Iterator[Origin]:
    """A ClusterQueue: created from rules, quotas by rules, filled and stopped by the state machine."""
    name = made["metadata"]["name"]
    for asked in recording.asked("pool", _named(made)):
        yield FromRules(NAME, asked, ("name",))
    yield InCode(NAME, "a queue has its InstanceType's name", "engine/chain/types.py")
    for asked in recording.asked("queue", _about("type", name)):
        yield FromRules(LABELS, asked, ("labels",))
        yield FromRules(("metadata", "annotations"), asked, ("annotations",))
        for field in ("namespaceSelector", "flavorFungibility", "preemption"):
            yield FromRules(("spec", field), asked, (field,))
    spec = chain.objects("InstanceType")[name].spec
    yield from _label_origins(spec, name, recording)
    yield from _check_origins(made, spec, recording)
    yield from _quota_origins(made, spec, recording, chain)
    yield InCode(ANNOTATIONS, "the queue's state machine: its own memory", _STATE_MACHINE)
    yield InCode(("spec", "stopPolicy"), "the queue's state machine", _STATE_MACHINE)
    yield InCode(("spec", "admissionChecksStrategy"), "the queue's state machine", _STATE_MACHINE)
    yield InCode(
        ("spec", "resourceGroups"), "flavors in the order of their count, then name", "engine/domain/queue_plan.py"
    )


def entrance_origins(made: Object, recording: Recording, _chain: Chain) -> Iterator[Origin]:
    """A LocalQueue: named by the `entrance` section, one in each namespace."""
    for asked in recording.asked("entrance", _named(made)):
        yield FromRules(NAME, asked, ("name",))
        yield FromRules(ANNOTATIONS, asked, ("annotations",))
    yield InCode(("metadata", "namespace"), "one in each namespace but the system's", "engine/chain/chain.py")
    yield InCode(("spec", "clusterQueue"), "the queue of the type whose entrance this is", "engine/chain/chain.py")


def _derived_type_origins(name: str, recording: Recording) -> Iterator[Origin]:
    for asked in recording.asked("pool", lambda each: each.outcome.value["name"] == name):
        yield FromRules(NAME, asked, ("name",))
        yield FromRules(("spec",), asked)
    for asked in recording.asked("type", _about("pool", name)):
        yield FromRules(LABELS, asked, ("labels",))
        yield FromRules(("spec",), asked)


def _label_origins(spec: Object, name: str, recording: Recording) -> Iterator[Origin]:
    """The labels that a type and its queue share, and those that name the type's entrance."""
    for asked in recording.asked("pool-labels"):
        if all(value == spec.get(key) for key, value in asked.inputs["type"].items()):
            yield FromRules(LABELS, asked)
    for asked in recording.asked("entrance", _about("queue", name)):
        yield FromRules(LABELS, asked, ("typeLabels",))


def _check_origins(made: Object, spec: Object, recording: Recording) -> Iterator[Origin]:
    shown = made["spec"].get("admissionChecksStrategy", {}).get("admissionChecks", [])
    for asked in recording.asked("checks", lambda each: each.inputs["queue"]["acceleratable"] == spec["acceleratable"]):
        names = [each["name"] for each in asked.outcome.value]
        for number, check in enumerate(shown):
            if check["name"] in names:
                at = ("spec", "admissionChecksStrategy", "admissionChecks", number)
                yield FromRules(at, asked, (names.index(check["name"]),))


def _quota_origins(made: Object, spec: Object, recording: Recording, chain: Chain) -> Iterator[Origin]:
    for group, shown in enumerate(made["spec"].get("resourceGroups", [])):
        at = ("spec", "resourceGroups", group)
        for number, flavor in enumerate(shown["flavors"]):
            for asked in recording.asked("flavor", _named({"metadata": flavor})):
                yield FromRules((*at, "flavors", number, "name"), asked, ("name",))
            fields = chain.objects("ResourceFlavor").get(flavor["name"])
            for asked in recording.asked("quota"):
                asks = asked.inputs
                if asks["queue"]["acceleratable"] == spec["acceleratable"] and (
                    fields is None or asks["flavor"]["capacity"] == fields.capacity
                ):
                    quota = (*at, "flavors", number, "resources", 0)
                    yield FromRules((*quota, "name"), asked, ("resource",))
                    yield FromRules((*quota, "nominalQuota"), asked, ("nominal",))
                    yield FromRules((*at, "coveredResources", 0), asked, ("resource",))


def _named(made: Object) -> Any:
    name = made["metadata"]["name"] if "metadata" in made else ""
    return lambda asked: asked.outcome.value.get("name") == name


def _about(root: str, name: str) -> Any:
    def is_about(asked: Asked) -> bool:
        return bool(asked.inputs[root].get("name") == name)

    return is_about
