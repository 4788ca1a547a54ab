"""What all types of this package share: the base of structs, numbers with their widths, how lists are merged.

Knows no kind. Descriptions are for `kubectl explain`: they say what a person wants to know of a field.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from engine.api.rule import Rule
from engine.cluster.objects import Meta as ReadMeta

Extra = dict[str, Any]

INT32: Final[Extra] = {"format": "int32"}
INT64: Final[Extra] = {"format": "int64"}
MOST_INT32: Final = 2**31 - 1
MOST_UINT32: Final = 2**32 - 1

ATOMIC: Final[Extra] = {"x-kubernetes-list-type": "atomic"}
"""The list is one value: who writes it writes all of it."""

QUANTITY_PATTERN: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?[0-9]+)?$"
"""Source: the serialisation format documented for Kubernetes' `resource.Quantity`."""

LONGEST_NAME: Final = 253
LONGEST_QUANTITY: Final = 64
"""Chosen: longer than any quantity that means something, short enough to bound the cost of the rules that read one."""

Count = Annotated[int, Meta(ge=0, le=MOST_INT32, extra_json_schema=INT32)]
Index = Annotated[int, Meta(ge=0, le=MOST_UINT32, extra_json_schema=INT64)]
Mib = Annotated[int, Meta(ge=0, extra_json_schema=INT64)]
Quantity = Annotated[
    str | int,
    Meta(extra_json_schema={"pattern": QUANTITY_PATTERN, "maxLength": LONGEST_QUANTITY}),
]
"""As Kubernetes reads amounts: `4`, `"4"` and `"4000m"` are one value. We write texts."""


class Fields(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True, gc=False):
    """Base of all objects: frozen, camelCase keys, defaults left out when written, unknown keys skipped when read.

    A field that is always written, 0 and false included, has its default from `written`.
    """

    RULES: ClassVar[tuple[Rule, ...]] = ()
    """What the API server checks about the whole object, beside the type of each field."""


class ObjectMeta(ReadMeta, frozen=True, omit_defaults=True):
    """metadata as it is read, and written without what is empty. Who owns which field nobody asks of a typed object."""


def written(default: str | int) -> Any:
    """A default for a field that is written whatever it holds: the encoder leaves out only defaults that are values."""
    return msgspec.field(default_factory=lambda: default)


def keyed(*keys: str) -> Extra:
    """A list whose items are told apart by these fields, so that two writers can each own theirs."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def one_of(*values: str) -> Extra:
    """A closed set the API server holds writers to; the struct reads any text, so an unknown one is no broken object."""
    return {"enum": list(values)}


def defaulted(value: str) -> Extra:
    """What the API server fills in when the field is absent."""
    return {"default": value}
