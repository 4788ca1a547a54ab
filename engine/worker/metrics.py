"""What is measured of a worker, and its text for Prometheus. Every metric is in docs/operations.md.

Counters are kept where things happen and read here when somebody asks: nothing is added to the work itself. No label names
an object, so that there are as many series in a large cluster as in a small one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isinf
from typing import Any, Final, Protocol, runtime_checkable

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from engine.chain.changes import Condition
from engine.cluster.clock import SYSTEM_CLOCK, Clock
from engine.cluster.counting import Call
from engine.cluster.informer import Informer
from engine.cluster.queue import WorkQueue
from engine.cluster.tally import Tally
from engine.lang.program import Program
from engine.worker.asked import Answers, inner
from engine.worker.inforce import InForce
from engine.worker.rulebook import RuleBook

_BY_CONTROLLER: Final = ("controller",)
_BY_KIND: Final = ("resource",)


@runtime_checkable
class Tallied(Protocol):
    """A controller whose passes are counted."""

    name: str
    tally: Tally

    @property
    def queue(self) -> WorkQueue[Any] | None: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where figures are read. Shape: of `works`, those that are `Tallied` are controllers; the others are passed over."""

    rules: InForce
    works: Callable[[], Iterable[object]]
    informers: Callable[[], Iterable[Informer[Any]]]
    conditions: Callable[[], Iterable[Condition]] = tuple
    leads: Callable[[], bool] = lambda: True
    calls: Mapping[Call, int] = field(default_factory=dict)
    answers: Answers = field(default_factory=Counter)
    book: RuleBook | None = None
    version: str = ""
    clock: Clock = SYSTEM_CLOCK


