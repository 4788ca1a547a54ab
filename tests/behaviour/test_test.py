"""`engine test`: the tests inside packs."""

from __future__ import annotations

from pathlib import Path

from tests.behaviour.packs import GOOD, alone, with_rule, write
from tests.behaviour.running import run


def test_the_shipped_packs_pass_their_tests() -> None:
    result = run("test")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(" 0 failed")


def test_only_the_packs_that_are_named_are_tested(tmp_path: Path) -> None:
    result = run("test", write(tmp_path, GOOD))
    assert result.exit_code == 0, result.output
    assert result.stdout == "Manufacturer acme: 2 tests passed\n1 pack, 2 passed, 0 failed\n"


def test_a_failed_test_is_5_and_shows_what_differed(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace("expect: {product: Acme One}", "expect: {product: Acme Two}"))
    result = run("test", path)
    assert result.exit_code == 5
    assert f"{path}:17:" in result.stdout
    assert 'product: expected "Acme Two", got "Acme One"' in result.stdout
    assert "Manufacturer acme: 1 test passed, 1 FAILED" in result.stdout


def test_a_test_of_an_unknown_rule_is_told_with_the_nearest(tmp_path: Path) -> None:
    result = run("test", write(tmp_path, GOOD.replace("silent: [model-by-name]", "silent: [model-by-nam]")))
    assert result.exit_code == 5
    assert "RP701" in result.stdout
    assert "did you mean `model-by-name`?" in result.stdout


def test_coverage_fails_on_a_rule_that_was_never_silent(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD[: GOOD.index("    - name: a card without")])
    assert run("test", path).exit_code == 0
    result = run("test", path, "--coverage")
    assert result.exit_code == 5
    assert "RP704" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("coverage gap") or "coverage gaps" in result.stdout


def test_packs_without_tests_are_nothing_to_test(tmp_path: Path) -> None:
    result = run("test", write(tmp_path, with_rule("id: a\nemit: {product: x}")))
    assert result.exit_code == 4
    assert "no pack there has tests" in result.stderr


def test_a_change_that_no_test_notices_fails_when_asked(tmp_path: Path) -> None:
    assert run("test", "rules/derive/topology", "--mutate").exit_code == 0
    weak = GOOD.replace("emit: {product:", "emit: {family: big, product:")
    weak = weak.replace("expect: {product: Acme One}", "partial: true\n      expect: {product: Acme One}")
    path = write(tmp_path, weak)
    assert run("test", path, "--rules", alone(tmp_path)).exit_code == 0
    result = run("test", path, "--rules", alone(tmp_path), "--mutate")
    assert result.exit_code == 5
    assert "RP710" in result.stdout
    assert "SURVIVED" in result.stdout
