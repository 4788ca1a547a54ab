"""Guards: what a maker refuses before anything is claimed.

Full cards, foreign cards and unserved modes are refused by code with its own texts and never reach a rule.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section
from engine.sections.alloc_input import STATUSES, Stage, alloc_notation

SECTION: Final = Section(
    name="guards",
    owner=Owner.MANUFACTURER,
    combine=Combine.FIRST,
    once_per="allocation",
    runs="N",
    input=alloc_notation(Stage.GUARDS),
    emit=f"{{refuse: str, status: {STATUSES} = 'FailedPrecondition'}}",
    message="",
    memo=False,
    optional=True,
    help="refuses an allocation the maker cannot serve; the rule's message is the text kubelet shows",
)
