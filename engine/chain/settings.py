"""The settings as rules see them: declared in a pack's `settings` block, given as text under dashed names.

Where the values are stored and who may change them is not known here; neither is what any setting does.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import ContractError, UsageError

Value = bool | int | str
"""A setting's value, as expressions read it."""

_BOOLEANS = {"true": True, "false": False}
_BOOL_TYPES = ("bool", "boolean")
_INT_TYPES = ("int", "integer")


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting.

    Shape: `name` is dashed; `choices` is empty unless only these texts are taken; `least` and `most` bound a number.
    What a registry, an image or an address looks like is not checked here: whoever uses it says so better.
    """

    name: str
    type: str
    default: Value
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None

    @property
    def key(self) -> str:
        """The name in expressions: `instance-type-mixed-on-node` is `instanceTypeMixedOnNode`."""
        return camel_case(self.name)

    def value(self, given: object) -> Value:
        """What was given, as this setting's type.

        Raises: UsageError: it is no value of that type, or not one of the choices.
        """
        if self.type in _BOOL_TYPES:
            return self._bool(given)
        if self.type in _INT_TYPES:
            return self._int(given)
        if not isinstance(given, str):
            given = str(given).lower() if isinstance(given, bool) else str(given)
        if self.choices and given not in self.choices:
            raise self._refusal(given, f"one of {', '.join(choice or 'blank' for choice in self.choices)}")
        return given

    def _bool(self, given: object) -> bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str) and given in _BOOLEANS:
            return _BOOLEANS[given]
        raise self._refusal(given, "true or false")

    def _int(self, given: object) -> int:
        if isinstance(given, str) and given.removeprefix("-").isdecimal() and given.isascii():
            given = int(given)
        if not isinstance(given, int) or isinstance(given, bool):
            raise self._refusal(given, "a whole number")
        if self.least is not None and given < self.least:
            raise self._refusal(given, f"{self.least} or more")
        if self.most is not None and given > self.most:
            raise self._refusal(given, f"{self.most} or less")
        return given

    def _refusal(self, given: object, wanted: str) -> UsageError:
        return UsageError(
            f"setting {self.name} cannot be {given!r}",
            why=f"it takes {wanted}",
            remedy=f"the default is {self.default}",
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their values.

    Shape: `values` by camelCase name, every declared one there; `unknown` the dashed names that were given but are not
    declared, sorted: they are kept by whoever stores them, and change nothing here.
    """

    declared: tuple[Setting, ...]
    values: Mapping[str, Value]
    unknown: tuple[str, ...] = ()

    def changed(self, given: Mapping[str, object]) -> Settings:
        """These settings with some of them set to other values, by dashed name.

        Raises: UsageError: a name that is not declared, or a value of another type.
        """
        by_name = {setting.name: setting for setting in self.declared}
        values = dict(self.values)
        for name, value in sorted(given.items()):
            if name not in by_name:
                raise _unknown_name(name, by_name)
            values[by_name[name].key] = by_name[name].value(value)
        return Settings(self.declared, values, self.unknown)


def parse_settings(block: Sequence[Mapping[str, Any]] | None, stored: Mapping[str, object] | None = None) -> Settings:
    """The settings a program declares, with the stored values of those that have one.

    Raises: ContractError: a declaration without name or default; UsageError: a stored value of another type.
    """
    declared = tuple(_setting(entry) for entry in block or ())
    known = {setting.name for setting in declared}
    given = stored or {}
    start = Settings(
        declared,
        {setting.key: setting.value(setting.default) for setting in declared},
        tuple(sorted(name for name in given if name not in known)),
    )
    return start.changed({name: value for name, value in given.items() if name in known})


def camel_case(dashed: str) -> str:
    """`node-management-manual` is `nodeManagementManual`."""
    first, *rest = dashed.split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _setting(entry: Mapping[str, Any]) -> Setting:
    name, default = entry.get("name"), entry.get("default")
    if not isinstance(name, str) or not isinstance(default, (bool, int, str)):
        raise ContractError(f"a setting is declared as {dict(entry)!r}", why="it needs a name and a default")
    check = entry.get("check") or {}
    choices = tuple(str(choice) for choice in check.get("enum", ()))
    if choices and check.get("blank"):
        choices = (*choices, "")
    return Setting(name, str(entry.get("type", "string")), default, choices, check.get("min"), check.get("max"))


def _unknown_name(name: str, known: Mapping[str, Setting]) -> UsageError:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    camel = next((setting.name for setting in known.values() if setting.key == name), "")
    meant = camel or (near[0] if near else "")
    return UsageError(
        f"there is no setting {name!r}",
        remedy=f"did you mean {meant}?" if meant else "see the `settings` block of the derivation pack for all of them",
    )
