"""Claims: which numbered things of a card or node one allocation needs, and how many.

Picking is code (`picker` here, the ledger on a node): a rule states size, count and shape, never which ids.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.alloc_input import STATUSES, Stage, alloc_notation

# `card` may be left out only where the pool is the node's. `live` names a fact that holds what is taken right now.
SECTION: Final = Section(
    name="claims",
    owner=Owner.MANUFACTURER,
    combine=Combine.LIST,
    once_per="allocation",
    runs="N",
    input=alloc_notation(Stage.CLAIMS),
    emit=(
        "{name: str, pool: 'node'|'card', card?: str, size: int, count: int, shape: 'ids'|'window' = 'ids', "
        "quantum: int = 1, overlap: 'refuse'|'least' = 'refuse', live?: str, refuse: str, "
        f"status: {STATUSES} = 'ResourceExhausted'}}"
    ),
    message="{state: 'exhausted'|'foreign', need: int, free: int, size: int, holders: int}",
    memo=False,
    optional=True,
    help="ids or windows taken from a pool of a card or of the node; recorded, given back when the owner goes",
)
