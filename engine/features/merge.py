"""The NodeFeature objects of one Node as one: who wins, what is dropped and why.

Labels still may begin with `@` afterwards; `resolve` puts in what they refer to and checks them. Source: specification 50
§1.3, §1.4, and §5.2 where we differ on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.features.checks import NO_RESTRICTIONS, Fault, Restrictions, label_fault
from engine.features.keys import DEFAULT_PREFIX, is_own_domain
from engine.features.objects import FeatureObject, Features

REFERENCE: Final = "@"


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose word counts.

    Shape: `namespace` is the system namespace, above all others; keys of our own domain are taken from it and from
    `trusted` only; `read` are the namespaces that count at all, empty for every one.
    """

    namespace: str
    trusted: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    def reads(self, namespace: str) -> bool:
        return not self.read or namespace == self.namespace or namespace in self.read

    def trusts(self, namespace: str) -> bool:
        return namespace == self.namespace or namespace in self.trusted


@dataclass(frozen=True, slots=True)
class Rejection:
    """A key that somebody asked for and does not get. `source` is the object or section that asked."""

    key: str
    value: str
    source: str
    fault: Fault


@dataclass(frozen=True, slots=True)
class Merged:
    """All objects of a Node in one. Shape: `sources` has the object each label is from."""

    labels: Mapping[str, str]
    sources: Mapping[str, str]
    features: Features
    rejected: tuple[Rejection, ...] = ()


def merge_objects(objects: Iterable[FeatureObject], trust: Trust) -> Merged:
    """One Node's objects merged: other namespaces first, then the system namespace, each by name; later wins."""
    labels: dict[str, str] = {}
    sources: dict[str, str] = {}
    rejected: list[Rejection] = []
    attributes: dict[str, dict[str, str]] = {}
    devices: list[Mapping[str, str]] | None = None
    ordered = sorted(
        (each for each in objects if trust.reads(each.namespace)),
        key=lambda each: (each.namespace == trust.namespace, each.name, each.namespace),
    )
    for each in ordered:
        is_trusted = trust.trusts(each.namespace)
        for key, value in _expanded(each.labels).items():
            if not is_trusted and is_own_domain(key):
                rejected.append(Rejection(key, value, each.place, _untrusted(each.namespace, trust)))
                continue
            labels[key] = value
            sources[key] = each.place
        for name, elements in each.features.attributes.items():
            attributes.setdefault(name, {}).update(elements)
        if each.features.pci is not None:
            # Two publishers of one bus, as during a hand-over, must not double its devices.
            devices = [] if devices is None else devices
            devices += [device for device in each.features.pci if device not in devices]
    return Merged(labels, sources, Features(attributes, None if devices is None else tuple(devices)), tuple(rejected))


def resolve_labels(
    merged: Merged, restrictions: Restrictions = NO_RESTRICTIONS
) -> tuple[dict[str, str], tuple[Rejection, ...]]:
    """The labels that may be written, and those that may not."""
    good: dict[str, str] = {}
    rejected = list(merged.rejected)
    for key, asked in merged.labels.items():
        value = resolve(asked, merged.features)
        if value is None:
            fault: Fault | None = Fault(f"nothing is known of {asked}", "refer to `@domain.feature.attribute`")
        else:
            fault = label_fault(key, value, restrictions)
        if fault is None and value is not None:
            good[key] = value
        elif fault is not None:
            rejected.append(Rejection(key, asked, merged.sources[key], fault))
    return good, tuple(rejected)


def resolve(text: str, features: Features) -> str | None:
    """A text, or the attribute that an `@domain.feature.attribute` refers to; None when there is no such attribute."""
    if not text.startswith(REFERENCE):
        return text
    # The attribute's own name may have dots in it.
    domain, _, rest = text[1:].partition(".")
    feature, _, element = rest.partition(".")
    return features.attributes.get(f"{domain}.{feature}", {}).get(element)


def _expanded(labels: Mapping[str, str]) -> dict[str, str]:
    """Keys with the default prefix where they have none; one that was written in full wins over one that becomes it."""
    short = {DEFAULT_PREFIX + key: value for key, value in labels.items() if "/" not in key}
    return short | {key: value for key, value in labels.items() if "/" in key}


def _untrusted(namespace: str, trust: Trust) -> Fault:
    return Fault(
        f"namespace {namespace} may not ask for keys of gpustack.ai",
        f"move the object to {trust.namespace}, or trust the namespace (features.builtin.trustedNamespaces)",
    )
