"""Prepare: which intents the driver carries out for one allocation, and how each is undone.

An intent is atomic and idempotent for one owner; the driver executes, code journals, rules decide.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.alloc_input import STATUSES, Stage, alloc_notation

# No status is written for an intent that failed; a refused precondition is what the other responders' refusals carry.
SECTION: Final = Section(
    name="prepare",
    owner=Owner.MANUFACTURER,
    combine=Combine.LIST,
    once_per="allocation",
    runs="N",
    input=alloc_notation(Stage.PREPARE),
    emit=(
        "{call: str, card?: str, args: map<any> = {}, phase: 'beforeRecord'|'afterRecord', accept: str[] = [\"ok\"], "
        f"undo: str, hold: 'none'|'pod' = 'none', refuse: str, status: {STATUSES} = 'FailedPrecondition'}}"
    ),
    message="{outcome: str, cause: str}",
    memo=False,
    optional=True,
    help="calls of the driver before or after the allocation is recorded, with what is accepted and what undoes them",
)
