"""The Secret of settings: keys that are missing are seeded, everything else is left as people wrote it.

A key that no rule declares stays, and is told; so is a value that is none of its setting's.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.cluster.actions import Action, Create, EmitEvent, MergePatch, reference
from engine.cluster.objects import Data
from engine.cluster.resources import SECRETS, key_of

MANAGER: Final = "engine-settings"
NAME: Final = "gpustack-settings"
"""Source: specification 20 §8.1."""


@dataclass(frozen=True, slots=True)
class SettingsNeighbourhood:
    """The Secret, what it would be seeded with, and what was found wrong with it (by key).

    Shape: `provider` is the reason and the message of a features provider in trouble, told here for want of a better place.
    """

    namespace: str
    seeds: Mapping[str, str]
    live: Data | None
    unknown: tuple[str, ...] = ()
    refused: Mapping[str, str] | None = None
    provider: tuple[str, str] | None = None


def plan(seen: SettingsNeighbourhood) -> list[Action]:
    """What the Secret needs now."""
    live = seen.live
    if live is None:
        body: dict[str, Any] = SECRETS.body(NAME, seen.namespace, type="Opaque", data=_encoded(seen.seeds))
        return [Create(SECRETS, body, MANAGER)]
    actions: list[Action] = []
    missing = {name: text for name, text in seen.seeds.items() if name not in live.data}
    if missing:
        patch = {"data": _encoded(missing)}
        actions.append(MergePatch(SECRETS, key_of(live), patch, MANAGER, live.metadata.resource_version))
    regarding = reference(SECRETS, live)
    actions += [
        EmitEvent(regarding, "SettingRefused", f"{why}; the value before stays in force", "ReadSettings", "Warning")
        for _, why in sorted((seen.refused or {}).items())
    ]
    if seen.unknown:
        note = f"no rule declares {', '.join(seen.unknown)}: kept, without effect; check the spelling"
        actions.append(EmitEvent(regarding, "SettingUnknown", note, "ReadSettings", "Warning"))
    if seen.provider is not None:
        reason, note = seen.provider
        actions.append(EmitEvent(regarding, reason, note, "ProvideFeatures", "Warning"))
    return actions


def _encoded(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: b64encode(text.encode()).decode("ascii") for name, text in sorted(texts.items())}
