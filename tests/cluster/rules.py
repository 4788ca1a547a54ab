"""The shipped rules, linked: the testbed's machines and its Kueue configuration come from them."""

from __future__ import annotations

from engine.lang.linking import link
from engine.lang.program import Program
from engine.lang.render import render_text
from engine.rulefiles import shipped_packs
from engine.sections.catalog import CATALOGUE
from tests.cluster.errors import ClusterError


def shipped_program() -> Program:
    """Raises ClusterError: they do not link. Cost: about two seconds."""
    linked = link(shipped_packs(), CATALOGUE)
    if linked.program is None:
        raise ClusterError(f"the shipped rules do not link:\n{render_text(linked.diagnostics.sorted())}")
    return linked.program
