"""The documents shown in docs/overlays.md link with the shipped packs."""

from __future__ import annotations

import re
from pathlib import Path

from engine.lang.diagnostics import Diagnostics
from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.source import Source
from engine.rulefiles import find_packs
from engine.sections.catalog import CATALOGUE

ROOT = Path(__file__).parents[3]


def test_what_the_page_shows_links_with_the_shipped_packs() -> None:
    text = (ROOT / "docs" / "overlays.md").read_text(encoding="utf-8")
    overlay, library = (
        PackFiles(f"block-{n}", (Source(f"block-{n}", block.encode()),))
        for n, block in enumerate(re.findall(r"```yaml\n(apiVersion:.*?)```", text, re.DOTALL))
    )
    (use,) = re.findall(r"`(use: \[\{library: shared-core.*?\]\}\])`", text)
    user = (
        "apiVersion: rules.gpustack.ai/v1alpha1\nkind: Manufacturer\nmetadata: {name: acme, version: '1.0.0'}\nspec:\n"
        "  identity: {manufacturer: acme, pci: [{vendor: 'fff0', devices: ['0001']}], resource: acme.example/gpu}\n"
        f"  {use}\n  sections:\n    inject: [{{id: own, emit: {{env: {{A: $(owner)}}}}}}]\n"
    )
    packs = find_packs([ROOT / "rules" / part for part in ("derive", "library", "manufacturers/nvidia")], Diagnostics())
    acme = PackFiles("acme", (Source("acme", user.encode()),))
    result = link([*packs, library, acme], CATALOGUE, overlays=[overlay])
    assert [f"{one.code} {one.message}" for one in result.diagnostics] == []
    assert result.program is not None
