"""The tests shown in docs/pack-tests.md run, and say what the page says they do."""

from __future__ import annotations

import re
from pathlib import Path

from engine.lang.linking import link
from engine.lang.packs import PackFiles
from engine.lang.packtest import run_tests
from engine.lang.source import Source
from engine.sections.catalog import CATALOGUE
from engine.sections.packtests import JOINT

PAGE = Path(__file__).parents[3] / "docs" / "pack-tests.md"
PACK = """\
apiVersion: rules.gpustack.ai/v1alpha1
kind: Manufacturer
metadata: {name: acme, version: "1.0.0"}
spec:
  identity: {manufacturer: acme, pci: [{vendor: "fff0", devices: ["0001"]}], resource: acme.example/gpu}
  params: {logLevel: "0"}
  sections:
    guards:
      - {id: guard, when: "length(alloc.cards) > `4`", emit: {refuse: ACME_MANY}, message: too many}
    claims:
      - id: claim
        forEach: {in: alloc.cards, as: card}
        emit: {name: unit, pool: card, card: $(card.uuid), size: 8, count: 1, refuse: ACME_UNITS}
        message: no unit is free
    inject:
      - id: slice
        let: {first: "required(alloc.cards[0], 'the slice has no card')"}
        emit:
          env:
            ACME_CORES: $(if(has(first.uuid), required(alloc.slice.coresPercent, 'no share'), `0`))
            ACME_LOG: $(params.logLevel)
"""


def test_what_the_page_shows_passes() -> None:
    (shown,) = re.findall(r"```yaml\n(bases:.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    # The base has claims, which guards do not know yet: the page says that they are left out of it.
    extra = "  - {name: guards, section: guards, from: half, expect: {}}\n"
    text = PACK + "".join(f"  {line}\n" for line in (shown + extra).splitlines())
    linked = link([PackFiles("acme", (Source("acme", text.encode()),))], CATALOGUE)
    assert linked.program is not None, [str(one) for one in linked.diagnostics]
    report = run_tests(linked.program, CATALOGUE, JOINT)
    assert [str(failure) for failure in report.failures] == []
    assert report.passed == 4
