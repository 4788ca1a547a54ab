"""The page on operations names every metric with its labels, and no other."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

from prometheus_client.parser import text_string_to_metric_families

from engine.chain.changes import Condition
from engine.worker.metrics import Metrics
from tests.behaviour.running import TOP
from tests.fakes.virtual import run
from tests.unit.worker.test_metrics import World

PAGE = (TOP / "docs" / "operations.md").read_text(encoding="utf-8")
METRICS = PAGE.partition("## Metrics")[2].partition("What is worth an alert")[0]


def test_the_page_names_every_metric_and_its_labels() -> None:
    documented = {
        name: set(re.findall(r"`(\w+)`", labels))
        for names, labels in re.findall(r"^\| (`engine_[^|]+) \|([^|]*)\|", METRICS, re.MULTILINE)
        for name in re.findall(r"`(engine_\w+)`", names)
    }
    assert documented == run(_told())


def test_alerts_are_on_metrics_that_there_are() -> None:
    told = run(_told())
    alerts = re.findall(r"\b(engine_\w+)", PAGE.partition("What is worth an alert")[2].partition("## Logs")[0])
    assert len(alerts) >= 6
    assert set(alerts) <= set(told)


async def _told() -> dict[str, set[str]]:
    world = World()
    world.answers["flavor", "value"] += 1
    world.conditions.append(Condition("Node", "one", "CouldNotTell", ""))
    await world.client.list(world.nodes.resource)
    book = SimpleNamespace(verdicts={"Loaded": 1}, verdict="Loaded", swaps=0)
    text = Metrics(replace(world.sources, book=book)).text()[0].decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = family.name if family.type == "histogram" else sample.name
            if name.startswith("engine_"):
                found.setdefault(name, set()).update(set(sample.labels) - {"le"})
    return found
