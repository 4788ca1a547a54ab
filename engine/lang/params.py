"""Parameters: what a pack or a library lets others set, and whether a value fits.

Reads the declarations from a pack's tree. Who sets a value (a `use`, an overlay) is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from engine.lang.diagnostics import Diagnostics, Related, nearest
from engine.lang.source import Place
from engine.lang.tree import Entry, Map, Node, Scalar, plain

_ANY: Final = "any value"
_TYPES: Final[dict[type, str]] = {bool: "boolean", int: "integer", str: "string", list: "list", dict: "map"}


class Param(Struct, frozen=True):
    """One parameter. `default` is None where somebody has to give a value; a null default is a node."""

    name: str
    type: str
    place: Place
    default: Node | None
    minimum: int | None = None
    maximum: int | None = None
    allowed: tuple[Any, ...] | None = None


def params_of(block: Entry | None) -> dict[str, Param]:
    """The parameters of a `params` block; a bare value declares its own type."""
    entries = block.value.entries if block is not None and isinstance(block.value, Map) else ()
    return {entry.key.text: _param(entry) for entry in entries}


def defaults(params: Mapping[str, Param]) -> dict[str, Any]:
    """The default of each parameter as plain data; null where there is none."""
    return {name: None if param.default is None else plain(param.default) for name, param in params.items()}


def unfit(params: Mapping[str, Param], name: str, value: Any) -> str | None:
    """Why a parameter cannot have this value, in one line; None when it can. For values that stand in no tree."""
    if name not in params:
        meant = nearest(name, params)
        return f"there is no parameter `{name}`" + (f"; did you mean `{meant}`?" if meant else "")
    found = _fault(params[name], value)
    return None if found is None else f"the parameter `{name}` {found[1]}; {found[2]}"


def known(entry: Entry, params: Mapping[str, Param], owner: str, owner_place: Place, diagnostics: Diagnostics) -> bool:
    """Whether a parameter that somebody sets exists and its value fits; what is wrong is reported, both places named."""
    name = entry.key.text
    param = params.get(name)
    if param is None:
        meant = nearest(name, params)
        listed = f"it has {', '.join(sorted(params))}" if params else "it has none"
        diagnostics.error(
            "RP610",
            f"{owner} has no parameter `{name}`",
            entry.key.place,
            help=f"did you mean `{meant}`?" if meant else listed,
            related=(Related(owner, params[meant].place if meant else owner_place),),
        )
        return False
    fault = _fault(param, plain(entry.value))
    if fault is None:
        return True
    code, message, advice = fault
    place = entry.value.place if isinstance(entry.value, Scalar) else entry.key.place
    diagnostics.error(
        code,
        f"the parameter `{name}` of {owner} {message}",
        place,
        help=advice,
        related=(Related("declared here", param.place),),
    )
    return False


def _param(entry: Entry) -> Param:
    name, value = entry.key.text, entry.value
    if not isinstance(value, Map):
        return Param(name, _type(plain(value)), entry.key.place, value)
    written = plain(value)
    allowed = written.get("enum")
    return Param(
        name,
        written["type"],
        entry.key.place,
        value.get("default"),
        written.get("minimum"),
        written.get("maximum"),
        None if allowed is None else tuple(allowed),
    )


def _type(value: Any) -> str:
    return _TYPES.get(type(value), _ANY)


def _fault(param: Param, value: Any) -> tuple[str, str, str] | None:
    seen = _type(value)
    if param.type not in (_ANY, seen):
        return (
            "RP111",
            f"is of type {param.type}, got {'null' if value is None else seen}",
            f"give {'an' if param.type == 'integer' else 'a'} {param.type}",
        )
    if param.allowed is not None and value not in param.allowed:
        return "RP204", f"cannot be {value}", f"allowed: {', '.join(str(one) for one in param.allowed)}"
    if param.minimum is not None and value < param.minimum:
        return "RP204", f"cannot be {value}", f"the least is {param.minimum}"
    if param.maximum is not None and value > param.maximum:
        return "RP204", f"cannot be {value}", f"the most is {param.maximum}"
    return None
