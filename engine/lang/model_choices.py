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
