"""What the models of packs decide by looking at a value as it was written: which choice it is, and rules between its keys.

Plain functions of plain YAML values, so that both who judges documents in full (the models) and who only asks whether they
fit (`outline`) use the same ones. No library is needed here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from msgspec import Struct

Raw = Mapping[str, Any]

_PYTHON_TYPES: Final[Mapping[str, type]] = {"boolean": bool, "integer": int, "string": str, "list": list, "map": dict}

_CHECKED: Final[Mapping[str, tuple[str, ...]]] = {
    "format": ("string",),
    "blank": ("string",),
    "enum": ("string",),
    "min": ("integer", "string"),
    "max": ("integer", "string"),
    "below": ("integer",),
    "above": ("integer",),
}
"""The types of settings that each check is for."""


class Fault(Struct, frozen=True):
    """What is wrong between the keys of one map: a code of the catalogue, and the text; `at` is the key it is about."""

    code: str
    text: str
    at: str | None = None


def is_tag(step: Hashable) -> bool:
    """Whether a step of an error's path names a choice, not a key: choices are spelled `<so>`."""
    return isinstance(step, str) and step.startswith("<")


# choices


def codes_kind(value: Any) -> str:
    """A list of codes, or any text."""
    return "<codes>" if isinstance(value, list) else "<text>"


def preset_kind(value: Any) -> str:
    """A family of products, or a prefix of their names."""
    return "<family>" if isinstance(value, dict) else "<prefix>"


def param_kind(value: Any) -> str:
    """A parameter with its type, or its value alone."""
    return "<declared>" if isinstance(value, dict) else "<value>"


def row_kind(value: Any) -> str:
    """A row for numbers below one, or for a name."""
    return "<below>" if isinstance(value, dict) and "below" in value else "<match>"


def table_kind(value: Any) -> str:
    """Rows that are tried in order, or values by key."""
    return "<rows>" if isinstance(value, list) else "<map>"


def message_kind(value: Any) -> str:
    """Texts by state, or one text."""
    return "<map>" if isinstance(value, dict) else "<text>"


def rule_kind(value: Any) -> str:
    """Rules that share something, or one rule."""
    return "<group>" if isinstance(value, dict) and "rules" in value else "<rule>"


def unknown_kind(value: Any) -> str:
    """That a section could not tell, or the reason."""
    return "<flag>" if isinstance(value, bool) else "<text>"


# short forms


def bare_rules(value: Any) -> Any:
    """A section written as a list of rules has nothing else."""
    return {"rules": value} if isinstance(value, list) else value


def one_or_many(value: Any) -> Any:
    """A text stands for a list of one."""
    return [value] if isinstance(value, str) else value


# rules between keys


def pci_fault(value: Raw) -> Fault | None:
    """A match of PCI devices is narrower than their vendor."""
    if value.get("classPrefixes") or value.get("devices"):
        return None
    return Fault("RP202", "a vendor alone is no match: its bridges share the id; give `classPrefixes` or `devices`")


def probe_fault(value: Raw) -> Fault | None:
    """A probe asks for a path or for a line, not for both."""
    path, file, line = (value.get(key) for key in ("path", "file", "line"))
    if (path is None) == (file is None) or (file is None) != (line is None):
        return Fault("RP203", "a probe is `{path}` or `{file, line}`")
    return None


def rule_fault(value: Raw) -> Fault | None:
    """A rule emits, or says that it cannot tell."""
    emits, is_unknown = "emit" in value, value.get("unknown") is not None
    if emits and is_unknown:
        return Fault("RP203", "a rule has `emit` or `unknown`, not both")
    if not emits and not is_unknown:
        return Fault("RP202", "the rule has neither `emit` nor `unknown`, so it says nothing")
    return None


def default_fault(value: Raw) -> Fault | None:
    """A default, where there is one, is of the declared type; `type()` because a boolean is an integer to Python."""
    if "default" in value and type(value["default"]) is not _PYTHON_TYPES[value["type"]]:
        return Fault("RP111", f"the default is not of type {value['type']}", at="default")
    return None


def param_fault(value: Raw) -> Fault | None:
    """What a parameter may be fits its type, and its default is one of the values it may have."""
    kind = value["type"]
    for key in ("minimum", "maximum"):
        if value.get(key) is not None and kind != "integer":
            return Fault("RP111", f"a {kind} has no {key}; only an integer has", at=key)
    allowed = value.get("enum")
    odd = next((one for one in allowed or () if type(one) is not _PYTHON_TYPES[kind]), None)
    if odd is not None:
        return Fault("RP111", f"`{odd}` is listed as allowed and is not of type {kind}", at="enum")
    return default_fault(value) or _outside(value, allowed)


def setting_fault(value: Raw) -> Fault | None:
    """A default is of the declared type, and a check is one that values of this type can fail."""
    check, kind = value.get("check") or {}, value["type"]
    for key, wanted in check.items():
        if kind not in _CHECKED[key]:
            kinds = " or ".join(_CHECKED[key])
            return Fault("RP203", f"`{key}` checks a value of type {kinds}, not {kind}", at="check")
        if key in ("min", "max") and type(wanted) is not _PYTHON_TYPES[kind]:
            return Fault("RP111", f"`{key}` of a setting of type {kind} is not of that type", at="check")
        if key in ("min", "max") and kind == "string" and check.get("format") != "duration":
            return Fault("RP203", f"of texts only a `duration` has a `{key}`", at="check")
    return default_fault(value)


def _outside(value: Raw, allowed: list[Any] | None) -> Fault | None:
    if "default" not in value:
        return None
    default, least, most = value["default"], value.get("minimum"), value.get("maximum")
    wanted = ""
    if allowed is not None and default not in allowed:
        wanted = f"one of {', '.join(f'`{one}`' for one in allowed)} is wanted"
    elif least is not None and default < least:
        wanted = f"the least is {least}"
    elif most is not None and default > most:
        wanted = f"the most is {most}"
    return Fault("RP204", f"the default is `{default}`, and {wanted}", at="default") if wanted else None
