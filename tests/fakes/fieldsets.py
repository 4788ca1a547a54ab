"""Which field belongs to which manager: the sets behind managedFields, and server-side apply.

A field is a path of elements as managedFields writes them: `f:name`, `k:{"name":"x"}`, `v:"x"`. Pure functions on maps.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

from tests.fakes.kinds import Kind

Field = tuple[str, ...]
Object = dict[str, Any]

_SERVERS = frozenset(
    [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "generateName",
        "selfLink",
    ]
)


def fields_of(body: Object, kind: Kind) -> dict[Field, Any]:
    """The fields of an object with their values; items of keyed lists are fields too."""
    found: dict[Field, Any] = {}
    for key, value in body.items():
        if key in {"apiVersion", "kind"}:
            continue
        ours = {name: each for name, each in value.items() if name not in _SERVERS} if key == "metadata" else value
        if key != "metadata" or ours:
            _walk(ours, (f"f:{key}",), (key,), kind, found)
    return found


def _walk(value: Any, field: Field, names: tuple[str, ...], kind: Kind, found: dict[Field, Any]) -> None:
    if isinstance(value, dict) and value and names not in kind.atomic_maps:
        for key, each in value.items():
            _walk(each, (*field, f"f:{key}"), (*names, key), kind, found)
        return
    if isinstance(value, list) and value:
        how = kind.list_type(names)
        if how == "set":
            for each in value:
                found[(*field, f"v:{_text(each)}")] = each
            return
        if how != "atomic":
            for item in value:
                at = (*field, item_element(item, how))
                found[at] = None
                for key, each in item.items():
                    _walk(each, (*at, f"f:{key}"), (*names, key), kind, found)
            return
    found[field] = value


def item_element(item: Object, keys: tuple[str, ...]) -> str:
    """How managedFields names an item of a keyed list."""
    return f"k:{_text({key: item.get(key) for key in keys})}"


def merge(live: Any, applied: Any, names: tuple[str, ...], kind: Kind) -> Any:
    """`live` with what is applied; neither is changed."""
    if isinstance(applied, dict) and isinstance(live, dict) and names not in kind.atomic_maps:
        merged = dict(live)
        for key, value in applied.items():
            merged[key] = merge(live.get(key), value, (*names, key), kind)
        return merged
    if isinstance(applied, list) and isinstance(live, list):
        how = kind.list_type(names)
        if how == "set":
            return [*live, *(each for each in applied if each not in live)]
        if how != "atomic":
            merged_items = {item_element(item, how): item for item in live}
            for item in applied:
                element = item_element(item, how)
                merged_items[element] = merge(merged_items.get(element, {}), item, names, kind)
            return list(merged_items.values())
    return copy.deepcopy(applied) if isinstance(applied, (dict, list)) else applied


def without(body: Object, gone: set[Field], kind: Kind) -> Object:
    """The object less these fields; maps and lists that become empty go too."""
    if not gone:
        return body
    left = copy.deepcopy(body)
    # Shortest first: an item goes as a whole, while its keys still name it.
    for field in sorted(gone, key=len):
        _remove(left, field, (), kind)
    return left


def _remove(value: Any, field: Field, names: tuple[str, ...], kind: Kind) -> None:
    head, *rest = field
    if head.startswith("f:"):
        key = head[2:]
        if not isinstance(value, dict) or key not in value:
            return
        if rest:
            _remove(value[key], tuple(rest), (*names, key), kind)
            if value[key] in ({}, []):
                del value[key]
        else:
            del value[key]
    elif head.startswith("v:") and isinstance(value, list):
        value[:] = [each for each in value if f"v:{_text(each)}" != head]
    elif isinstance(value, list):
        how = kind.list_type(names)
        for item in list(value):
            if item_element(item, how if isinstance(how, tuple) else ()) == head:
                if rest:
                    _remove(item, tuple(rest), names, kind)
                else:
                    value.remove(item)


def to_tree(fields: Iterable[Field]) -> Object:
    """As `fieldsV1`."""
    tree: Object = {}
    every = set(fields)
    for field in sorted(every):
        at = tree
        for element in field:
            at = at.setdefault(element, {})
        if field[-1].startswith("k:"):
            at["."] = {}
    return tree


def from_tree(tree: Object) -> set[Field]:
    """The fields of a `fieldsV1`."""
    return set(_from_tree(tree, ()))


def _from_tree(tree: Object, at: Field) -> Iterable[Field]:
    if "." in tree or (not tree and at):
        yield at
    for element, below in tree.items():
        if element != ".":
            yield from _from_tree(below, (*at, element))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
