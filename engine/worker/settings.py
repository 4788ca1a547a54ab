"""The settings in force: read from the Secret, one bad value at a time, and what it is seeded with.

Which settings there are is the rules' `settings` block; what they do is the rules' too.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.chain.settings import Settings, Value, parse_settings
from engine.errors import UsageError


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Settings as they were read. Shape: `refused` are texts for people by key; those keys keep their last good value."""

    settings: Settings
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> Mapping[str, Value]:
        return self.settings.values


class SettingsReader:
    """Reads stored settings against the declarations of one program."""

    def __init__(self, block: Any, environment: Mapping[str, str]) -> None:
        """Raises: UsageError: a variable of the environment is no value of its setting, or two contradict each other."""
        declared = parse_settings(block)
        self.seeds = seeds(declared, environment)
        self._start = declared.changed(self.seeds)

    def first(self) -> ReadSettings:
        """What is in force before anything was read."""
        return ReadSettings(self._start)

    def read(self, data: Mapping[str, str] | None, before: ReadSettings) -> ReadSettings:
        """What a Secret's data comes to; without one, everything stays."""
        if data is None:
            return before
        known = {setting.name: setting for setting in before.settings.declared}
        unknown = tuple(sorted(data.keys() - known.keys()))
        values, refused = dict(self._start.values), {}
        for name in sorted(data.keys() & known.keys()):
            setting = known[name]
            try:
                values[setting.key] = setting.value(_decoded(name, data[name]))
            except UsageError as error:
                refused[name] = str(error)
                values[setting.key] = before.values[setting.key]
        settings = replace(self._start, values=values, unknown=unknown)
        return ReadSettings(_consistent(settings, before, refused), refused)


def seeds(declared: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """What missing settings are stored with: `GPUSTACK_<NAME>` of the environment, or the default.

    Raises: UsageError: a variable's value is none of its setting's.
    """
    made = {}
    for setting in declared.declared:
        given = environment.get(variable(setting.name))
        made[setting.name] = _text(setting.default if given is None else setting.value(given))
    return made


def variable(name: str) -> str:
    """`node-management-manual` is seeded from `GPUSTACK_NODE_MANAGEMENT_MANUAL`."""
    return f"GPUSTACK_{name.upper().replace('-', '_')}"


def changes(before: ReadSettings, after: ReadSettings) -> dict[str, Value]:
    """The settings whose values differ, by their name in rules."""
    return {key: value for key, value in sorted(after.values.items()) if before.values.get(key) != value}


def _consistent(settings: Settings, before: ReadSettings, refused: dict[str, str]) -> Settings:
    """The settings with those taken back that contradict another by what they are now; values before never did."""
    values = dict(settings.values)
    for less, more in settings.contradictions():
        for setting in (less, more):
            if settings.values[setting.key] != before.values[setting.key]:
                refused[setting.name] = str(settings.contradiction(less, more, setting))
                values[setting.key] = before.values[setting.key]
    return settings if values == settings.values else _consistent(replace(settings, values=values), before, refused)


def _decoded(name: str, stored: str) -> str:
    try:
        return b64decode(stored, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise UsageError(f"setting {name} cannot be read", why=str(error), remedy="store it as text") from error


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
