"""Absence is not removal: which objects still count though they are gone, and which keys stay though nobody wants them.

Source: specification 50 B7, B8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.features.hostfacts import states_host
from engine.features.keys import DEFAULT_PREFIX, RuleKeys, is_host_label
from engine.features.neighbourhood import Gone, Neighbourhood
from engine.features.objects import FeatureObject


def present_objects(neighbourhood: Neighbourhood, grace_seconds: float) -> tuple[FeatureObject, ...]:
    """The objects that count: those that are there, those that vanished just now, and the last word on the host."""
    uid = neighbourhood.node.uid
    here = tuple(each for each in neighbourhood.objects if not each.owner_uid or not uid or each.owner_uid == uid)
    is_host_told = any(states_host(each.features) for each in here)
    kept: list[FeatureObject] = []
    for gone in neighbourhood.gone:
        if neighbourhood.now_seconds < gone.at_seconds + grace_seconds:
            kept.append(gone.object)
        elif not is_host_told and states_host(gone.object.features):
            kept.append(_host_part(gone.object))
    return (*here, *kept)


def next_expiry(neighbourhood: Neighbourhood, grace_seconds: float) -> float | None:
    """When the next object that vanished stops counting."""
    ends = [each.at_seconds + grace_seconds for each in neighbourhood.gone]
    return min((each for each in ends if each > neighbourhood.now_seconds), default=None)


def is_spent(gone: Gone, here: Iterable[FeatureObject], now_seconds: float, grace_seconds: float) -> bool:
    """A vanished object that will never count again."""
    if now_seconds < gone.at_seconds + grace_seconds:
        return False
    return not states_host(gone.object.features) or any(states_host(each.features) for each in here)


def is_host_key(key: str, value: str | None, keys: RuleKeys) -> bool:
    """A key that follows from host facts alone, so that it cannot be taken back without any."""
    return is_host_label(key) or key.startswith(keys.cpu_fact) or (key == keys.is_acceleratable and value == "false")


def _host_part(vanished: FeatureObject) -> FeatureObject:
    labels = {key: value for key, value in vanished.labels.items() if "/" not in key or key.startswith(DEFAULT_PREFIX)}
    return replace(vanished, labels=labels)
