"""InstanceTypeFlavor: one row of the catalogue of what may be asked for.

Rows and their order are the chain's.
"""

from __future__ import annotations

from engine.chain.fields import CatalogueRow
from engine.worker.render.skeleton import WORKER, Object, manifest


def instance_type_flavor(row: CatalogueRow) -> Object:
    """The InstanceTypeFlavor of a row; it carries no labels."""
    return manifest(WORKER, "InstanceTypeFlavor", row.name, spec=dict(row.spec))
