"""From bytes to structs, one bad object at a time.

A page or an event that fits is decoded in one go; only when something does not fit is each object looked at alone, so that
the others are not lost. Decodes nothing else than what the structs name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from engine.cluster.errors import BadObject, Status
from engine.cluster.objects import Broken, Part
from engine.cluster.resources import HasMeta, T

S = TypeVar("S")


class _ListMeta(Part, frozen=True):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct, Generic[S], gc=False):
    metadata: _ListMeta
    items: list[S] | None = None


class _Change(msgspec.Struct, Generic[S], gc=False):
    type: str
    object: S


class _Envelope(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


class _Identity(Part, frozen=True):
    """Metadata read as loosely as can be, for objects that cannot be read otherwise."""

    name: Any = ""
    namespace: Any = ""
    resource_version: Any = ""


class _Nameable(Part, frozen=True):
    metadata: _Identity = _Identity()


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list."""

    items: tuple[T, ...]
    broken: tuple[Broken, ...]
    resource_version: str
    token: str


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One line of a watch. `thing` is None for a bookmark and for an object that cannot be read (`broken` then)."""

    kind: str
    thing: T | None
    resource_version: str
    broken: Broken | None = None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


@cache
def _change_decoder(struct: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_Change[struct])


def decode_object(body: bytes, struct: type[T], where: str) -> T:
    """One object. Raises: BadObject."""
    try:
        thing: T = _decoder(struct).decode(body)
    except msgspec.DecodeError as error:
        raise BadObject("an object cannot be read", where=where, why=str(error)) from error
    return thing


def decode_page(body: bytes, struct: type[T], where: str) -> Page[T]:
    """A page of a list. Raises: BadObject: it is no list at all."""
    kind: Any = struct
    try:
        page = _decoder(_Page[kind]).decode(body)
        return Page(tuple(page.items or ()), (), page.metadata.resource_version, page.metadata.continue_)
    except msgspec.DecodeError:
        pass
    try:
        raw = _decoder(_Page[msgspec.Raw]).decode(body)
    except msgspec.DecodeError as error:
        raise BadObject("a list cannot be read", where=where, why=str(error)) from error
    items: list[T] = []
    broken: list[Broken] = []
    for each in raw.items or ():
        found = _one(each, struct)
        if isinstance(found, Broken):
            broken.append(found)
        else:
            items.append(found)
    return Page(tuple(items), tuple(broken), raw.metadata.resource_version, raw.metadata.continue_)


def decode_event(line: bytes, struct: type[T], where: str) -> WatchEvent[T] | Status:
    """One line of a watch; a Status is the server's ERROR. Raises: BadObject: the line is no event.

    Cost: a change of an object that fits is read in one pass; whatever else a line is, in a second one.
    """
    try:
        change = _change_decoder(struct).decode(line)
        if change.type not in ("ERROR", "BOOKMARK"):
            return WatchEvent(change.type, change.object, change.object.metadata.resource_version)
    except msgspec.DecodeError:
        pass
    try:
        envelope = _decoder(_Envelope).decode(line)
        if envelope.type == "ERROR":
            status: Status = _decoder(Status).decode(envelope.object)
            return status
        if envelope.type == "BOOKMARK":
            mark = _decoder(_Nameable).decode(envelope.object)
            return WatchEvent("BOOKMARK", None, str(mark.metadata.resource_version))
    except msgspec.DecodeError as error:
        raise BadObject("a watch event cannot be read", where=where, why=str(error)) from error
    found = _one(envelope.object, struct)
    if isinstance(found, Broken):
        return WatchEvent(envelope.type, None, found.resource_version, found)
    return WatchEvent(envelope.type, found, found.metadata.resource_version)


def _one(raw: msgspec.Raw, struct: type[T]) -> T | Broken:
    try:
        thing: T = _decoder(struct).decode(raw)
    except msgspec.DecodeError as error:
        why = str(error)
    else:
        return thing
    try:
        who = _decoder(_Nameable).decode(raw).metadata
    except msgspec.DecodeError:
        return Broken(name="", why=why)
    texts = [value if isinstance(value, str) else "" for value in (who.name, who.namespace, who.resource_version)]
    return Broken(name=texts[0], namespace=texts[1], resource_version=texts[2], why=why)


def as_map(thing: HasMeta) -> dict[str, Any]:
    """A struct as the JSON map it was read from, less what was not read."""
    found: dict[str, Any] = msgspec.to_builtins(thing)
    return found
