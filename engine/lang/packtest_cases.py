"""Tests of packs as written, turned into single cases: bases put under `given`, `cases` spread out, prefixes added.

Runs nothing and knows no section. Tests come as plain objects; how they are read is the reader's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.errors import InputError
from engine.lang.types import MISSING

_STATED: Final = ("expect", "partial", "partialEach", "absent", "fires", "silent", "refuses", "unknown")
_ASSERTIONS: Final = ("expect", "absent", "fires", "silent", "refuses", "unknown")


@dataclass(frozen=True, slots=True)
class Case:
    """One input and what is expected of it.

    Shape: `expect` is MISSING when nothing is said; `refuses` and `unknown` are None then; `unknown` is a text that the
    reason has to be (or to hold, when `is_partial`), `""` for any reason; `params` are values of the pack's parameters other
    than its own. `place` is whatever the test carried (`str()` of it is `file:line`).
    """

    name: str
    section: str
    given: Mapping[str, Any]
    place: Any = None
    expect: Any = MISSING
    is_partial: bool = False
    partial_each: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    fires: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    refuses: str | None = None
    unknown: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


Fit = Callable[[str, str, Any], Any]
"""A base (its name, its value) as far as a section (named first) knows its fields."""


def expand(
    test: Mapping[str, Any], bases: Mapping[str, Any], fit: Fit = lambda _section, _name, base: base
) -> Iterator[Case]:
    """The cases of one test, in the order written; the test itself when it has none.

    Shape: `fit` is asked about every base a test names, so that one base serves sections that know more and less of it.
    Raises: InputError: a base that is not there, an empty `cases`, or a case that expects nothing.
    """
    name, section = str(test.get("name", "")), str(test.get("section", ""))

    def under(written: Mapping[str, Any]) -> Any:
        return _under(written, bases, name, lambda base, value: fit(section, base, value))

    given = merged(under(test), test.get("given") or {})
    params = test.get("params") or {}
    place = test.get("place")
    written = test.get("cases")
    if written is None:
        yield _case(name, section, given, place, test)
        return
    if not written:
        raise InputError(f"test `{name}` has no case", why="its `cases` is empty", remedy="remove the key, or add one")
    for number, case in enumerate(written, start=1):
        own = merged(merged(given, under(case)), case.get("given") or {})
        said = {key: test[key] for key in _STATED if key in test} | dict(case)
        said["params"] = {**params, **(case.get("params") or {})}
        label = f"{name} [{case.get('name', number)}]"
        yield _case(label, section, own, case.get("place", place), {"prefix": test.get("prefix", ""), **said})


def merged(under: Any, over: Any) -> Any:
    """`over` laid on `under`: maps merge at every depth, anything else replaces (a list as a whole, a null too)."""
    if isinstance(under, Mapping) and isinstance(over, Mapping):
        return {**under, **{key: merged(under[key], value) if key in under else value for key, value in over.items()}}
    return over


def _under(
    written: Mapping[str, Any], bases: Mapping[str, Any], name: str, fit: Callable[[str, Any], Any]
) -> dict[str, Any]:
    named = written.get("from") or []
    made: dict[str, Any] = {}
    for base in [named] if isinstance(named, str) else named:
        if base not in bases:
            known = ", ".join(bases) or "none"
            raise InputError(f"test `{name}` builds on base `{base}`", why="there is none", remedy=f"known: {known}")
        made = merged(made, fit(base, bases[base]))
    return made


def _case(name: str, section: str, given: Mapping[str, Any], place: Any, said: Mapping[str, Any]) -> Case:
    if not any(key in said for key in _ASSERTIONS):
        wanted = ", ".join(_ASSERTIONS)
        raise InputError(f"test `{name}` expects nothing", why="it could not fail", remedy=f"give one of {wanted}")
    refuses, unknown = said.get("refuses"), said.get("unknown")
    return Case(
        name=name,
        section=section,
        given=given,
        place=place,
        expect=said.get("expect", MISSING),
        is_partial=said.get("partial") is True,
        partial_each=tuple(said.get("partialEach") or ()),
        absent=tuple(said.get("absent") or ()),
        fires=tuple(said.get("fires") or ()),
        silent=tuple(said.get("silent") or ()),
        refuses=None if refuses is None else f"{said.get('prefix', '')}{refuses}",
        unknown=None if unknown in (None, False) else "" if unknown is True else str(unknown),
        params=said.get("params") or {},
    )
