"""Two plans of the same machines compared: names first, then what has another value under its new name.

What of one plan is what of the other is `pairing`'s; injections are `injections`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engine.chain.chain import Chain
from engine.chain.changes import Condition
from engine.chain.fields import FlavorFields, QueueFields, TypeFields
from engine.diff.difference import Difference, Field, Injected, Named, OnNodes, Renamed, Told, leaf_changes
from engine.diff.pairing import Followed, Pairing
from engine.diff.words import Words
from engine.sections.resources import ResourceNames, resource_names

_QUIET: Final = "Ready"

_Nodes = dict[tuple[str, str | None, str | None], list[str]]


def compare(pairing: Pairing, injections: Iterable[Injected] = ()) -> Difference:
    """All that differs between two plans."""
    old, new = pairing.old, pairing.new
    resources = _renamed_resources(old, new)
    names = {one.old: one.new[0] for one in resources}
    keys = _renamed_keys(pairing)
    doors = _doors(pairing)
    followed = {
        "ResourceFlavor": (pairing.flavors, _names(old.flavors()), _names(new.flavors())),
        "InstanceType": (pairing.types, _names(old.types()), _names(new.types())),
        "LocalQueue": (doors, [each.entrance for each in old.types()], [each.entrance for each in new.types()]),
        "Topology": (pairing.topologies, _names(old.topologies()), _names(new.topologies())),
    }
    renamed, gone, come = [*resources, *keys], [], []
    for kind, (found, before, after) in followed.items():
        moved = list(_renamed(kind, found))
        renamed += moved
        targets = {name for one in moved for name in one.new}
        was = {one.old for one in moved}
        gone += [Named(kind, name) for name in before if name not in after and name not in was]
        come += [Named(kind, name) for name in after if name not in before and name not in targets]
    words = Words.of(renamed)
    labels, capacity = _on_nodes(pairing, names, words)
    return Difference(
        renamed=tuple(renamed),
        gone=tuple(gone),
        new=tuple(come),
        labels=labels,
        capacity=capacity,
        quotas=tuple(_quotas(pairing)),
        types=tuple(_types(pairing, words)),
        injections=tuple(injections),
        conditions=tuple(_conditions(old, new, words)),
    )


def _names(fields: Iterable[Any]) -> list[str]:
    return [each.name for each in fields]


def _renamed(kind: str, followed: Followed) -> Iterator[Renamed]:
    for old, found in sorted(followed.to.items()):
        moved = {name: nodes for name, nodes in sorted(found.items()) if name != old}
        if moved:
            nodes = sorted({node for nodes in moved.values() for node in nodes})
            yield Renamed(kind, old, tuple(moved), tuple(nodes))


def _doors(pairing: Pairing) -> Followed:
    """The queues' entrances, which follow their types."""
    before = {each.name: each.entrance for each in pairing.old.types()}
    after = {each.name: each.entrance for each in pairing.new.types()}
    made = Followed()
    for old, found in pairing.types.to.items():
        for name, nodes in found.items():
            for node in nodes:
                made.note(before[old], [after[name]], node)
    return made


def _renamed_keys(pairing: Pairing) -> list[Renamed]:
    found: dict[tuple[str, str], list[str]] = {}
    for node, keys in pairing.keys.items():
        for pair in keys.items():
            found.setdefault(pair, []).append(node)
    return [Renamed("AcceleratorKey", old, (new,), tuple(nodes)) for (old, new), nodes in sorted(found.items())]


def _renamed_resources(old: Chain, new: Chain) -> list[Renamed]:
    made: list[Renamed] = []
    makers = sorted({group.manufacturer for plan in old.nodes() for group in plan.groups})
    for maker in makers:
        if maker not in new.program.makers:
            continue
        before, after = (_resources(chain, maker) for chain in (old, new))
        for path, name in before.items():
            if path in after and after[path] != name:
                made.append(Renamed("Resource", name, (after[path],)))
    return list(dict.fromkeys(made))


def _resources(chain: Chain, maker: str) -> dict[str, str]:
    names = resource_names(chain.program, maker).value
    return {} if names is None else dict(_leaves(names))


def _leaves(names: ResourceNames) -> Iterator[tuple[str, str]]:
    inputs = names.inputs()
    del inputs["transformations"]
    for key, value in inputs.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{below}", text) for below, text in value.items())
        else:
            yield key, value


