"""Tables laid out the way kubectl does: no borders, three blanks between columns, nothing wrapped.

What is in a table is the renderer's; this only pads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.worker.render.tables import Table

GAP: Final = 3
"""Blanks between columns. Source: kubectl's printer."""


def table_text(table: Table, prefix: str = "") -> str:
    """A table as text, each line ended. Shape: `prefix/` stands before every name when there is one."""
    rows = [table.columns, *(_prefixed(table.columns, row, prefix) for row in table.rows)]
    widths = [max(len(row[at]) for row in rows) + GAP for at in range(len(table.columns))]
    return "".join(_line(row, widths) for row in rows)


def several(texts: Iterable[str]) -> str:
    """Tables one below the other, a blank line between."""
    return "\n".join(texts)


def _prefixed(columns: Sequence[str], row: Sequence[str], prefix: str) -> Sequence[str]:
    if not prefix:
        return row
    return [f"{prefix}/{cell}" if column == "NAME" else cell for column, cell in zip(columns, row, strict=True)]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
