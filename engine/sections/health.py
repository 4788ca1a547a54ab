"""Health: how bad a driver's event or reading is, and what clears it.

Makers' rules only: what is the same everywhere (uncorrectable memory errors) is the derivation's. The state machine
that remembers severities is code.
"""

from __future__ import annotations

from typing import Final

from engine.lang.section import Combine, Owner, Section

# `code` is text: makers number their events, name them, or both, and a table is looked up by text. Which sources and codes
# there are is the pack's `facts.events`.
SECTION: Final = Section(
    name="health",
    owner=Owner.MANUFACTURER,
    combine=Combine.FIRST,
    once_per="event or reading",
    runs="N",
    input="event: {source: @eventSource, code: @eventCode, count: int, ageSeconds: int}, card: {family?: str}",
    emit="{severity: 'ignore'|'app'|'reset'|'fatal', clearBy: 'time'|'probe'|'reset', clearAfterSeconds?: int}",
    optional=True,
    help="the severity of a driver's event or reading and what clears it",
)