def _on_nodes(
    pairing: Pairing, resources: Mapping[str, str], words: Words
) -> tuple[tuple[OnNodes, ...], tuple[OnNodes, ...]]:
    """Labels and capacity that differ once everything is called as it is now."""
    labels: _Nodes = {}
    capacity: _Nodes = {}
    for before, after in pairing.pairs():
        node = before.facts.name
        if before.labels != after.labels:
            _note(labels, words.keys(before.labels), after.labels, node)
        if before.capacity != after.capacity:
            _note(
                capacity, {resources.get(key, key): text for key, text in before.capacity.items()}, after.capacity, node
            )
    return _grouped(labels), _grouped(capacity)


def _note(into: _Nodes, old: Mapping[str, str], new: Mapping[str, str], node: str) -> None:
    for key in sorted({*old, *new}):
        was, now = old.get(key), new.get(key)
        if was != now:
            into.setdefault((key, was, now), []).append(node)


def _grouped(found: _Nodes) -> tuple[OnNodes, ...]:
    ordered = sorted(found.items(), key=lambda item: (item[0][0], str(item[0][1]), str(item[0][2])))
    return tuple(OnNodes(key, old, new, tuple(nodes)) for (key, old, new), nodes in ordered)


def _quotas(pairing: Pairing) -> Iterator[Field]:
    """Amounts of queues that stay, or are only called otherwise, flavor by flavor."""
    after = {each.name: each for each in pairing.new.queues()}
    flavors = {old: names[0] for old in pairing.flavors.to if len(names := pairing.flavors.names(old)) == 1}
    for before in pairing.old.queues():
        names = pairing.types.names(before.name) or (before.name,)
        if len(names) != 1 or names[0] not in after:
            continue
        old = {f"{flavors.get(name, name)} {resource}": amount for name, resource, amount in _nominal(before)}
        new = {f"{name} {resource}": amount for name, resource, amount in _nominal(after[names[0]])}
        for path, was, now in leaf_changes(old, new):
            yield Field("ClusterQueue", names[0], path, was, now)


def _nominal(queue: QueueFields) -> Iterator[tuple[str, str, int]]:
    for quota in queue.state.groups:
        yield quota.flavor, quota.resource, quota.nominal


def _types(pairing: Pairing, words: Words) -> Iterator[Field]:
    """Specifications of types, and what flavors select and say beyond their names."""
    after = {each.name: each for each in pairing.new.types()}
    for before in pairing.old.types():
        names = pairing.types.names(before.name) or (before.name,)
        if len(names) == 1 and names[0] in after:
            for path, was, now in leaf_changes(words.value(_of_type(before)), _of_type(after[names[0]])):
                yield Field("InstanceType", names[0], path, was, now)
    flavors = {each.name: each for each in pairing.new.flavors()}
    for flavor in pairing.old.flavors():
        names = pairing.flavors.names(flavor.name)
        if len(names) == 1 and names[0] in flavors:
            for path, was, now in leaf_changes(words.value(_of_flavor(flavor)), _of_flavor(flavors[names[0]])):
                yield Field("ResourceFlavor", names[0], path, was, now)


def _of_type(made: TypeFields) -> dict[str, Any]:
    return {"spec": dict(made.spec), "labels": dict(made.labels)}


def _of_flavor(made: FlavorFields) -> dict[str, Any]:
    return {
        "labels": dict(made.labels),
        "nodeLabels": dict(made.node_labels),
        "tolerations": [dict(each) for each in made.tolerations],
        "notes": dict(made.notes),
    }


def _conditions(old: Chain, new: Chain, words: Words) -> Iterator[Told]:
    before = {_told(one, words, is_new=False): one for one in old.conditions() if one.reason != _QUIET}
    after = {_told(one, None, is_new=False): one for one in new.conditions() if one.reason != _QUIET}
    for told in after:
        if told not in before:
            yield replace(told, is_new=True)
    yield from (told for told in before if told not in after)


def _told(one: Condition, words: Words | None, *, is_new: bool) -> Told:
    name, message = (one.name, one.message) if words is None else (words.text(one.name), words.text(one.message))
    return Told(one.kind, name, one.reason, message, is_new)
