"""The InstanceTypeFlavor catalogue: rows of flavors, equal ones collapsed, in the order people read them.

What a row says is the `catalogue` section's; this keeps who said it, so that a row goes with its last flavor.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.chain.changes import Condition
from engine.chain.fields import CatalogueRow
from engine.chain.flavors import as_quantity
from engine.values.canonical_json import canonical_json

KIND = "InstanceTypeFlavor"


class Catalogue:
    """The rows that flavors show, by name and by flavor."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, CatalogueRow]] = {}
        self._by_flavor: dict[str, str] = {}

    def put(self, flavor: str, row: CatalogueRow | None) -> set[str]:
        """The flavor shows this row now, or none. Returns names of rows that may differ."""
        before = self._by_flavor.get(flavor)
        if before is not None and row is not None and self._rows[before][flavor] == row:
            return set()
        touched: set[str] = set()
        if before is not None:
            del self._by_flavor[flavor]
            del self._rows[before][flavor]
            if not self._rows[before]:
                del self._rows[before]
            touched.add(before)
        if row is not None:
            self._by_flavor[flavor] = row.name
            self._rows.setdefault(row.name, {})[flavor] = row
            touched.add(row.name)
        return touched

    def names(self) -> list[str]:
        """The rows that flavors show, sorted."""
        return sorted(self._rows)

    def row(self, name: str) -> tuple[CatalogueRow | None, Condition | None]:
        """The row of that name, and a condition when flavors disagree about it.

        Shape: of rows that differ, the least by canonical JSON is shown.
        """
        said: dict[str, list[str]] = {}
        rows: dict[str, CatalogueRow] = {}
        for flavor, row in self._rows.get(name, {}).items():
            text = canonical_json(dict(row.spec))
            said.setdefault(text, []).append(flavor)
            rows[text] = row
        if not rows:
            return None, None
        least = min(rows)
        if len(rows) == 1:
            return rows[least], None
        flavors = [min(said[text]) for text in sorted(said)]
        return rows[least], Condition(
            KIND,
            name,
            "RowsDiffer",
            f"ResourceFlavors {_quoted(flavors)} describe this row differently; the one of {flavors[0]} is shown",
        )


def in_order(rows: Iterable[CatalogueRow]) -> list[CatalogueRow]:
    """Rows by manufacturer, product, memory, general group, accelerator group.

    Source: specification 20 §6.9; memory as a quantity where it is one.
    """

    def order(row: CatalogueRow) -> tuple[object, ...]:
        spec = row.spec
        return (
            spec.get("manufacturer") or "",
            spec.get("product") or "",
            as_quantity(spec.get("memory") or "0"),
            spec.get("generalGroup") or "",
            spec.get("acceleratorGroup") or "",
            row.name,
        )

    return sorted(rows, key=order)


def _quoted(names: Iterable[str]) -> str:
    return " and ".join(f'"{name}"' for name in names)
