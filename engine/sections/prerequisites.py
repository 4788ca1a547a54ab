"""Prerequisites: what a node has to have before a mode can be served, and the remedy when it has not.

Probing is code: paths and files named in the pack's `probes` block are read by the agent and come in as facts.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.alloc_input import MODES

SECTION: Final = Section(
    name="prerequisites",
    owner=Owner.MANUFACTURER,
    combine=Combine.LIST,
    once_per="maker",
    runs="N",
    input=(
        "host: {driverVersion?: str, runtimeClasses: str[], probes: @probes}, "
        "driver: {capabilities: str[], flags: @flags}"
    ),
    emit=f"{{name: str, modes: {MODES}[], ok?: bool, remedy: str}}",
    optional=True,
    help="what a node needs for a mode, whether it has it (left out: could not tell), and the remedy",
)
