"""Which keys a provider remembers as its own on a Node: the lists in annotations, read and written.

Values are not stored; what is done about a key is `settle`'s. Source: specification 50 §2.3, B6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.features.keys import (
    DEFAULT_PREFIX,
    INSTALLATION,
    NFD_ANNOTATIONS,
    NFD_LABELS,
    OWN_ANNOTATIONS,
    OWN_LABELS,
)

NOTHING: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Owned:
    """The keys we own on a Node."""

    labels: frozenset[str] = NOTHING
    annotations: frozenset[str] = NOTHING


NOTHING_OWNED: Final = Owned()


@dataclass(frozen=True, slots=True)
class NfdLists:
    """What real NFDs list on a Node. Shape: `places` maps an annotation's key to the full keys it lists."""

    labels: frozenset[str] = NOTHING
    annotations: frozenset[str] = NOTHING
    places: tuple[tuple[str, frozenset[str]], ...] = ()


def read_owned(annotations: Mapping[str, str], remembered: Owned = NOTHING_OWNED) -> Owned:
    """Our lists; a list that is not there is the remembered one, which somebody has removed."""
    labels, others = annotations.get(OWN_LABELS), annotations.get(OWN_ANNOTATIONS)
    return Owned(
        remembered.labels if labels is None else _keys(labels),
        remembered.annotations if others is None else _keys(others),
    )


def written(owned: Owned, installation: str) -> dict[str, str | None]:
    """Our lists as annotations; None where there is nothing to write down."""
    labels, annotations = _text(owned.labels), _text(owned.annotations)
    return {
        OWN_LABELS: labels,
        OWN_ANNOTATIONS: annotations,
        INSTALLATION: installation if labels or annotations else None,
    }


def read_nfd(annotations: Mapping[str, str]) -> NfdLists:
    """The lists of all NFD instances that ever wrote here."""
    labels: set[str] = set()
    others: set[str] = set()
    places: list[tuple[str, frozenset[str]]] = []
    for place, text in sorted(annotations.items()):
        for name, kept in ((NFD_LABELS, labels), (NFD_ANNOTATIONS, others)):
            if place == name or place.endswith(f".{name}"):
                keys = frozenset(_with_prefix(key) for key in _keys(text))
                kept.update(keys)
                places.append((place, keys))
    return NfdLists(frozenset(labels), frozenset(others), tuple(places))


def without(lists: NfdLists, taken: frozenset[str]) -> dict[str, str | None]:
    """The annotations of NFD that change when these keys are no longer its own; None: nothing is left of one."""
    return {place: _text(_without_prefix(key) for key in keys - taken) for place, keys in lists.places if keys & taken}


def _keys(text: str | None) -> frozenset[str]:
    return frozenset(key for key in (text or "").split(",") if key)


def _text(keys: Iterable[str]) -> str | None:
    return ",".join(sorted(keys)) or None


def _with_prefix(key: str) -> str:
    return key if "/" in key else DEFAULT_PREFIX + key


def _without_prefix(key: str) -> str:
    return key.removeprefix(DEFAULT_PREFIX)
