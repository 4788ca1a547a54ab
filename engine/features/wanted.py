"""What a Node should have, from the objects that count and the rules; nothing of what it has now.

Who wins between a rule and an object: the rule, but for the one label with which a device manager says that there are cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.features.checks import annotation_fault, label_fault
from engine.features.hostfacts import HostFacts, read_host
from engine.features.keys import WORKER_SUFFIX
from engine.features.merge import Rejection, merge_objects, resolve_labels
from engine.features.neighbourhood import Policy
from engine.features.objects import FeatureObject
from engine.features.rules import HostRules

RULES: Final = "rules (host-labels)"
WORKER: Final = "the worker"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a Node should have.

    Shape: `dropped` are keys that were asked for by somebody who may, with a value that may not be written; `worker` is the
    worker's object when there is one; `is_host_untold` while nothing follows from host facts: none
    are there, or the rules could not tell (`untold` says why).
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    host: HostFacts
    rejected: tuple[Rejection, ...] = ()
    dropped: frozenset[str] = frozenset()
    worker: FeatureObject | None = None
    is_host_untold: bool = False
    untold: str = ""


def wanted_of(
    objects: Sequence[FeatureObject], direct_labels: Mapping[str, str], rules: HostRules, policy: Policy
) -> Wanted:
    """The labels and annotations of a Node, sorted by key."""
    merged = merge_objects(objects, policy.trust)
    labels, refused = resolve_labels(merged, policy.restrictions)
    rejected = [*refused]
    host = read_host(merged.features)
    answer = rules.labels(host)
    by_rule = dict(answer.value.labels) if answer.value else {}
    if labels.get(rules.keys.is_acceleratable) == "true":
        by_rule.pop(rules.keys.is_acceleratable, None)
    for source, added in ((RULES, by_rule), (WORKER, direct_labels)):
        for key, value in added.items():
            fault = label_fault(key, value, policy.restrictions)
            if fault is None:
                labels[key] = value
            else:
                rejected.append(Rejection(key, value, source, fault))
    annotations: dict[str, str] = {}
    for key, value in answer.value.annotations if answer.value else ():
        fault = annotation_fault(key, value)
        if fault is None:
            annotations[key] = value
        else:
            rejected.append(Rejection(key, value, RULES, fault))
    return Wanted(
        labels=dict(sorted(labels.items())),
        annotations=dict(sorted(annotations.items())),
        host=host,
        rejected=tuple(rejected),
        dropped=frozenset(each.key for each in rejected if each not in merged.rejected),
        worker=_worker(objects, policy),
        is_host_untold=not host.is_stated or not answer.told,
        untold=answer.reason,
    )


def _worker(objects: Sequence[FeatureObject], policy: Policy) -> FeatureObject | None:
    namespace = policy.trust.namespace
    found = [each for each in objects if each.namespace == namespace and each.name == each.target + WORKER_SUFFIX]
    return found[0] if found else None
