"""The rules of one process: how they come, which serve, and what became of the newest delivery.

Values and counts only; who judges, publishes and swaps is `engine.worker.parts.rules`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from engine.cluster.client import Client, Selection
from engine.cluster.clock import Clock
from engine.cluster.errors import Busy, Unreachable
from engine.cluster.objects import Data
from engine.cluster.resources import CONFIG_MAPS
from engine.cluster.retry import Backoff
from engine.delivery.candidate import Candidate
from engine.delivery.decide import NO_OVERRIDES
from engine.delivery.directory import Mount
from engine.delivery.standing import Standing
from engine.delivery.stored import HEAD, PUBLISHED, Start, approved_in, restored, start
from engine.delivery.verdict import InForce, State
from engine.lang.program import Program
from engine.worker.log import Log
from engine.worker.options import Options
from engine.worker.replan import fits

Aside = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a function that takes seconds, and gives what it gives, while the loop goes on."""

RETRY_CAP_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """How rules come to this process.

    Shape: `mount` is the directory they are delivered in, None where the packs it was started with are the delivery;
    `image` is what it falls back to; `overrides` the environment's, of identities.
    """

    image: Candidate
    mount: Mount | None = None
    overrides: Mapping[str, str] = field(default_factory=lambda: NO_OVERRIDES)
    aside: Aside = asyncio.to_thread


class RuleBook:
    """What serves, and the verdict on what was delivered last.

    Attributes for metrics: `digest`, `loaded_at_seconds` (since 1970), `verdict`, `message`, `waiting`, `verdicts`, `swaps`.
    """

    def __init__(self, begun: Start, delivery: Delivery, clock: Clock) -> None:
        serving = begun.standing.serving
        assert serving is not None
        self.delivery = delivery
        self.origin = begun.origin
        self.notes = begun.notes
        self.standing = begun.standing
        self.program: Program = serving.program
        self.loaded_at_seconds = clock.wall().timestamp()
        self.swaps = 0
        self.verdicts = {str(state): 0 for state in State}
        self._clock = clock

    @property
    def digest(self) -> str:
        """Of the program that answers in this process."""
        return self.program.digest

    @property
    def verdict(self) -> str:
        """`Loaded`, `Held` or `Failed`; empty where nothing was judged yet, as in a process that does not lead."""
        return str(self.standing.verdict.state) if self.standing.verdict else ""

    @property
    def message(self) -> str:
        """Why the newest delivery is held or refused."""
        return self.standing.verdict.message if self.standing.verdict else ""

    @property
    def waiting(self) -> str:
        """Digest of the program that waits for an approval; empty when none does."""
        verdict = self.standing.verdict
        return verdict.digest if verdict is not None and verdict.state is State.HELD else ""

    def judged(self, standing: Standing) -> None:
        """A delivery was judged, or one that waited was approved."""
        self.standing = standing
        if standing.verdict is not None:
            self.verdicts[str(standing.verdict.state)] += 1

    def follow(self, published: InForce) -> None:
        """Another process has published a program; its verdict on deliveries is not known here."""
        self.standing = Standing(published)

    def swapped(self) -> None:
        """What was decided answers from now on."""
        assert self.standing.serving is not None
        self.program = self.standing.serving.program
        self.loaded_at_seconds = self._clock.wall().timestamp()
        self.swaps += 1


async def open_rules(client: Client, options: Options, delivery: Delivery, log: Log) -> RuleBook:
    """What this process begins with: the published program, else what is mounted, else the packs it was started with.

    Raises: InputError: none of them can serve; ClusterError: refused, or no answer for `prepare_seconds`.
    """
    published = await published_maps(client, options, log)
    maps = {each.metadata.name: each.data for each in published}
    approved = approved_of(published)
    mounted = delivery.mount.read() if delivery.mount is not None else None

    def begin() -> Start:
        return start(
            restored(maps),
            mounted,
            delivery.image,
            approved,
            overrides=delivery.overrides,
            fits=lambda program: fits(program, options.environment),
        )

    begun = await delivery.aside(begin)
    book = RuleBook(begun, delivery, client.clock)
    for note in book.notes:
        log.warning("rules passed over", why=note)
    log.info("begins with rules", rules=book.digest, origin=book.origin)
    return book


def selection(namespace: str) -> Selection:
    """The published ConfigMaps."""
    return Selection(namespace, labels=PUBLISHED)


async def published_maps(client: Client, options: Options, log: Log) -> tuple[Data, ...]:
    """The published ConfigMaps as they are in the store, all as of one moment.

    Raises: ClusterError: refused, or no answer for `prepare_seconds`.
    """
    deadline = client.clock.monotonic() + options.prepare_seconds
    backoff = Backoff(client.chance, cap_seconds=RETRY_CAP_SECONDS)
    while True:
        try:
            return (await client.list(CONFIG_MAPS, selection(options.namespace))).items
        except (Unreachable, Busy) as error:
            if client.clock.monotonic() > deadline:
                raise
            log.warning("the published rules cannot be read yet", error=error)
            await client.clock.sleep(backoff.next_seconds())


def approved_of(published: tuple[Data, ...]) -> frozenset[str]:
    """The digests that people have approved."""
    heads = [each for each in published if each.metadata.name == HEAD]
    return frozenset(digest for head in heads for digest in approved_in(head.metadata.annotations))
