"""Entrances: which queues and namespaces there are, and what wakes the controller of LocalQueues.

What is wanted of one LocalQueue is `controllers.localqueue`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from engine.chain.told import told
from engine.cluster.objects import Namespace, Owned
from engine.cluster.resources import ObjectKey
from engine.errors import EvaluationError
from engine.sections.answer import Evaluator
from engine.sections.entrance import Entrance, queue_entrance
from engine.worker.controllers import localqueue
from engine.worker.controllers.localqueue import EntranceNeighbourhood, is_ending, is_reserved
from engine.worker.loop import Work
from engine.worker.stage import Leads, Stage
from engine.worker.supply import Touched

WINDOW_SECONDS: Final = 3.0


class Entrances:
    """One controller. Shape: a key is `<namespace>/<queue>`; what the LocalQueue is called follows from the queue."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._program: Evaluator | None = None
        self._answers: dict[str, Entrance | EvaluationError] = {}
        self._queue_of: dict[str, str] = {}
        at = stage.informers
        self._controller = stage.controller(
            Work(
                "entrance",
                lambda: self._keys(self._namespaces(), self._queues()),
                self._entrance,
                localqueue.plan,
                window_seconds=WINDOW_SECONDS,
                after=(at.namespaces, at.queues, at.local_queues),
            ),
            workers=stage.options.workers,
        )
        at.queues.add_handler(self._take_queue)
        at.namespaces.add_handler(self._take_namespace)
        at.local_queues.add_handler(self._take_local_queue)

    def leads(self) -> Sequence[Leads]:
        return (self._controller,)

    def take(self, _touched: Touched) -> None:
        """Nodes change nothing here."""

    def turn(self) -> None:
        if self._program is not self._stage.rules.program:
            self._controller.add(self._keys(self._namespaces(), self._queues()))

    def _take_queue(self, before: Owned | None, after: Owned | None) -> None:
        if after is None:
            if before is not None:
                self._forget(before.metadata.name)
        elif self._is_ours(after) and (
            before is None or before.metadata.uid != after.metadata.uid or not self._is_ours(before)
        ):
            self._answer(after.metadata.name)
            self._controller.add(self._keys(self._namespaces(), [after.metadata.name]))

    def _take_namespace(self, before: Namespace | None, after: Namespace | None) -> None:
        if after is not None and (before is None or before.metadata.uid != after.metadata.uid):
            self._controller.add(self._keys([after.metadata.name], self._queues()))

    def _take_local_queue(self, before: Owned | None, after: Owned | None) -> None:
        seen = after or before
        queue = self._queue_of.get(seen.metadata.name) if seen is not None else None
        if seen is None or queue is None:
            return
        keys = self._keys([seen.metadata.namespace], [queue])
        if after is None:
            self._controller.add(keys)
        else:
            self._controller.notice(keys)

    def _entrance(self, key: str) -> EntranceNeighbourhood | None:
        namespace_name, _, queue_name = key.partition("/")
        at = self._stage.informers
        namespace, queue = at.namespaces.cache.get(namespace_name), at.queues.cache.get(queue_name)
        if namespace is None or queue is None or not self._is_ours(queue):
            return None
        answer = self._answer(queue_name)
        if isinstance(answer, EvaluationError):
            return EntranceNeighbourhood(namespace, queue, None, untold=str(answer))
        return EntranceNeighbourhood(namespace, queue, answer, at.local_queues.cache.get(answer.name, namespace_name))

    def _answer(self, queue: str) -> Entrance | EvaluationError:
        """What the rules in force say, asked once a queue."""
        program = self._stage.rules.program
        if self._program is not program:
            self._program = program
            self._answers.clear()
            self._queue_of.clear()
        if queue not in self._answers:
            try:
                answer: Entrance | EvaluationError = told(queue_entrance(program, queue))
            except EvaluationError as reason:
                answer = reason
            self._answers[queue] = answer
            if isinstance(answer, Entrance):
                self._queue_of[answer.name] = queue
        return self._answers[queue]

    def _forget(self, queue: str) -> None:
        answer = self._answers.pop(queue, None)
        if isinstance(answer, Entrance):
            self._queue_of.pop(answer.name, None)

    def _is_ours(self, queue: Owned) -> bool:
        keys = self._stage.fleet.asker.keys
        return queue.metadata.labels.get(keys.type) == keys.type_types

    def _queues(self) -> list[str]:
        return [each.metadata.name for each in self._stage.informers.queues.cache if self._is_ours(each)]

    def _namespaces(self) -> list[str]:
        return [each.metadata.name for each in self._stage.informers.namespaces.cache if not is_ending(each)]

    def _keys(self, namespaces: Iterable[str], queues: Iterable[str]) -> Iterator[str]:
        queues = list(queues)
        own = self._stage.options.namespace
        return (
            str(ObjectKey(namespace, queue))
            for namespace in namespaces
            if not is_reserved(namespace, own)
            for queue in queues
        )
