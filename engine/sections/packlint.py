"""What lint needs to know about sections: the checks of a maker's pack that hang on what its sections mean.

The language's own checks are `engine.lang.lint`; what one rule may say is checked when it is built.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import Linked
from engine.lang.lint import Check, lint
from engine.sections.catalog import CATALOGUE
from engine.sections.packlint_inject import check_mounts, check_visible
from engine.sections.packlint_names import check_resource_names
from engine.sections.packlint_prepare import check_claims, check_hold, check_prepare
from engine.sections.packlint_recover import check_recover

CHECKS: Final[tuple[Check, ...]] = (
    check_prepare,
    check_hold,
    check_claims,
    check_recover,
    check_mounts,
    check_visible,
    check_resource_names,
)


def lint_packs(linked: Linked, *, only: Collection[tuple[str, str]] | None = None) -> Diagnostics:
    """All findings of lint about linked packs, or about some of them (kinds and names)."""
    return lint(linked, CATALOGUE, CHECKS, only=only)
