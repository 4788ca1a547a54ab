"""One pass over one Node: everything that asks something of it in, at most one guarded write of the Node out.

Pure: no clock, no cluster. Who sees the neighbourhood and carries out the actions is the controller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.cluster.actions import Action, EmitEvent, MergePatch, ObjectReference
from engine.cluster.resources import NODE_FEATURES, NODES, ObjectKey
from engine.features.bookkeeping import Owned, read_nfd, read_owned, without, written
from engine.features.hostfacts import is_literal
from engine.features.keys import INSTALLATION, LAST_MANAGED, is_our_class
from engine.features.managed import Managed, three_way
from engine.features.neighbourhood import Memory, Neighbourhood, Pass, Policy, Stopped
from engine.features.presence import is_host_key, next_expiry, present_objects
from engine.features.rules import HostRules
from engine.features.settle import Ask, Settled, settle
from engine.features.telling import Finding, findings
from engine.features.wanted import Wanted, wanted_of

MANAGER: Final = "engine-node-features"


@dataclass(frozen=True, slots=True)
class _Owners:
    """Owned as far as the table goes, and what of it was a real NFD's until now."""

    labels: frozenset[str]
    annotations: frozenset[str]
    taken_over: frozenset[str]


def plan(neighbourhood: Neighbourhood, rules: HostRules, policy: Policy) -> Pass:
    """What one Node needs now."""
    if neighbourhood.listed_seconds is None or not neighbourhood.may_write:
        return Pass(memory=neighbourhood.memory)
    node = neighbourhood.node
    installed = node.annotations.get(INSTALLATION)
    if installed is not None and installed != policy.installation:
        return _tell_only(neighbourhood, [_other_installation(node.name, installed, policy.installation)])
    objects = present_objects(neighbourhood, policy.absence_grace_seconds)
    wanted = wanted_of(objects, neighbourhood.direct_labels, rules, policy)
    owners = _owners(neighbourhood, wanted)
    if owners.taken_over and not (neighbourhood.may_adopt and wanted.host.is_stated):
        # Until it is sure that the NFD is gone and we can say at least as much of the host, its labels stay as they are.
        return Pass(memory=neighbourhood.memory)
    return _Passing(neighbourhood, rules, policy, wanted, owners).run()


def _owners(neighbourhood: Neighbourhood, wanted: Wanted) -> _Owners:
    annotations = neighbourhood.node.annotations
    own, nfd = read_owned(annotations, neighbourhood.memory.owned), read_nfd(annotations)
    labels = frozenset(key for key in nfd.labels if is_our_class(key) or key in wanted.labels)
    others = frozenset(key for key in nfd.annotations if is_our_class(key) or key in wanted.annotations)
    return _Owners(own.labels | labels, own.annotations | others, labels | others)


