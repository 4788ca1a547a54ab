"""Work shared out over processor cores: jobs in, their results out, in the order of the jobs.

Knows no job. What a process has to tell travels as JSON; what cannot be told so is done again by whoever asked.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NoReturn, TypeVar

T = TypeVar("T")

MOST_PROCESSES: Final = 4
"""Ours: what every process copies of the trees that all share outweighs what more of them would win."""


def cores() -> int:
    """How many jobs are worth running at a time: one where processes cannot be forked."""
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


@dataclass(frozen=True, slots=True)
class Told(Generic[T]):
    """How a result travels. Shape: `tell` gives plain JSON, or None for one that does not travel; `read` is its inverse."""

    tell: Callable[[T], Any]
    read: Callable[[Any], T]


def shared_out(jobs: Sequence[Callable[[], T]], told: Told[T]) -> list[T]:
    """The results of all jobs: the first is done here, each other one in a process of its own.

    Raises: whatever a job does. What a process could not do, or not tell, is done here again, so that its error is raised here.
    """
    if len(jobs) < 2 or cores() < 2:
        return [job() for job in jobs]
    gc.freeze()  # a collection in a child would copy every page that it looks at
    sys.stdout.flush()
    sys.stderr.flush()
    children = [_fork(job, told) for job in jobs[1:]]
    try:
        first = jobs[0]()
    finally:
        answers = [_answer(*child) for child in children]
        gc.unfreeze()
    rest = zip(jobs[1:], answers, strict=True)
    return [first, *(job() if answer is None else told.read(answer) for job, answer in rest)]


def _fork(job: Callable[[], T], told: Told[T]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(job, told, writing)
    os.close(writing)
    return child, reading


def _work(job: Callable[[], T], told: Told[T], writing: int) -> NoReturn:
    try:
        with open(writing, "w", encoding="utf-8") as pipe:
            json.dump(told.tell(job()), pipe)
    except BaseException:  # noqa: BLE001 - the parent does the job again, and tells what is wrong
        os._exit(1)
    os._exit(0)


def _answer(child: int, reading: int) -> Any:
    """What a process told; None for nothing."""
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if status == 0 else None
