"""Kubernetes quantities, and versions: texts that stand for numbers.

Both are exact: a quantity that is not whole is an error, never rounded.
"""

from __future__ import annotations

from engine.errors import EvaluationError
from engine.lang.functions.function import function
from engine.values import quantities, versions


def _parse_quantity(text: str) -> int:
    value = quantities.parse_quantity(text)
    if not isinstance(value, int):
        raise EvaluationError(f"the quantity {text!r} is not whole", why="the language has integers only")
    return value


GROUP = (
    function(
        "quantities",
        "parse_quantity(quantity: str) -> int",
        _parse_quantity,
        help="The value of a Kubernetes quantity in its own unit; one that is not whole is an error.",
        example=("parse_quantity('16Gi')", 17179869184),
        cost=3,
    ),
    function(
        "quantities",
        "binary_quantity(mib: int) -> str",
        quantities.binary_quantity,
        help="Memory in MiB as a quantity with the largest binary unit that leaves no fraction.",
        example=("binary_quantity(`32768`)", "32Gi"),
        cost=2,
    ),
    function(
        "quantities",
        "gi_label(mib: int) -> str",
        quantities.gi_label,
        help="Memory in MiB as the label writes it: to the nearest Gi, at least 1Gi.",
        example=("gi_label(`24563`)", "24Gi"),
        cost=2,
    ),
    function(
        "quantities",
        "gi_suffix(mib: int) -> str",
        quantities.gi_suffix,
        help="`gi_label` as the suffix of a name.",
        example=("gi_suffix(`24563`)", "24g"),
        cost=2,
    ),
    function(
        "versions",
        "version_part(version: str, index: int) -> int",
        versions.version_part,
        help="One part of a dotted version, counted from 0; a part that is left out is 0.",
        example=("version_part('580.159.03', `0`)", 580),
        cost=2,
    ),
    function(
        "versions",
        "version_cmp(left: str, right: str) -> int",
        versions.version_cmp,
        help="-1, 0 or 1 as the left version is before, equal to or after the right one.",
        example=("version_cmp('24.1.rc2', '24.1')", -1),
        cost=3,
    ),
)
