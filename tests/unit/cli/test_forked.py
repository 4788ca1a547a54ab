"""Work shared out over processes: the results are those of doing it here, in the same order, errors too."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from engine.cli import forked
from engine.errors import InputError


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "cores", lambda: 2)


AS_IS: forked.Told[Any] = forked.Told(lambda result: result, lambda told: told)


def answer(number: int) -> list[int]:
    return [number, os.getpid()]


def test_results_come_in_the_order_of_the_jobs_and_from_other_processes() -> None:
    found = forked.shared_out([partial(answer, number) for number in range(4)], AS_IS)
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert [pid == os.getpid() for _, pid in found] == [True, False, False, False]


def test_one_job_or_one_core_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert forked.shared_out([partial(answer, 7)], AS_IS) == [[7, os.getpid()]]
    monkeypatch.setattr(forked, "cores", lambda: 1)
    assert {pid for _, pid in forked.shared_out([partial(answer, 7), partial(answer, 8)], AS_IS)} == {os.getpid()}


def test_the_error_of_a_job_is_raised_here() -> None:
    def fails() -> list[int]:
        raise InputError("no such thing")

    works = partial(answer, 1)
    jobs: list[list[Callable[[], list[int]]]] = [[works, fails], [fails, works]]
    for pair in jobs:
        with pytest.raises(InputError, match="no such thing"):
            forked.shared_out(pair, AS_IS)


def test_what_a_process_that_died_owed_is_done_here() -> None:
    here = os.getpid()

    def dies() -> str:
        if os.getpid() != here:
            os._exit(9)
        return "done"

    assert forked.shared_out([lambda: "first", dies], AS_IS) == ["first", "done"]


def test_what_does_not_travel_is_done_here() -> None:
    def job() -> list[int]:
        return [os.getpid()]

    silent: forked.Told[list[int]] = forked.Told(lambda _result: None, lambda told: told)
    assert forked.shared_out([job, job], silent) == [[os.getpid()]] * 2
    unsayable: forked.Told[set[int]] = forked.Told(lambda result: result, lambda told: told)
    assert forked.shared_out([lambda: {1}, lambda: {2}], unsayable) == [{1}, {2}], "JSON knows no sets"
