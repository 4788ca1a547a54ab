"""A recorded cluster against the plan of its recording: where they differ in a field that Engine manages.

Left out: what the server writes, times of conditions, owners (their UIDs are the server's), and finalizers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.chain.chain import Chain
from engine.chain.plan import plan
from engine.cli.kinds import kind_of
from engine.worker.recorded import Recorded, active_checks, changes

Object = Mapping[str, Any]

OURS = ("engine-", "gpustack-")
KINDS = (
    "topologies",
    "resourceflavors",
    "instancetypes",
    "instancetypeflavors",
    "clusterqueues",
    "localqueues",
)
_SERVERS = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "ownerReferences",
    "finalizers",
)


_DEFAULTS = (("spec", "queueingStrategy"),)
"""What the server fills in on creation, and then counts among the creator's fields."""


def planned(recorded: Recorded, program: Any) -> Chain:
    """The plan of a recording, at rest."""
    return plan(changes(recorded, program), program, namespaces=(), active_checks=active_checks(recorded))


def differences(recorded: Recorded, chain: Chain) -> list[str]:
    """Where they differ, a line each."""
    found: list[str] = []
    for word in KINDS:
        kind = kind_of(word)
        live = {_name(each): each for each in recorded.objects.get(f"{kind.name}.{kind.group}", ())}
        wanted = {_name(each): each for each in kind.objects(chain)}
        ours = {name for name, each in live.items() if any(_managed(each))}
        found += [f"{word}/{name} is planned, and is not there" for name in sorted(wanted.keys() - live.keys())]
        found += [f"{word}/{name} is there, and is not planned" for name in sorted(ours - wanted.keys())]
        for name in sorted(wanted.keys() & live.keys()):
            found += _compare(f"{word}/{name}", live[name], wanted[name])
    found += _node_differences(recorded, chain)
    return found


def _compare(what: str, live: Object, wanted: Object) -> Iterator[str]:
    for path in sorted(set(_managed(live)) | set(_leaves(_plain(wanted)))):
        here, there = _at(live, path), _at(wanted, path)
        if here != there and (here or there or isinstance(here, bool) or isinstance(there, bool)):
            yield f"{what} {'.'.join(path)}: there {here!r}, planned {there!r}"


def _node_differences(recorded: Recorded, chain: Chain) -> Iterator[str]:
    """Labels and capacity of Nodes, and the worker's NodeFeatures."""
    nodes = {each["metadata"]["name"]: each for each in recorded.objects.get("Node", ())}
    for node in chain.nodes():
        live = nodes[node.facts.name]
        for what, here, there in (
            ("labels", live["metadata"]["labels"], node.labels),
            ("capacity", live["status"]["capacity"], node.capacity),
        ):
            for key in sorted(here.keys() | there.keys()):
                if here.get(key) != there.get(key):
                    yield f"nodes/{node.facts.name} {what} {key}: there {here.get(key)!r}, planned {there.get(key)!r}"


def _managed(thing: Object) -> Iterator[tuple[str, ...]]:
    """The leaves that our managers own, lists whole, server's fields and conditions left out."""
    for entry in thing["metadata"].get("managedFields", ()):
        if entry["manager"].startswith(OURS):
            for path in _fields(entry.get("fieldsV1", {}), ()):
                if not _is_servers(path):
                    yield path


def _fields(fields: Object, at: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    names = [name for name in fields if name.startswith("f:")]
    if not names:
        if at:
            yield at
        return
    for name in names:
        yield from _fields(fields[name], (*at, name[2:]))


def _leaves(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, (*at, key))
    elif at and not _is_servers(at):
        yield at


def _plain(thing: Object) -> Object:
    return {key: value for key, value in thing.items() if key not in ("apiVersion", "kind")}


def _is_servers(path: tuple[str, ...]) -> bool:
    return (
        path in _DEFAULTS
        or path[:2] == ("status", "conditions")
        or (path[0] == "metadata" and path[1] in (*_SERVERS, "name", "namespace"))
    )


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _name(thing: Object) -> str:
    metadata = thing["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])
