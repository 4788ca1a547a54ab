"""A fixed number of broken expressions and packs, the same in every run; `make fuzz` tries more."""

from __future__ import annotations

import pytest

from .fuzzing import faults_of, fuzz_expressions, fuzz_packs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_broken_expression_is_a_finding_and_never_a_traceback_or_a_hang(seed: int) -> None:
    tally = fuzz_expressions(900, seed)
    assert list(faults_of(tally)) == []
    # Were all refused by the parser, nothing behind it would have been tried.
    assert 5 < tally.accepted < tally.tried == 900


@pytest.mark.parametrize("seed", [4, 5, 6])
def test_a_broken_pack_is_a_finding_and_never_a_traceback_or_a_hang(seed: int) -> None:
    tally = fuzz_packs(100, seed)
    assert list(faults_of(tally)) == []
    assert 0 < tally.accepted < tally.tried == 100