class _Passing:
    """One pass; keeps what its steps share."""

    def __init__(
        self, neighbourhood: Neighbourhood, rules: HostRules, policy: Policy, wanted: Wanted, owners: _Owners
    ) -> None:
        self._seen = neighbourhood
        self._node = neighbourhood.node
        self._memory = neighbourhood.memory
        self._rules = rules
        self._policy = policy
        self._wanted = wanted
        self._owners = owners
        self._adopted_seconds = neighbourhood.now_seconds if owners.taken_over else self._memory.adopted_seconds

    def run(self) -> Pass:
        managed = self._managed()
        labels = dict(self._wanted.labels)
        key = self._rules.keys.managed
        if managed is not None:
            labels.pop(key, None)
            if managed.value is not None:
                labels[key] = managed.value
        label_ask = self._ask(labels, self._node.labels, self._owners.labels, is_label=True)
        annotation_ask = self._ask(
            self._wanted.annotations, self._node.annotations, self._owners.annotations, is_label=False
        )
        settled, others = settle(label_ask), settle(annotation_ask)
        annotations = others.changes | self._bookkeeping(settled, others, managed) | self._literals(others)
        patch = _patch(
            {name: value for name, value in settled.changes.items() if self._node.labels.get(name) != value},
            {name: value for name, value in annotations.items() if self._node.annotations.get(name) != value},
        )
        actions: list[Action] = list(self._adopt_switch(managed))
        if patch:
            actions.append(
                MergePatch(NODES, ObjectKey("", self._node.name), patch, MANAGER, self._node.resource_version)
            )
        found = findings(self._wanted, self._node, settled, others)
        actions += self._events(found, is_quiet=not patch)
        return Pass(
            tuple(actions),
            Memory(
                is_first=False,
                labels=labels,
                annotations=self._wanted.annotations,
                label_fights=settled.fights,
                annotation_fights=others.fights,
                owned=Owned(settled.owned, others.owned),
                adopted_seconds=self._adopted_seconds,
                told=frozenset(each.identity for each in found),
            ),
            self._again(settled, others),
            (
                *(Stopped(each, labels[each], self._node.labels.get(each)) for each in settled.stopped),
                *(
                    Stopped(each, self._wanted.annotations[each], self._node.annotations.get(each), is_label=False)
                    for each in others.stopped
                ),
            ),
        )

    def _ask(
        self, wanted: Mapping[str, str], current: Mapping[str, str], owned: frozenset[str], *, is_label: bool
    ) -> Ask:
        memory = self._memory
        return Ask(
            wanted=wanted,
            current=current,
            owned=owned,
            is_held=self._holder(current, memory.labels if is_label else memory.annotations),
            before=memory.labels if is_label else memory.annotations,
            fights=memory.label_fights if is_label else memory.annotation_fights,
            now_seconds=self._seen.now_seconds,
        )

    def _holder(self, current: Mapping[str, str], before: Mapping[str, str]) -> Callable[[str], bool]:
        """Which owned keys stay though nobody asks for them.

        A key that this process knows somebody to have asked for was dropped by that object, and goes at once. Any other may
        be of an object that vanished while nobody looked.
        """
        is_waiting = self._seen.now_seconds < self._held_until()
        keys, has_switch = self._rules.keys, self._wanted.worker is not None

        def is_held(key: str) -> bool:
            if (key == keys.managed and has_switch) or is_literal(current[key]):
                return False
            if self._wanted.is_host_untold and is_host_key(key, current[key], keys):
                return True
            return is_waiting and key not in before and key not in self._wanted.dropped

        return is_held

    def _held_until(self) -> float:
        since = [each for each in (self._seen.listed_seconds, self._adopted_seconds) if each is not None]
        return max(since) + self._policy.absence_grace_seconds

    def _managed(self) -> Managed | None:
        """The switch; None while no worker's object says anything about it, so that it is a key like any other."""
        key, worker = self._rules.keys.managed, self._wanted.worker
        if worker is None:
            return None
        base, asked = self._node.annotations.get(LAST_MANAGED), self._wanted.labels.get(key)
        unlabelled = self._rules.unlabelled_managed(is_manual=self._policy.is_management_manual)
        managed = three_way(base, self._node.labels.get(key), asked, unlabelled)
        if managed.asked != asked and worker not in self._seen.objects:
            # The object has just vanished and cannot follow; its successor is made from the Node.
            return Managed(managed.value, asked, base)
        return managed

    def _adopt_switch(self, managed: Managed | None) -> list[Action]:
        """Before the Node's own write: were it the other way round, a crash in between would undo the change."""
        worker, key = self._wanted.worker, self._rules.keys.managed
        if managed is None or worker is None or managed.asked == self._wanted.labels.get(key):
            return []
        if managed.asked == worker.labels.get(key):
            return []
        where = ObjectKey(worker.namespace, worker.name)
        patch = {"spec": {"labels": {key: managed.asked}}}
        return [MergePatch(NODE_FEATURES, where, patch, MANAGER, worker.resource_version)]

    def _bookkeeping(self, settled: Settled, others: Settled, managed: Managed | None) -> dict[str, str | None]:
        book = written(Owned(settled.owned, others.owned), self._policy.installation)
        if managed is not None:
            book[LAST_MANAGED] = managed.base
        elif self._rules.keys.managed not in settled.owned:
            book[LAST_MANAGED] = None
        return book | without(read_nfd(self._node.annotations), self._owners.taken_over)

    def _literals(self, others: Settled) -> dict[str, str | None]:
        """References that a stock NFD wrote as they stood, under keys that are ours."""
        prefix = self._rules.keys.cpu_fact
        return {
            key: None
            for key, value in self._node.annotations.items()
            if key.startswith(prefix) and is_literal(value) and others.changes.get(key) is None
        }

    def _events(self, found: list[Finding], *, is_quiet: bool) -> list[Action]:
        """Each finding once; a new process over a Node that needs nothing does not repeat what an old one has told."""
        told = self._memory.told
        if self._memory.is_first and is_quiet and INSTALLATION in self._node.annotations:
            found = [each for each in found if each.is_momentary]
        return [_event(self._seen, each) for each in found if each.identity not in told]

    def _again(self, settled: Settled, others: Settled) -> float | None:
        now = self._seen.now_seconds
        times = [fight.paused_until for each in (settled, others) for fight in each.fights.values()]
        if settled.held or others.held:
            times.append(self._held_until())
        expiry = next_expiry(self._seen, self._policy.absence_grace_seconds)
        if expiry is not None:
            times.append(expiry)
        return min((each - now for each in times if each > now), default=None)


def _patch(labels: dict[str, str | None], annotations: dict[str, str | None]) -> dict[str, Any]:
    parts = {name: part for name, part in (("labels", labels), ("annotations", annotations)) if part}
    return {"metadata": parts} if parts else {}


def _tell_only(neighbourhood: Neighbourhood, found: list[Finding]) -> Pass:
    told = neighbourhood.memory.told
    return Pass(
        tuple(_event(neighbourhood, each) for each in found if each.identity not in told),
        replace(neighbourhood.memory, told=frozenset(each.identity for each in found)),
    )


def _other_installation(node: str, seen: str, own: str) -> Finding:
    return Finding(
        "OtherInstallation",
        f"node {node} is written by the installation {seen}, and this one is {own}; nothing is written. To take it over, "
        f"stop the other one and remove the annotation {INSTALLATION}",
        "",
    )


def _event(neighbourhood: Neighbourhood, finding: Finding) -> EmitEvent:
    node = neighbourhood.node
    regarding = ObjectReference(NODES.api_version, NODES.kind, ObjectKey("", node.name), node.uid)
    return EmitEvent(regarding, finding.reason, finding.note, "UpdateNodeFeatures", "Warning")
