"""The settings as rules see them: declared in a pack's `settings` block, given as text under dashed names.

Where the values are stored and who may change them is not known here; neither is what any setting does.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.chain.setting_formats import FORMATS, duration_seconds
from engine.errors import ContractError, UsageError

Value = bool | int | str
"""A setting's value, as expressions read it."""

_BOOLEANS = {"true": True, "false": False}
_BOOL_TYPES = ("bool", "boolean")
_INT_TYPES = ("int", "integer")
_CREDENTIAL = re.compile(r"//.*@")


@dataclass(frozen=True, slots=True)
class Setting:
    """One declared setting.

    Shape: `name` is dashed; `choices` is empty unless only these texts are taken; `least` and `most` bound a number, or a
    duration; `format` is one of `FORMATS` or none, and `takes_blank` that no text will do instead; `below` and `above` are
    settings that this one's number is less, or more, than.
    """

    name: str
    type: str
    default: Value
    choices: tuple[str, ...] = ()
    least: int | str | None = None
    most: int | str | None = None
    format: str = ""
    takes_blank: bool = False
    below: str = ""
    above: str = ""

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
            raise self.refusal(given, f"one of {', '.join(choice or 'blank' for choice in self.choices)}")
        return self._text(given) if self.format else given

    def _text(self, given: str) -> str:
        if not given and self.takes_blank:
            return given
        fits, wanted = FORMATS[self.format]
        if not given or not fits(given):
            raise self.refusal(given, f"{wanted}{', or blank' if self.takes_blank else ''}")
        if self.format == "duration":
            self._bound(given, lambda value: duration_seconds(str(value)) or 0)
        return given

    def _bound(self, given: int | str, size: Callable[[int | str], Any]) -> None:
        if self.least is not None and size(given) < size(self.least):
            raise self.refusal(given, f"{self.least} or more")
        if self.most is not None and size(given) > size(self.most):
            raise self.refusal(given, f"{self.most} or less")

    def _bool(self, given: object) -> bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str) and given in _BOOLEANS:
            return _BOOLEANS[given]
        raise self.refusal(given, "true or false")

    def _int(self, given: object) -> int:
        if isinstance(given, str) and given.removeprefix("-").isdecimal() and given.isascii():
            given = int(given)
        if not isinstance(given, int) or isinstance(given, bool):
            raise self.refusal(given, "a whole number")
        self._bound(given, int)
        return given

    def refusal(self, given: object, wanted: str) -> UsageError:
        """That a value cannot be, and what can; a credential in it is not shown."""
        shown = _CREDENTIAL.sub("//***@", repr(given))
        return UsageError(
            f"setting {self.name} cannot be {shown}",
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

        Raises: UsageError: a name that is not declared, a value of another type, or two that contradict each other.
        """
        by_name = {setting.name: setting for setting in self.declared}
        values = dict(self.values)
        for name, value in sorted(given.items()):
            if name not in by_name:
                raise _unknown_name(name, by_name)
            values[by_name[name].key] = by_name[name].value(value)
        made = Settings(self.declared, values, self.unknown)
        for less, more in made.contradictions():
            raise made.contradiction(less, more, more if more.name in given else less)
        return made

    def contradictions(self) -> tuple[tuple[Setting, Setting], ...]:
        """Settings of which one has to be less than the other and is not, the one that ought to be less first."""
        by_name = {setting.name: setting for setting in self.declared}
        pairs = {(each.name, each.below) for each in self.declared if each.below}
        pairs |= {(each.above, each.name) for each in self.declared if each.above}
        found = ((by_name[less], by_name[more]) for less, more in sorted(pairs))
        return tuple(pair for pair in found if int(self.values[pair[0].key]) >= int(self.values[pair[1].key]))

    def contradiction(self, less: Setting, more: Setting, refused: Setting) -> UsageError:
        """That one of two settings cannot be what it is beside the other."""
        other, side = (more, "less") if refused is less else (less, "more")
        wanted = f"{side} than {other.name}, which is {self.values[other.key]}"
        return refused.refusal(self.values[refused.key], wanted)


def parse_settings(block: Sequence[Mapping[str, Any]] | None, stored: Mapping[str, object] | None = None) -> Settings:
    """The settings a program declares, with the stored values of those that have one.

    Raises: ContractError: a declaration that says too little, or what code does not know; UsageError: a stored value that
    its setting does not take.
    """
    declared = tuple(_setting(entry) for entry in block or ())
    known = {setting.name for setting in declared}
    _check_neighbours(declared, known)
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
    made = Setting(
        name,
        str(entry.get("type", "string")),
        default,
        choices,
        check.get("min"),
        check.get("max"),
        str(check.get("format", "")),
        bool(check.get("blank")),
        str(check.get("below", "")),
        str(check.get("above", "")),
    )
    _check_format(made)
    return made


def _check_format(setting: Setting) -> None:
    if setting.format and setting.format not in FORMATS:
        raise ContractError(
            f"setting {setting.name} is checked for the format {setting.format!r}",
            why=f"code knows {', '.join(FORMATS)}",
            remedy="link the derivation packs that were shipped with this engine",
        )
    if setting.type in (*_BOOL_TYPES, *_INT_TYPES):
        return
    for bound in (setting.least, setting.most):
        if bound is not None and duration_seconds(str(bound)) is None:
            raise ContractError(f"setting {setting.name} is bounded by {bound!r}", why="that is no duration")


def _check_neighbours(declared: Sequence[Setting], known: Collection[str]) -> None:
    numbers = {setting.name for setting in declared if setting.type in _INT_TYPES}
    for setting in declared:
        for other in (setting.below, setting.above):
            if other and not {other, setting.name} <= numbers:
                why = "that is no number" if other in known else "there is no such setting"
                raise ContractError(f"setting {setting.name} is compared with {other!r}", why=why)


def _unknown_name(name: str, known: Mapping[str, Setting]) -> UsageError:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    camel = next((setting.name for setting in known.values() if setting.key == name), "")
    meant = camel or (near[0] if near else "")
    return UsageError(
        f"there is no setting {name!r}",
        remedy=f"did you mean {meant}?" if meant else "see the `settings` block of the derivation pack for all of them",
    )
