"""The `constants` block: every name that rules write by and code reads back by, and how code asks for one.

What a constant's value is, is the rules'; linking holds a block to these names, no more and no fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.errors import ContractError

PREFIXES: Final = (
    "feature",
    "general",
    "acceleratable",
    "cpuFact",
    "fitSliced",
    "fitShared",
    "credits",
    "device",
    "note",
    "schedule",
)
"""Begin a key, their separator included."""

KEYS: Final = (
    "isAcceleratable",
    "cpuOnly",
    "managed",
    "os",
    "arch",
    "hostname",
    "profile",
    "type",
    "derivedFromNode",
    "entrance",
    "queue",
    "emptyPlanHold",
)
"""Whole keys of labels and annotations."""

SUFFIXES: Final = ("count", "capacity", "memory", "product", "family", "cores", "visibility")
"""End a key, their separator included."""

VALUES: Final = ("generic", "typeNodes", "typeInstanceTypes", "typeTopology", "checkNodeDevices", "checkJoint")
"""Values of labels, and names of objects."""

NAMES: Final = (*PREFIXES, *KEYS, *SUFFIXES, *VALUES)


class ReadConstants(dict[str, str]):
    """A block as code reads it. Raises: ContractError: a constant that is not there is asked for."""

    def __missing__(self, name: str) -> str:
        raise ContractError(
            f"no constant {name}",
            why="code reads labels back by it",
            remedy="link the derivation packs that were shipped with this engine",
        )


def read_constants(block: Mapping[str, Any] | None) -> ReadConstants:
    """The `constants` block of a program, which may have been linked by another version of Engine."""
    return ReadConstants(block or {})
