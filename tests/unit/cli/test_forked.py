"""Work shared out over processes: the results are those of doing it here, in the same order, errors too."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from engine.cli import forked
from engine.errors import InputError


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "cores", lambda: 2)


def answer(number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_results_come_in_the_order_of_the_jobs_and_from_other_processes() -> None:
    found = forked.shared_out([partial(answer, number) for number in range(4)])
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert [pid == os.getpid() for _, pid in found] == [True, False, False, False]


def test_one_job_or_one_core_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert forked.shared_out([partial(answer, 7)]) == [(7, os.getpid())]
    monkeypatch.setattr(forked, "cores", lambda: 1)
    assert {pid for _, pid in forked.shared_out([partial(answer, 7), partial(answer, 8)])} == {os.getpid()}


def test_the_error_of_a_job_is_raised_here() -> None:
    def fails() -> tuple[int, int]:
        raise InputError("no such thing")

    works = partial(answer, 1)
    jobs: list[list[Callable[[], tuple[int, int]]]] = [[works, fails], [fails, works]]
    for pair in jobs:
        with pytest.raises(InputError, match="no such thing"):
            forked.shared_out(pair)


def test_what_a_process_that_died_owed_is_done_here() -> None:
    here = os.getpid()

    def dies() -> str:
        if os.getpid() != here:
            os._exit(9)
        return "done"

    assert forked.shared_out([lambda: "first", dies]) == ["first", "done"]


def test_what_cannot_be_pickled_is_done_here() -> None:
    def job() -> list[Callable[[], int]]:
        return [lambda: 3]  # no lambda can be pickled

    assert [made[0]() for made in forked.shared_out([job, job])] == [3, 3]
