"""The catalogue of sections: every declaration under its name, and how packs complete their types.

Declares no section itself; each stands in a file of its own, named after it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from engine.domain.credits import UNITS_PER_CARD, UNITS_PER_SHARE
from engine.lang.section import Catalogue, Section
from engine.sections import (
    capacity,
    catalogue,
    checks,
    claims,
    contributes,
    cpu,
    device_labels,
    devices_labels,
    entrance,
    features,
    fit_labels,
    flavor,
    group,
    guards,
    health,
    host_labels,
    inject,
    labels,
    managed,
    model,
    pool,
    pool_labels,
    prepare,
    prerequisites,
    profile,
    queue,
    quota,
    request_rules,
    resources,
    topology,
    type,  # noqa: A004 - the section's name; the builtin is not used here
    worker_labels,
)
from engine.sections.alloc_input import Stage, alloc_notation, card_notation
from engine.sections.constants import NAMES
from engine.sections.named_types import named_types

VOCABULARY: Final = "1.0"
"""Version of the catalogue, `major.minor`. A field or section added raises the minor, any other change the major."""

_SECTIONS: Final = (
    # Manufacturer packs, in the order of a card's way from the driver to a container.
    model,
    features,
    profile,
    labels,
    guards,
    claims,
    prepare,
    inject,
    health,
    prerequisites,
    # Derivation packs, in the order of the chain.
    host_labels,
    cpu,
    managed,
    worker_labels,
    group,
    device_labels,
    topology,
    resources,
    capacity,
    devices_labels,
    fit_labels,
    contributes,
    flavor,
    pool,
    type,
    pool_labels,
    queue,
    quota,
    checks,
    entrance,
    catalogue,
    request_rules,
)


def _by_name() -> dict[str, Section]:
    return {module.SECTION.name: module.SECTION for module in _SECTIONS}


# `derived` values are read in all four allocation stages, so they see what the first of them sees.
CATALOGUE: Final = Catalogue(
    sections=MappingProxyType(_by_name()),
    named_types=named_types,
    vocabulary=VOCABULARY,
    derived=MappingProxyType(
        {
            "card": f"card: {card_notation(Stage.GUARDS)}, {alloc_notation(Stage.GUARDS)}",
            "alloc": alloc_notation(Stage.GUARDS),
        }
    ),
    constants=MappingProxyType({"unitsPerCard": UNITS_PER_CARD, "unitsPerShare": UNITS_PER_SHARE}),
    constant_names=NAMES,
)
"""Every section, as the language and the chain know them."""
