"""Whether a document fits the models of packs: yes or no, from an outline of them, at a fraction of their cost.

Says nothing of what is wrong: whoever gets a no asks the models. `outline.json` is made from them (`model_outline`), and
tests hold the two together. Loading the models takes longer than reading all the packs that Engine ships with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine.lang import model_choices

API_VERSION: Final = "rules.gpustack.ai/v1alpha1"
KINDS: Final = ("Manufacturer", "Derivation", "Library", "Overlay")
OUTLINE_FILE: Final = Path(__file__).with_name("outline.json")

Fits = Callable[[Any], bool]

_SCALARS: Final[Mapping[str, type]] = {"str": str, "int": int, "bool": bool}


def fits(kind: str, document: Any) -> bool:
    """Whether a document of a kind, as plain data, is one that its model takes."""
    return _known()[kind](document)


@cache
def _known() -> Mapping[str, Fits]:
    outline = json.loads(OUTLINE_FILE.read_text(encoding="utf-8"))
    return _Reading(outline["shapes"]).all()


class _Reading:
    """Makes a test of every shape. Shapes name each other, also in circles."""

    def __init__(self, shapes: Mapping[str, Any]) -> None:
        self._shapes = shapes
        self._made: dict[str, Fits] = {}

    def all(self) -> Mapping[str, Fits]:
        for name, shape in self._shapes.items():
            self._made[name] = self._test(shape)
        return self._made

    def _test(self, shape: Any) -> Fits:  # noqa: C901 - one case a shape
        match shape:
            case "any":
                return lambda _: True
            case str():
                wanted = _SCALARS[shape]
                return lambda value: type(value) is wanted
            case {"pattern": pattern}:
                match_whole = re.compile(pattern.replace(r"\z", r"\Z")).match
                return lambda value: type(value) is str and match_whole(value) is not None
            case {"literal": allowed}:
                return lambda value: any(type(value) is type(one) and value == one for one in allowed)
            case {"ref": name}:
                return lambda value: self._made[name](value)  # noqa: PLW0108 - it may not be made yet
            case {"or_null": inner}:
                fits_inner = self._test(inner)
                return lambda value: value is None or fits_inner(value)
            case {"list": inner}:
                fits_inner = self._test(inner)
                return lambda value: type(value) is list and all(map(fits_inner, value))
            case {"map": [key, inner]}:
                fits_key, fits_inner = self._test(key), self._test(inner)
                return lambda value: (
                    type(value) is dict and all(map(fits_key, value)) and all(map(fits_inner, value.values()))
                )
            case {"choose": name, "of": choices}:
                return _chosen(getattr(model_choices, name), {tag: self._test(one) for tag, one in choices.items()})
            case {"read_as": name, "then": inner}:
                read, fits_inner = getattr(model_choices, name), self._test(inner)
                return lambda value: fits_inner(read(value))
            case {"without": name, "then": inner}:
                fault, fits_inner = getattr(model_choices, name), self._test(inner)
                return lambda value: fits_inner(value) and fault(value) is None
            case _:
                members = {key: self._test(one) for key, one in shape["keys"].items()}
                return _closed(members, frozenset(shape["required"]))


def _chosen(choose: Callable[[Any], str], choices: Mapping[str, Fits]) -> Fits:
    return lambda value: choices[choose(value)](value)


def _closed(members: Mapping[str, Fits], required: frozenset[str]) -> Fits:
    def fits_map(value: Any) -> bool:
        if type(value) is not dict or not required <= value.keys():
            return False
        for key, inner in value.items():
            member = members.get(key)
            if member is None or not member(inner):
                return False
        return True

    return fits_map
