"""Work shared out over processor cores: jobs in, their results out, in the order of the jobs.

Knows no job. A job gives what can be pickled and leaves no trace but its result.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeVar

T = TypeVar("T")

MOST_PROCESSES: Final = 4
"""Ours: what every process copies of the trees that all share outweighs what more of them would win."""


def cores() -> int:
    """How many jobs are worth running at a time: one where processes cannot be forked."""
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return 1
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


def shared_out(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """The results of all jobs: the first is done here, each other one in a process of its own.

    Raises: whatever a job does. What a process could not do is done here again, so that its error is raised here.
    """
    if len(jobs) < 2 or cores() < 2:
        return [job() for job in jobs]
    gc.freeze()  # a collection in a child would copy every page that it looks at
    sys.stdout.flush()
    sys.stderr.flush()
    children = [_fork(job) for job in jobs[1:]]
    try:
        first = jobs[0]()
    finally:
        answers = [_answer(*child) for child in children]
        gc.unfreeze()
    return [first, *(job() if answer is None else answer[0] for job, answer in zip(jobs[1:], answers, strict=True))]


def _fork(job: Callable[[], Any]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(job, writing)
    os.close(writing)
    return child, reading


def _work(job: Callable[[], Any], writing: int) -> NoReturn:
    try:
        with open(writing, "wb") as pipe:
            pickle.dump(job(), pipe, protocol=pickle.HIGHEST_PROTOCOL)
    except BaseException:  # noqa: BLE001 - the parent does the job again, and tells what is wrong
        os._exit(1)
    os._exit(0)


def _answer(child: int, reading: int) -> tuple[Any] | None:
    with open(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return (pickle.loads(data),) if status == 0 else None  # noqa: S301 - our own process wrote it