class Metrics:
    """The figures of one process. `loop_turn_seconds` is set by whoever serves them, just before."""

    def __init__(self, sources: Sources) -> None:
        self.loop_turn_seconds = 0.0
        self._figures = _Figures(sources, self)
        self._registry = CollectorRegistry()
        self._registry.register(self._figures)
        # Memory, processor time and open files, and what the garbage collector did: read from the system when asked.
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """The text and its content type, in the form that a scraper accepts. Cost: some 5 ms, in which the loop stands."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type


class _Figures(Collector):
    def __init__(self, sources: Sources, metrics: Metrics) -> None:
        self._at = sources
        self._metrics = metrics
        self._digest = _digest(sources.rules)
        self._since = sources.clock.monotonic()
        sources.rules.on_turn(self._turned)

    def collect(self) -> Iterator[Metric]:
        yield from self._process()
        yield from self._rules()
        yield from self._controllers()
        yield from self._informers()
        yield from self._calls()

    def _turned(self) -> None:
        digest = _digest(self._at.rules)
        if digest != self._digest:
            self._digest, self._since = digest, self._at.clock.monotonic()

    def _process(self) -> Iterator[Metric]:
        version = {"version": self._at.version, "python": sys.version.split(maxsplit=1)[0]}
        yield InfoMetricFamily("engine_build", "The program.", value=version)
        yield GaugeMetricFamily("engine_leading", "1 while this process may write.", value=float(self._at.leads()))
        yield GaugeMetricFamily(
            "engine_loop_turn_seconds",
            "How long the event loop took for one turn, just now.",
            value=self._metrics.loop_turn_seconds,
        )

    def _rules(self) -> Iterator[Metric]:
        at = self._at
        yield InfoMetricFamily("engine_rules", "The rules in force.", value={"digest": self._digest})
        age = at.clock.monotonic() - self._since
        yield GaugeMetricFamily("engine_rules_age_seconds", "How long these rules have been in force.", value=age)
        packs = GaugeMetricFamily("engine_rule_pack", "1 for each pack in force.", labels=("kind", "name", "version"))
        program = inner(at.rules.program)
        for pack in program.packs if isinstance(program, Program) else ():
            packs.add_metric((pack.kind, pack.name, pack.version), 1)
        yield packs
        if at.book is not None:
            yield from _delivered(at.book)
        answers = CounterMetricFamily(
            "engine_section_answers", "Questions to rules that were evaluated.", labels=("section", "outcome")
        )
        for (section, outcome), count in sorted(at.answers.items()):
            answers.add_metric((section, outcome), count)
        yield answers
        held = GaugeMetricFamily(
            "engine_conditions", "What a person should know and still holds.", labels=("kind", "reason")
        )
        for (kind, reason), count in sorted(Counter((each.kind, each.reason) for each in at.conditions()).items()):
            held.add_metric((kind, reason), count)
        yield held
        read = at.rules.read
        yield GaugeMetricFamily("engine_settings_refused", "Stored values that are none.", value=len(read.refused))
        yield GaugeMetricFamily(
            "engine_settings_unknown", "Stored keys that no rule declares.", value=len(read.settings.unknown)
        )

    def _controllers(self) -> Iterator[Metric]:
        passes = CounterMetricFamily(
            "engine_reconcile", "Passes over a key, by what became of it.", labels=("controller", "result")
        )
        seconds = HistogramMetricFamily("engine_reconcile_seconds", "How long a pass took.", labels=_BY_CONTROLLER)
        depth = GaugeMetricFamily("engine_queue_depth", "Keys ready to be worked on.", labels=_BY_CONTROLLER)
        delayed = GaugeMetricFamily("engine_queue_delayed", "Keys that wait for their time.", labels=_BY_CONTROLLER)
        failing = GaugeMetricFamily("engine_queue_failing", "Keys whose last pass failed.", labels=_BY_CONTROLLER)
        for each in self._at.works():
            if not isinstance(each, Tallied):
                continue
            name = (each.name,)
            for result, count in each.tally.results.items():
                passes.add_metric((each.name, result), count)
            buckets = [(_bound(bound), float(count)) for bound, count in each.tally.within()]
            seconds.add_metric(name, buckets, each.tally.seconds)
            queue = each.queue
            depth.add_metric(name, 0 if queue is None else len(queue))
            delayed.add_metric(name, 0 if queue is None else queue.delayed)
            failing.add_metric(name, 0 if queue is None else queue.failing)
        yield from (passes, seconds, depth, delayed, failing)

    def _informers(self) -> Iterator[Metric]:
        lists = CounterMetricFamily("engine_informer_lists", "Lists begun.", labels=_BY_KIND)
        watches = CounterMetricFamily("engine_informer_watches", "Watches begun.", labels=_BY_KIND)
        troubles = CounterMetricFamily("engine_informer_troubles", "Troubles that were told.", labels=_BY_KIND)
        synced = GaugeMetricFamily("engine_informer_synced", "1 once a whole list was seen.", labels=_BY_KIND)
        held = GaugeMetricFamily("engine_informer_objects", "Objects that are known.", labels=_BY_KIND)
        broken = GaugeMetricFamily("engine_informer_unreadable", "Objects that cannot be read.", labels=_BY_KIND)
        for name, group in _by_name(self._at.informers()).items():
            kind = (name,)
            lists.add_metric(kind, sum(each.lists for each in group))
            watches.add_metric(kind, sum(each.watches for each in group))
            troubles.add_metric(kind, sum(each.troubles for each in group))
            synced.add_metric(kind, float(all(each.has_synced for each in group)))
            held.add_metric(kind, sum(len(each.cache) for each in group))
            broken.add_metric(kind, sum(len(each.cache.broken) for each in group))
        yield from (lists, watches, troubles, synced, held, broken)

    def _calls(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "engine_api_requests", "Requests to the API server, each attempt.", labels=("verb", "resource", "code")
        )
        for call, count in sorted(self._at.calls.items()):
            calls.add_metric(call, count)
        yield calls


def _delivered(book: RuleBook) -> Iterator[Metric]:
    verdicts = CounterMetricFamily("engine_rule_deliveries", "Deliveries of rules, judged.", labels=("verdict",))
    newest = GaugeMetricFamily("engine_rule_delivery", "1 for the verdict on the newest delivery.", labels=("verdict",))
    for verdict, count in sorted(book.verdicts.items()):
        verdicts.add_metric((verdict,), count)
        newest.add_metric((verdict,), float(verdict == book.verdict))
    yield from (verdicts, newest)
    yield CounterMetricFamily("engine_rule_swaps", "How often other rules began to answer.", value=book.swaps)


def _bound(seconds: float) -> str:
    return "+Inf" if isinf(seconds) else str(seconds)


def _digest(rules: InForce) -> str:
    program = inner(rules.program)
    return program.digest if isinstance(program, Program) else ""


def _by_name(informers: Iterable[Informer[Any]]) -> dict[str, list[Informer[Any]]]:
    """Informers by kind: a kind may be watched in several selections, and a series must not come twice."""
    found: dict[str, list[Informer[Any]]] = {}
    for each in informers:
        found.setdefault(str(each.resource), []).append(each)
    return dict(sorted(found.items()))
