"""Which keys a pack model knows at a path, and where else a key is known.

Walks the models' annotations, so that no second list of keys exists. Validates nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from engine.lang.model_choices import is_tag

_Shape = Any  # a type annotation as pydantic resolved it


def known_keys(model: type[BaseModel], steps: Sequence[Hashable]) -> tuple[str, ...]:
    """The keys the model at the end of an error's path knows, in the order they are declared; empty for free maps."""
    shape: _Shape = model
    for step in steps:
        shape = _step(shape, step)
    found = _as_model(shape)
    return tuple(_fields(found)) if found else ()


@cache
def homes(model: type[BaseModel]) -> dict[str, tuple[str, ...]]:
    """For every key any model of a document knows, the paths under which it is known, shallowest first."""
    found: dict[str, list[str]] = {}
    queue: list[tuple[type[BaseModel], str]] = [(model, "")]
    seen: set[type[BaseModel]] = set()
    while queue:
        here, path = queue.pop(0)
        if here in seen:
            continue
        seen.add(here)
        for key, shape in _fields(here).items():
            found.setdefault(key, []).append(path or "the top level")
            queue += list(_children(shape, f"{path}.{key}" if path else key))
    return {key: tuple(paths) for key, paths in found.items()}


def _fields(model: type[BaseModel]) -> dict[str, _Shape]:
    return {info.alias or name: info.annotation for name, info in model.model_fields.items()}


def _as_model(shape: _Shape) -> type[BaseModel] | None:
    shape = _bare(shape)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return shape
    for choice in _choices(shape):
        if found := _as_model(choice):
            return found
    return None


def _step(shape: _Shape, step: Hashable) -> _Shape:
    shape = _bare(shape)
    if is_tag(step):
        return next((choice for choice in _choices(shape) if _tag(choice) == step), None)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return _fields(shape).get(str(step))
    if _origin(shape) is dict:
        return get_args(shape)[1]
    if _origin(shape) is tuple:
        return get_args(shape)[0]
    return next((found for choice in _choices(shape) if (found := _step(choice, step)) is not None), None)


def _children(shape: _Shape, path: str) -> Iterator[tuple[type[BaseModel], str]]:
    shape = _bare(shape)
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        yield shape, path
    elif _origin(shape) is dict:
        yield from _children(get_args(shape)[1], f"{path}.<name>")
    elif _origin(shape) is tuple:
        yield from _children(get_args(shape)[0], f"{path}[]")
    else:
        for choice in _choices(shape):
            yield from _children(choice, path)


def _choices(shape: _Shape) -> tuple[_Shape, ...]:
    return get_args(shape) if _origin(shape) in (Union, UnionType) else ()


def _tag(shape: _Shape) -> str | None:
    extras: tuple[Any, ...] = get_args(shape)[1:] if _origin(shape) is Annotated else ()
    return next((extra.tag for extra in extras if isinstance(extra, Tag)), None)


def _bare(shape: _Shape) -> _Shape:
    while _origin(shape) is Annotated:
        shape = get_args(shape)[0]
    return shape


def _origin(shape: _Shape) -> Any:
    return get_origin(shape)
