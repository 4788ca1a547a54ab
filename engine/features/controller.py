"""The built-in provider at work: watches Nodes and NodeFeatures, passes over each Node that changed, writes what a pass wants.

Decides nothing: the book knows, `plan` plans, `foreign` judges. Every replica keeps the book; only a leader calls `lead`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.cluster.actions import Action, EmitEvent, MergePatch, ObjectReference
from engine.cluster.client import IN_FLIGHT, Client
from engine.cluster.errors import Conflict, NotFound
from engine.cluster.informer import Informer, Trouble
from engine.cluster.objects import Node, OwnedMeta, Part
from engine.cluster.queue import QueueSettings, WorkQueue, run_workers
from engine.cluster.resources import NODES, ObjectKey, Resource
from engine.cluster.tally import Done, Tally, tallied
from engine.cluster.turns import Turns
from engine.cluster.writers import Writer
from engine.features.book import FeatureBook, nfd_has_written
from engine.features.foreign import Provider, Standing, judge, manager_of
from engine.features.neighbourhood import Pass, Policy, Stopped
from engine.features.objects import READ_NODE_FEATURES, NodeFeature, feature_object, node_view
from engine.features.planner import plan
from engine.features.rules import HostRules
from engine.features.watching import ForeignWatch

CONFLICTS: Final = 5
"""Writes of one pass that may come too late before the Node waits for its turn again."""
AWAITED_SECONDS: Final = 30.0
"""How long a Node's first write waits for the worker's object, so that both are one write. Chosen: objects of 1,000 Nodes
are made in that time even on a busy machine; what is awaited adds the Node when it comes."""


class ManagedNode(Part, frozen=True):
    """A Node with who wrote what, read only when somebody fights."""

    metadata: OwnedMeta


_MANAGED_NODES: Final[Resource[ManagedNode]] = Resource(
    NODES.group, NODES.version, NODES.plural, NODES.kind, is_namespaced=False, struct=ManagedNode
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How the controller goes about it. Source of the window: specification 50 §5.2.

    Shape: `workers` are as many as a client has calls under way, so that labels are not what waits on a slow API server.
    """

    provider: Provider = Provider.BUILTIN
    workers: int = IN_FLIGHT
    window_seconds: float = 0.15


