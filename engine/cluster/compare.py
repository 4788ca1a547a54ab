"""Is a write needed? Answered from what is known, so that at rest nothing is written.

Maps in, yes or no out. "Quiet" annotations (the explanation) are written along with other changes and are never a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

Path = tuple[str, ...]

_IDENTITY = frozenset({"apiVersion", "kind"})
_NO_KEYS: Collection[str] = frozenset()


def needs_apply(
    live: Mapping[str, Any], body: Mapping[str, Any], manager: str, quiet_annotations: Collection[str] = _NO_KEYS
) -> bool:
    """An apply of `body` by `manager` would change `live` in more than quiet annotations.

    `live` is the object as `decode.as_map` gives it; a list is compared item by item, and the server may have added
    defaults to its maps. A field that `manager` owns and `body` no longer has is a change too.
    """
    wanted = {key: value for key, value in without_annotations(body, quiet_annotations).items() if key not in _IDENTITY}
    if not _covers(live, wanted):
        return True
    return any(not _has(body, path) and not _is_quiet(path, quiet_annotations) for path in owned_paths(live, manager))


def needs_patch(
    live: Mapping[str, Any], patch: Mapping[str, Any], quiet_annotations: Collection[str] = _NO_KEYS
) -> bool:
    """A merge patch would change `live` in more than quiet annotations. The resourceVersion in a patch is no change."""
    loud = dict(without_annotations(patch, quiet_annotations))
    if "metadata" in loud:
        loud["metadata"] = {key: value for key, value in loud["metadata"].items() if key != "resourceVersion"}
    return _patch_changes(live, loud)


def needs_update(
    live: Mapping[str, Any], body: Mapping[str, Any], quiet_annotations: Collection[str] = _NO_KEYS
) -> bool:
    """A replacement would change `live`. Shape: both whole, as read by `get_map`."""
    return _bare(live, quiet_annotations) != _bare(body, quiet_annotations)


def without_annotations(body: Mapping[str, Any], keys: Collection[str]) -> Mapping[str, Any]:
    """The body less these annotations; an annotations map that becomes empty goes too."""
    annotations = (body.get("metadata") or {}).get("annotations")
    if not annotations or not any(key in annotations for key in keys):
        return body
    left = {key: text for key, text in annotations.items() if key not in keys}
    metadata = {key: value for key, value in body["metadata"].items() if key != "annotations"}
    if left:
        metadata["annotations"] = left
    return {**body, "metadata": metadata}


def owned_paths(live: Mapping[str, Any], manager: str) -> list[Path]:
    """The map fields `manager` owns by apply, leaves only. Below a list only the list itself: its items are compared."""
    entries: Sequence[Mapping[str, Any]] = (live.get("metadata") or {}).get("managedFields") or ()
    return [
        path
        for entry in entries
        if entry.get("manager") == manager and entry.get("operation") == "Apply"
        for path in _leaves(entry.get("fieldsV1") or {}, ())
    ]


def _leaves(fields: Mapping[str, Any], at: Path) -> Iterator[Path]:
    names = [name for name in fields if name.startswith("f:")]
    if not names:
        if at:
            yield at
        return
    for name in names:
        yield from _leaves(fields[name], (*at, name[2:]))


def _covers(live: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if not isinstance(live, Mapping):
            # An empty map and an absent one are the same to the API.
            return not wanted and live is None
        return all(_covers(live.get(key), value) for key, value in wanted.items() if value is not None)
    if isinstance(wanted, (list, tuple)):
        if not isinstance(live, (list, tuple)):
            return not wanted and live is None
        return len(live) == len(wanted) and all(_covers(*pair) for pair in zip(live, wanted, strict=True))
    return bool(live == wanted) and isinstance(live, bool) == isinstance(wanted, bool)


def _has(body: Any, path: Path) -> bool:
    for name in path:
        if not isinstance(body, Mapping) or name not in body:
            return False
        body = body[name]
    return True


def _is_quiet(path: Path, quiet_annotations: Collection[str]) -> bool:
    return path[:2] == ("metadata", "annotations") and (len(path) == 2 or path[2] in quiet_annotations)


def _patch_changes(live: Mapping[str, Any], patch: Mapping[str, Any]) -> bool:
    return any(_field_changes(live.get(key), value) for key, value in patch.items())


def _field_changes(live: Any, value: Any) -> bool:
    if isinstance(value, Mapping):
        if isinstance(live, Mapping):
            return _patch_changes(live, value)
        # Deletions below an absent map still make the map; the API drops empty metadata maps, and no plan asks for one.
        return any(each is not None for each in value.values())
    if value is None:
        return live is not None
    return bool(_plain(live) != _plain(value))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _bare(body: Mapping[str, Any], quiet_annotations: Collection[str]) -> dict[str, Any]:
    loud = dict(without_annotations(body, quiet_annotations))
    loud["metadata"] = {
        key: value for key, value in loud["metadata"].items() if key not in {"managedFields", "resourceVersion"}
    }
    return loud