class FeatureController:
    """One process's share. `client` reads, `writer` writes and is gated by the leader's lease."""

    def __init__(
        self,
        client: Client,
        writer: Writer,
        rules: HostRules,
        policy: Policy,
        *,
        nodes: Informer[Node],
        features: Informer[NodeFeature],
        settings: Settings = Settings(),
        turns: Turns | None = None,
        is_awaited: Callable[[str], bool] = lambda _node: False,
        told: Callable[[Standing], None] = lambda _standing: None,
        failed: Callable[[str, Exception], None] = lambda _node, _error: None,
        report: Callable[[Trouble], None] = lambda _: None,
    ) -> None:
        self.name = "features"
        self.passes = 0
        self.tally = Tally()
        self._client = client
        self._clock = client.clock
        self._writer = writer
        self._rules = rules
        self._policy = policy
        self._settings = settings
        self._is_awaited = is_awaited
        self._told = told
        self._failed = failed
        self._nodes, self._features = nodes, features
        self._turns = turns or Turns()
        self._first_seen: dict[str, float] = {}
        self._judging = asyncio.Event()
        self._book = FeatureBook(policy.absence_grace_seconds)
        self._queue: WorkQueue[str] | None = None
        self.foreign = ForeignWatch(client, changed=self._judging.set, report=report)
        self.standing = Standing(self._clock.monotonic())
        self._book.permission = self.standing.permission
        nodes.add_handler(self._take_node)
        features.add_handler(self._take_feature)

    @property
    def queue(self) -> WorkQueue[str] | None:
        """The Nodes that wait, while this process leads."""
        return self._queue

    def put_direct_labels(self, node: str, labels: Mapping[str, str]) -> None:
        """Labels that the worker puts on a Node in the same write."""
        self._add(self._book.put_direct_labels(node, labels))

    def set_rules(self, rules: HostRules) -> None:
        """The rules are others now; every Node is looked at again."""
        self._rules = rules
        self._add(self._book.nodes())

    def set_policy(self, policy: Policy) -> None:
        """The policy is another one now; every Node is looked at again."""
        if policy != self._policy:
            self._policy = policy
            self._add(self._book.nodes())

    async def lead(self) -> None:
        """Works while this process leads; the informers of `foreign` and those handed in run beside it."""
        for informer in (self._nodes, self._features, *self.foreign.informers):
            await informer.wait_synced()
        if self._book.listed_seconds is None:
            self._book.listed_seconds = self._clock.monotonic()
        queue = self._queue = WorkQueue(self._clock, QueueSettings(window_seconds=self._settings.window_seconds))
        self._judge()
        self._add(self._book.nodes())
        work = tallied(self._work, self.tally, self._clock)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_judging())
                group.create_task(run_workers(queue, work, workers=self._settings.workers, report=self._failed))
        finally:
            self._queue = None

    async def _work(self, name: str) -> Done:
        if self._waits(name):
            return Done.UNCHANGED
        async with self._turns.of(name):
            return await self._pass_over(name)

    async def _pass_over(self, name: str) -> Done:
        for _ in range(CONFLICTS):
            neighbourhood = self._book.neighbourhood(name, self._clock.monotonic())
            if neighbourhood is None:
                return Done.UNCHANGED
            self.passes += 1
            made = plan(neighbourhood, self._rules, self._policy)
            try:
                for action in made.actions:
                    await self._do(action)
            except Conflict:
                await self._read_again(made.actions)
            except NotFound:
                # Gone in between; its own event follows.
                return Done.UNCHANGED
            else:
                await self._finish(name, made)
                return Done.WRITTEN if made.actions else Done.UNCHANGED
        raise Conflict("a node was written by others each time", where=f"nodes/{name}", status=409)

    def _waits(self, name: str) -> bool:
        now = self._clock.monotonic()
        since = self._first_seen.setdefault(name, now)
        left_seconds = since + AWAITED_SECONDS - now
        if left_seconds <= 0 or not self._is_awaited(name) or self._queue is None:
            return False
        self._queue.add_after(name, left_seconds)
        return True

    async def _do(self, action: Action) -> None:
        """Carries an action out. What was written is known at once: a pass before the watch tells it would undo it."""
        if not isinstance(action, MergePatch):
            await self._writer.apply_actions([action])
            return
        self._writer.writes += 1
        key, version = action.key, action.resource_version
        if action.resource is NODES:
            node = await self._client.merge_patch(
                NODES, key.name, action.patch, manager=action.manager, resource_version=version
            )
            self._book.put_node(node_view(node.metadata))
            self._nodes.learn(node)
        else:
            feature = await self._client.merge_patch(
                READ_NODE_FEATURES,
                key.name,
                action.patch,
                manager=action.manager,
                namespace=key.namespace,
                resource_version=version,
            )
            self._book.put_object(feature_object(feature))
            self._features.learn(feature)

    async def _read_again(self, actions: tuple[Action, ...]) -> None:
        """What the pass wanted to write, as it is now, past the caches."""
        for key in [action.key for action in actions if isinstance(action, MergePatch)]:
            try:
                if key.namespace:
                    feature = await self._client.get(READ_NODE_FEATURES, key.name, key.namespace)
                    self._book.put_object(feature_object(feature))
                else:
                    node = await self._client.get(NODES, key.name)
                    self._book.put_node(node_view(node.metadata))
            except NotFound:
                # Its own event follows, and the pass that comes of it.
                continue

    async def _finish(self, name: str, made: Pass) -> None:
        self._book.remember(name, made.memory)
        if made.again_after_seconds is not None and self._queue is not None:
            self._queue.add_after(name, made.again_after_seconds)
        if made.stopped:
            await self._tell_stopped(name, made.stopped)

    async def _tell_stopped(self, name: str, stopped: tuple[Stopped, ...]) -> None:
        node = await self._client.get(_MANAGED_NODES, name)
        regarding = ObjectReference(NODES.api_version, NODES.kind, ObjectKey("", name), node.metadata.uid)
        for each in stopped:
            who = manager_of(node.metadata.managed_fields, each.key, is_label=each.is_label) or "somebody"
            note = (
                f"{who} keeps changing {each.key} from {each.wanted!r} to {each.seen!r}: it is left alone for a while; "
                f"stop {who}, or stop asking for the key"
            )
            event = EmitEvent(regarding, "FeatureStopped", note, "UpdateNodeFeatures", "Warning")
            await self._writer.apply_actions([event])

    async def _keep_judging(self) -> None:
        while True:
            self._judging.clear()
            self._judge()
            try:
                async with asyncio.timeout(self.standing.again_after_seconds):
                    await self._judging.wait()
            except TimeoutError:
                continue

    def _judge(self) -> None:
        before = self.standing
        self.standing = judge(self._settings.provider, self.foreign.signals(), before, self._clock.monotonic())
        if self.standing.permission != self._book.permission:
            self._book.permission = self.standing.permission
            self._add(self._book.nodes())
        if (self.standing.reason, self.standing.evidence) != (before.reason, before.evidence):
            self._told(self.standing)

    def _take_node(self, before: Node | None, after: Node | None) -> None:
        if after is None:
            if before is not None:
                self._book.remove_node(before.metadata.name)
                self._first_seen.pop(before.metadata.name, None)
            return
        seen = node_view(after.metadata)
        if before is not None and nfd_has_written(node_view(before.metadata), seen):
            self.foreign.wrote(seen.name)
        self._add(self._book.put_node(seen))

    def _take_feature(self, before: NodeFeature | None, after: NodeFeature | None) -> None:
        if after is not None:
            self._add(self._book.put_object(feature_object(after)))
        elif before is not None:
            where = before.metadata
            self._add(self._book.remove_object(where.namespace, where.name, self._clock.monotonic()))

    def _add(self, names: list[str]) -> None:
        if self._queue is not None:
            for name in names:
                self._queue.add(name)
